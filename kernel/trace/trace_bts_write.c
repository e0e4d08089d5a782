// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: the writer, by which branches and losses get into the ring buffer
 *
 * A loss is a row of its own, LOST n branches (cause), and needs room like any other
 * one. Until there is room it is pending, and nothing that comes later is written:
 *
 *	bts_lose() -> struct bts_loss of each cause -> bts_show_losses() -\
 *	bts_deliver(): a branch -------------------------------------------+-> bts_place()
 *	                                                                   |
 *	             ring buffer <- bts_write() -- room -------------------/
 *	             backlog     <- bts_hold() --- no room, bts-block ----/
 *
 * Pending losses are written before the next row that finds room, be it a branch or
 * a row of trace_bts_rows.c, and at the latest by a drain after the reader has made
 * room: bts_pending() has a CPU drained for them. With bts-block they are held before
 * the first branch that is held after them, but no task waits for them alone. A
 * branch that cannot be written because of them is lost itself.
 *
 * Why the ring buffer refuses a row. It counts, per CPU, the rows for which it has no
 * room. Where it has refused and not counted, it was not recording at that moment: it
 * is being cleared, resized or swapped, or a reader looks at it (pause-on-trace). The
 * count is written on this CPU alone, and reset in a grace period that waits for the
 * batch, so this holds even if the ring buffer records again when it is looked at. A
 * batch that meets both causes may have what is lost first after a change counted, and
 * shown, under the other one. Whether tracing is off is asked last. If it goes off
 * between the refusal and the question, what a pause has taken counts as dropped_off;
 * if it goes on, what was dropped because it was off is counted, and shown, as taken
 * by a pause.
 */

#include <linux/percpu.h>
#include <linux/ring_buffer.h>

#include "trace_bts.h"

const struct bts_cause bts_causes[BTS_LOST_CAUSES] = {
	[BTS_LOST_RING_BUFFER]	= { "ring buffer full", "dropped_ring_buffer" },
	[BTS_LOST_DS_BUFFER]	= { "DS buffer full", "buffer_full" },
	[BTS_LOST_OVERWRITTEN]	= { "DS buffer wrapped", "buffer_wrapped" },
	[BTS_LOST_PAUSED]	= { "ring buffer paused", "dropped_paused" },
	[BTS_LOST_CLEARED]	= { "BTS switched off", "buffer_cleared" },
	[BTS_LOST_STOPPED]	= { "recording stops", "stopped" },
	[BTS_LOST_DEAD]		= { "BTS does not work", "dead" },
};

/* How many rows the ring buffer has had no room for on this CPU. */
static unsigned long bts_refusals(struct trace_buffer *buffer)
{
	int cpu = smp_processor_id();

	return ring_buffer_dropped_events_cpu(buffer, cpu) +
	       ring_buffer_commit_overrun_cpu(buffer, cpu);
}

/* After a refusal: was it for want of room? A reset lowers the number. */
static bool bts_was_full(struct bts_cpu *c)
{
	unsigned long before = c->refusals;

	c->refusals = bts_refusals(c->buffer);
	return c->refusals > before;
}

/**
 * bts_begin - a batch, or a row that is no branch, is about to be written
 * @b:	the instance
 * @c:	its part of this CPU
 *
 * Context: as bts_records().
 */
void bts_begin(struct bts_instance *b, struct bts_cpu *c)
{
	/* A snapshot swaps it at any time: what is refused is asked of the same one. */
	c->buffer = READ_ONCE(b->tr->array_buffer.buffer);
	c->refusals = bts_refusals(c->buffer);
	bts_release_held(b, c);
	bts_take_turn(b, c);
}

