// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: count the written and the lost branches of a CPU
 *
 * The ring buffer refuses an entry when the buffer is full or paused, or when tracing is off. The
 * ring buffer is paused while it is cleared, resized or swapped. With the option pause-on-trace,
 * the ring buffer is also paused while the file "trace" is open. For each CPU, the ring buffer has
 * a counter of the entries for which it had no room. If an entry is refused but this counter does
 * not increase, the ring buffer is paused or tracing is off. The counter is reliable during a
 * batch: no other CPU increases it, and a reset of the ring buffer waits until the batch ends.
 *
 * After the ring buffer has refused an entry, bts_drop() finds out why. If tracing is switched on
 * or off between the refusal and this check, bts_drop() may count the branches under the wrong
 * cause. Example 1: an entry is refused because the ring buffer is paused. If tracing is then
 * switched off before bts_drop() checks whether tracing is on, the branches count as dropped_off.
 * Example 2: an entry is refused because tracing is off. If tracing is then switched on before the
 * check, the branches count as dropped_paused.
 */

#include <linux/ring_buffer.h>

#include "bts.h"

const struct bts_cause bts_causes[BTS_LOST_CAUSES] = {
	[BTS_LOST_RING_BUFFER]	= { "ring buffer full", "dropped_ring_buffer" },
	[BTS_LOST_DS_BUFFER]	= { "DS buffer full", "buffer_full" },
	[BTS_LOST_OVERWRITTEN]	= { "DS buffer wrapped", "buffer_wrapped" },
	[BTS_LOST_PAUSED]	= { "ring buffer paused", "dropped_paused" },
	[BTS_LOST_CLEARED]	= { "BTS switched off", "buffer_cleared" },
	[BTS_LOST_STOPPED]	= { "recording stops", "stopped" },
	[BTS_LOST_DEAD]		= { "BTS does not work", "dead" },
	[BTS_GONE_OVERWRITTEN]	= { "ring buffer overwritten" },
	[BTS_GONE_DAMAGED]	= { "entry cannot be read" },
	[BTS_LOST_LATE]		= { "found when switched on", "dropped_late" },
	[BTS_LOST_ROWS]		= { "ring buffer full", "rows_lost" },
	[BTS_LOST_CANNOT_WAIT]	= { "task cannot wait", "dropped_cannot_wait" },
};

/* Return the number of entries for which the ring buffer had no room on this CPU. */
static unsigned long bts_refusals(struct trace_buffer *buffer)
{
	int cpu = smp_processor_id();

	return ring_buffer_dropped_events_cpu(buffer, cpu) +
	       ring_buffer_commit_overrun_cpu(buffer, cpu);
}

/* Report whether the last entry was refused because the ring buffer had no room. */
static bool bts_was_full(struct bts_cpu *c)
{
	unsigned long before = c->loss.refusals;

	c->loss.refusals = bts_refusals(c->write.buffer);
	return c->loss.refusals > before;
}

/**
 * bts_use_buffer - choose the ring buffer for the next entries
 * @c:		an instance's data for this CPU
 * @buffer:	the ring buffer
 *
 * Context: the same as for bts_records().
 */
void bts_use_buffer(struct bts_cpu *c, struct trace_buffer *buffer)
{
	c->write.buffer = buffer;
	c->loss.refusals = bts_refusals(buffer);
}

/**
 * bts_count_written - count an entry that is being written, and set its sequence number
 * @c:		an instance's data for this CPU
 * @entry:	the entry
 * @size:	the size of the entry
 *
 * The sequence number is the number of this CPU's earlier branches, written or lost, since the
 * ring buffer was last cleared. The entry of a single branch has no sequence number.
 *
 * Context: the same as for bts_records(). Room for the entry has already been reserved.
 */
void bts_count_written(struct bts_cpu *c, union bts_entry *entry, unsigned int size)
{
	u64 seq = ring_buffer_count(c->write.buffer, bts_span(entry));

	bts_count(&c->counts.delivered, bts_branches(entry));
	bts_count(&c->counts.rows, bts_is_row(entry));
	if (entry->ent.type == TRACE_BTS_PACK) {
		entry->pack.seq = seq;
		bts_count(&c->counts.packs, 1);
		bts_count(&c->counts.pack_bytes, size);
	} else if (bts_is_loss(entry)) {
		entry->lost.seq = seq;
	}
}

/**
 * bts_pend - remember a loss until the ring buffer has room to report it
 * @c:		an instance's data for this CPU
 * @cause:	BTS_LOST_*
 * @n:		the number of branches, or 0 if the number is unknown
 * @pid:	the task of the last lost branch
 *
 * Context: the same as for bts_records().
 */
void bts_pend(struct bts_cpu *c, unsigned int cause, u64 n, pid_t pid)
{
	c->loss.cause[cause].count += n;
	c->loss.cause[cause].unknown |= !n;
	c->loss.pid = pid;
	WRITE_ONCE(c->loss.pending, true);
}

/**
 * bts_lose - count a loss, and remember it until the ring buffer has room for its row
 * @c:		an instance's data for this CPU
 * @cause:	BTS_LOST_*
 * @n:		the number of branches, or 0 if the number is unknown
 * @pid:	the task of the last lost branch
 *
 * Context: the same as for bts_records().
 */
void bts_lose(struct bts_cpu *c, unsigned int cause, u64 n, pid_t pid)
{
	bts_count(&c->loss.cause[cause].total, n ?: 1);
	bts_pend(c, cause, n, pid);
}

/**
 * bts_drop - count branches that could not be written
 * @b:		the instance
 * @c:		the instance's data for this CPU
 * @n:		the number of branches
 * @pid:	the task of the last lost branch
 *
 * Context: the same as for bts_records().
 */
void bts_drop(struct bts_instance *b, struct bts_cpu *c, unsigned int n, pid_t pid)
{
	if (c->hold.refused)
		bts_lose(c, BTS_LOST_CANNOT_WAIT, n, pid);
	else if (bts_was_full(c))
		bts_lose(c, BTS_LOST_RING_BUFFER, n, pid);
	else if (bts_is_off(b->tr, smp_processor_id()))
		bts_count(&c->counts.dropped_off, n);
	else
		bts_lose(c, bts_held(c) ? BTS_LOST_RING_BUFFER : BTS_LOST_PAUSED, n, pid);
}

/**
 * bts_lose_rows - count lost non-branch rows, and remember the loss
 * @c:		an instance's data for this CPU
 * @n:		the number of rows
 * @pid:	the task of the last lost row
 *
 * bts_count_written() adds the count of a loss entry to the CPU's number of branches. Lost rows are
 * no branches, so their loss entry contains the count 0, like a loss of unknown size.
 *
 * Context: the same as for bts_records().
 */
void bts_lose_rows(struct bts_cpu *c, unsigned int n, pid_t pid)
{
	bts_count(&c->loss.cause[BTS_LOST_ROWS].total, n);
	bts_pend(c, BTS_LOST_ROWS, 0, pid);
}