static bool bts_write_lost(struct trace_buffer *buffer,
			   const struct bts_branch *loss)
{
	struct ring_buffer_event *event;
	struct bts_lost_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_BTS_LOST,
					  sizeof(*entry), loss->ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = loss->pid;
	entry->count = loss->to;
	entry->cause = loss->cause;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

static bool bts_write_branch(struct trace_buffer *buffer,
			     const struct bts_branch *branch)
{
	struct ring_buffer_event *event;
	struct bts_branch_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_BTS, sizeof(*entry),
					  branch->ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = branch->pid;
	entry->from = branch->from;
	entry->to = branch->to;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/**
 * bts_write - write a branch or a loss into the ring buffer, and count a branch
 * @c:		an instance's part of this CPU, after bts_begin()
 * @branch:	the branch or loss
 *
 * Context: as bts_records().
 * Return: false if the ring buffer does not take it.
 */
bool bts_write(struct bts_cpu *c, const struct bts_branch *branch)
{
	if (bts_is_loss(branch))
		return bts_write_lost(c->buffer, branch);
	if (!bts_write_branch(c->buffer, branch))
		return false;
	bts_count(&c->delivered, 1);
	return true;
}

/*
 * To the ring buffer; or, if it may be held, to the backlog: if there is no room, if
 * others are there already, or if those of other CPUs come first.
 */
static bool bts_place(struct bts_instance *b, struct bts_cpu *c,
		      const struct bts_branch *branch, bool hold)
{
	if (c->wait || bts_held(c)) {
		if (hold && bts_hold(b, c, branch))
			return true;
		if (!hold || bts_held(c))
			return false;
	}
	return bts_write(c, branch) || (hold && bts_hold(b, c, branch));
}

/**
 * bts_pend - a loss waits until it can be shown
 * @c:		an instance's part of this CPU
 * @cause:	BTS_LOST_*
 * @n:		how many branches, or 0 if that is not known
 * @pid:	the task that took the last of them
 *
 * Context: as bts_records().
 */
void bts_pend(struct bts_cpu *c, unsigned int cause, u64 n, pid_t pid)
{
	c->loss[cause].count += n;
	c->loss[cause].unknown |= !n;
	c->loss_pid = pid;
	WRITE_ONCE(c->losses, true);
}

/**
 * bts_lose - count a loss, which waits until it can be shown
 * @c:		an instance's part of this CPU
 * @cause:	BTS_LOST_*
 * @n:		how many branches, or 0 if that is not known
 * @pid:	the task that took the last of them
 *
 * Context: as bts_records().
 */
void bts_lose(struct bts_cpu *c, unsigned int cause, u64 n, pid_t pid)
{
	bts_count(&c->loss[cause].total, n ?: 1);
	bts_pend(c, cause, n, pid);
}

/* A cause's branches whose number is known, then the others. */
static bool bts_show_loss(struct bts_instance *b, struct bts_cpu *c,
			  struct bts_branch *row, bool hold)
{
	struct bts_loss *loss = &c->loss[row->cause];

	if (loss->count) {
		row->to = loss->count;
		if (!bts_place(b, c, row, hold))
			return false;
		loss->count = 0;
	}
	if (loss->unknown) {
		row->to = 0;
		if (!bts_place(b, c, row, hold))
			return false;
		loss->unknown = false;
	}
	return true;
}

/**
 * bts_show_losses - write what was lost, before what comes next
 * @b:		the instance
 * @c:		its part of this CPU, after bts_begin()
 * @hold:	a branch comes next: losses may be held, as it may
 *
 * Context: as bts_records().
 * Return: false if some of them still are pending.
 */
bool bts_show_losses(struct bts_instance *b, struct bts_cpu *c, bool hold)
{
	struct bts_branch row;

	if (!c->losses)
		return true;
	row = (struct bts_branch){
		.pid	= c->loss_pid,
		.ctx	= tracing_gen_ctx(),
	};
	for (row.cause = 0; row.cause < BTS_LOST_CAUSES; row.cause++) {
		if (!bts_show_loss(b, c, &row, hold))
			return false;
	}
	WRITE_ONCE(c->losses, false);
	return true;
}

/**
 * bts_drop - the ring buffer has refused a row, and branches are lost by that
 * @b:		the instance
 * @c:		its part of this CPU
 * @n:		how many branches
 * @pid:	the task that took the last of them
 *
 * Context: as bts_records().
 */
void bts_drop(struct bts_instance *b, struct bts_cpu *c, unsigned int n, pid_t pid)
{
	if (bts_was_full(c))
		bts_lose(c, BTS_LOST_RING_BUFFER, n, pid);
	else if (bts_is_off(b->tr, smp_processor_id()))
		bts_count(&c->dropped_off, n);
	else
		bts_lose(c, BTS_LOST_PAUSED, n, pid);
}

/**
 * bts_deliver - a branch goes to an instance
 * @b:		the instance
 * @c:		its part of this CPU, after bts_begin()
 * @branch:	the branch
 *
 * It must not overtake losses that came before it, so it shares their fate.
 *
 * Context: as bts_records().
 */
void bts_deliver(struct bts_instance *b, struct bts_cpu *c,
		 const struct bts_branch *branch)
{
	if (!bts_show_losses(b, c, true) || !bts_place(b, c, branch, true))
		bts_drop(b, c, 1, branch->pid);
}
