// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: write branches and losses into the ring buffer
 *
 * Branches are written into the ring buffer as packs, or as groups of entries. A group contains
 * as many entries as fit into a sub-buffer (bts_write_some()). If a group cannot be written,
 * its first branch becomes a single entry, which bts_place() writes or holds.
 *
 * A loss is shown in a row "LOST n branches (cause)", which needs room like any other row. A loss
 * is pending until its row is written or held. While a loss is pending, no later row is written.
 * Each entry that is not part of a group reaches the ring buffer or the backlog on this path:
 *
 *	bts_lose() -> struct bts_loss of each cause -> bts_show_losses() -\
 *	bts_deliver_entry(): a branch, or a pack --------------------------+-> bts_place()
 *	bts_deliver_row(): a row of bts-sched or bts-map ------------------+
 *	                                                                   |
 *	             ring buffer <- bts_write() -- room -------------------/
 *	             backlog     <- bts_hold() --- no room, bts-block ----/
 *
 * When there is room again, pending losses are written before the next branch or non-branch row. If
 * no branch or row follows, a later flush writes the losses. So ds_bts_flush_all() drains each CPU
 * that has pending losses, even if the CPU records nothing. With bts-block, pending losses go into
 * the backlog only when the next branch or row must be held, so losses alone never make a task
 * wait. If pending losses can be neither written nor held, the next branch or row is lost, too.
 */

#include <linux/cpuhotplug.h>
#include <linux/percpu.h>
#include <linux/ring_buffer.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "bts.h"
#include "pack.h"

/**
 * bts_begin - prepare to write a batch or a non-branch row
 * @b:		the instance
 * @c:		the instance's data for this CPU
 * @task:	the task of the batch or the row
 * @row:	true for a non-branch row, false for a batch
 *
 * Context: the same as for bts_records().
 */
void bts_begin(struct bts_instance *b, struct bts_cpu *c, struct task_struct *task,
	       bool row)
{
	/*
	 * Use one ring buffer for all entries of the batch, even if a snapshot swaps the ring
	 * buffers before the batch ends.
	 */
	bts_use_buffer(c, READ_ONCE(b->tr->array_buffer.buffer));
	bts_begin_holding(b, c, task, row);
}

/* Write an entry into the ring buffer. Return: false if the ring buffer refuses the entry. */
static bool bts_write(struct bts_cpu *c, union bts_entry *entry, unsigned int size)
{
	struct ring_buffer_event *event;

	event = ring_buffer_lock_reserve(c->write.buffer, size);
	if (!event)
		return false;
	bts_count_written(c, entry, size);
	memcpy(ring_buffer_event_data(event), entry, size);
	trace_buffer_unlock_commit_nostack(c->write.buffer, event);
	return true;
}

/*
 * Write an entry into the ring buffer or the backlog. The entry does not go into the ring buffer if
 * there is no room, if this CPU's backlog is not empty, or if other CPUs hold entries that must be
 * written first. In these three cases, the entry goes into the backlog, unless it must not be held.
 * An entry of a task that cannot wait must not be held, so it is dropped. If it were written, it
 * would take room in the ring buffer from the entries of the waiting tasks.
 */
static bool bts_place(struct bts_cpu *c, union bts_entry *entry, unsigned int size,
		      bool hold)
{
	if (c->hold.wait || bts_held(c)) {
		if (hold && bts_hold(c, entry, size))
			return true;
		if (!hold || bts_held(c) || c->hold.refused)
			return false;
	}
	return bts_write(c, entry, size) || (hold && bts_hold(c, entry, size));
}

/* Write a row for the losses of known size, and a row for the losses of unknown size. */
static bool bts_show_loss(struct bts_cpu *c, struct bts_lost_entry *row, bool hold)
{
	struct bts_loss *loss = &c->loss.cause[row->cause];
	union bts_entry *entry = (union bts_entry *)row;

	if (loss->count) {
		row->count = loss->count;
		if (!bts_place(c, entry, sizeof(*row), hold))
			return false;
		loss->count = 0;
	}
	if (loss->unknown) {
		row->count = 0;
		if (!bts_place(c, entry, sizeof(*row), hold))
			return false;
		loss->unknown = false;
	}
	return true;
}

/**
 * bts_show_losses - write the pending losses
 * @c:		an instance's data for this CPU, prepared by bts_begin()
 * @hold:	true to hold losses that find no room; only allowed right before bts_place()
 *
 * Context: the same as for bts_records().
 * Return: false if losses are still pending.
 */
bool bts_show_losses(struct bts_cpu *c, bool hold)
{
	union bts_entry row;
	unsigned int *cause = &row.lost.cause;

	if (!c->loss.pending)
		return true;
	/* Clear the padding at the end of the entry too, because user space can read it. */
	memset(&row, 0, sizeof(row));
	tracing_generic_entry_update(&row.ent, TRACE_BTS_LOST, tracing_gen_ctx());
	row.ent.pid = c->loss.pid;
	for (*cause = 0; *cause < BTS_LOST_CAUSES; (*cause)++) {
		if (!bts_show_loss(c, &row.lost, hold))
			return false;
	}
	WRITE_ONCE(c->loss.pending, false);
	return true;
}

/**
 * bts_deliver_row - deliver a non-branch row to an instance
 * @b:		the instance
 * @c:		the instance's data for this CPU
 * @task:	the task of the row
 * @row:	the entry with its type set; this function sets the other fields of the header
 * @size:	the size of the entry
 *
 * Context: the same as for bts_records().
 * Return: false if the row is lost.
 */
bool bts_deliver_row(struct bts_instance *b, struct bts_cpu *c,
		     struct task_struct *task, void *row, unsigned int size)
{
	union bts_entry *entry = row;

	bts_begin(b, c, task, true);
	tracing_generic_entry_update(&entry->ent, entry->ent.type, tracing_gen_ctx());
	entry->ent.pid = task->pid;
	if (bts_show_losses(c, true) && bts_place(c, entry, size, true))
		return true;
	if (!bts_is_off(b->tr, smp_processor_id()))
		bts_lose_rows(c, 1, task->pid);
	return false;
}

/*
 * Write an entry of branches. If the pending losses cannot be written first, the branches
 * are lost, because branches must not come before earlier losses.
 */
static void bts_deliver_entry(struct bts_instance *b, struct bts_cpu *c,
			      union bts_entry *entry, unsigned int size)
{
	if (!bts_show_losses(c, true) || !bts_place(c, entry, size, true))
		bts_drop(b, c, bts_branches(entry), entry->ent.pid);
}

/*
 * Write as many branches as fit into a sub-buffer. If losses or held entries must be written first,
 * write nothing. Return: the number of written branches.
 */
static unsigned int bts_write_some(struct bts_cpu *c, const struct ds_bts_record *rec,
				   unsigned int nr)
{
	const unsigned int stride = ring_buffer_event_stride(sizeof(struct bts_branch_entry));
	const struct trace_entry ent = c->write.ent;
	struct ring_buffer_event *event;
	struct bts_branch_entry *entry;
	unsigned int i;

	if (c->loss.pending || c->hold.wait || bts_held(c))
		return 0;
	event = ring_buffer_lock_reserve_events(c->write.buffer, sizeof(*entry), &nr);
	if (!event)
		return 0;
	entry = ring_buffer_event_data(event);
	for (i = 0; i < nr; i++) {
		entry->ent = ent;
		entry->from = rec[i].from;
		entry->to = rec[i].to;
		entry = (void *)entry + stride;
	}
	ring_buffer_count(c->write.buffer, nr);
	trace_buffer_unlock_commit_nostack(c->write.buffer, event);
	bts_count(&c->counts.delivered, nr);
	return nr;
}

static void bts_deliver_each(struct bts_instance *b, struct bts_cpu *c,
			     const struct ds_bts_record *rec, unsigned int nr)
{
	const struct ds_bts_record *end = rec + nr;
	union bts_entry entry = { .ent = c->write.ent };

	while (rec != end) {
		unsigned int some = bts_write_some(c, rec, end - rec);

		rec += some;
		if (some)
			continue;
		entry.branch.from = rec->from;
		entry.branch.to = rec->to;
		bts_deliver_entry(b, c, &entry, sizeof(entry.branch));
		rec++;
	}
}

/**
 * struct bts_packer - packs a CPU's branches
 * @coder:	the coder
 * @open:	a pack has been begun but not yet written
 * @entry:	the pack
 * @room:	memory for the pack and its encoded branches
 */
struct bts_packer {
	struct bts_coder	coder;
	bool			open;
	union {
		union bts_entry	entry;
		u8		room[BTS_ENTRY_MAX];
	};
};

static int bts_pack_state;

/* Allocate the packer of a CPU. NMIs also use the packer, and can access vmalloc()ed memory. */
static int bts_alloc_packer(unsigned int cpu, struct hlist_node *node)
{
	struct bts_instance *b = hlist_entry(node, struct bts_instance, pack_node);
	struct bts_packer *p = kvzalloc_node(sizeof(*p), GFP_KERNEL, cpu_to_node(cpu));

	per_cpu_ptr(b->cpu, cpu)->write.packer = p;
	return p ? 0 : -ENOMEM;
}

/* Free a CPU's packer, because the CPU has gone offline or bts_free_packers() was called. */
static int bts_free_packer(unsigned int cpu, struct hlist_node *node)
{
	struct bts_instance *b = hlist_entry(node, struct bts_instance, pack_node);
	struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

	kvfree(c->write.packer);
	c->write.packer = NULL;
	return 0;
}

/**
 * bts_register_packs - register the CPU hotplug state for bts_alloc_packers()
 *
 * Return: 0 or an error.
 */
int __init bts_register_packs(void)
{
	bts_pack_state = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "trace/bts:pack",
						 bts_alloc_packer, bts_free_packer);
	return min(bts_pack_state, 0);
}

/**
 * bts_alloc_packers - allocate the packers of an instance before bts-pack takes effect
 * @b: the instance
 *
 * From this call until bts_free_packers(), each online CPU has a packer.
 *
 * Context: process context, trace_types_lock held.
 * Return: 0 or -ENOMEM.
 */
int bts_alloc_packers(struct bts_instance *b)
{
	if (!hlist_unhashed(&b->pack_node))
		return 0;
	return cpuhp_state_add_instance(bts_pack_state, &b->pack_node);
}

/**
 * bts_free_packers - free the packers of an instance that no longer uses them
 * @b: the instance; its CPUs must no longer write packs
 *
 * Context: process context, trace_types_lock held.
 */
void bts_free_packers(struct bts_instance *b)
{
	if (hlist_unhashed(&b->pack_node))
		return;
	cpuhp_state_remove_instance(bts_pack_state, &b->pack_node);
	INIT_HLIST_NODE(&b->pack_node);
}

static void bts_begin_pack(struct bts_cpu *c, struct bts_packer *p)
{
	p->open = true;
	p->entry.ent = c->write.ent;
	p->entry.ent.type = TRACE_BTS_PACK;
	p->entry.pack.format = BTS_PACK_FORMAT;
	bts_coder_begin(&p->coder, p->entry.pack.code, sizeof(p->room) - BTS_PACK_HEAD);
}

/**
 * bts_end_pack - write the unfinished pack, if any
 * @b:	the instance
 * @c:	the instance's data for this CPU
 *
 * Context: the same as for bts_records().
 */
void bts_end_pack(struct bts_instance *b, struct bts_cpu *c)
{
	struct bts_packer *p = c->write.packer;
	unsigned int size;

	if (!p || !p->open)
		return;
	p->open = false;
	size = BTS_PACK_HEAD + bts_coder_end(&p->coder);
	p->entry.pack.from = p->coder.from;
	p->entry.pack.to = p->coder.to;
	p->entry.pack.nr = p->coder.nr;
	bts_deliver_entry(b, c, &p->entry, size);
}

static void bts_pack(struct bts_instance *b, struct bts_cpu *c,
		     const struct ds_bts_record *rec, unsigned int nr)
{
	struct bts_packer *p = c->write.packer;
	const struct ds_bts_record *end = rec + nr;

	for (;;) {
		if (!p->open)
			bts_begin_pack(c, p);
		rec += bts_coder_add_all(&p->coder, rec, end - rec);
		if (rec == end)
			return;
		bts_end_pack(b, c);
	}
}

/**
 * bts_deliver - deliver branches to an instance
 * @b:		the instance
 * @c:		the instance's data for this CPU, prepared by bts_begin()
 * @rec:	the branches; @c->write.ent already contains the PID and context for their entries
 * @nr:		the number of branches
 *
 * With bts-pack, the last branches stay in the packer until bts_end_pack() writes the pack.
 *
 * Context: the same as for bts_records().
 */
void bts_deliver(struct bts_instance *b, struct bts_cpu *c,
		 const struct ds_bts_record *rec, unsigned int nr)
{
	if (c->hold.wait && c->hold.refused)
		bts_drop(b, c, nr, c->write.ent.pid);
	else if (c->mode & BTS_OPT_PACK)
		bts_pack(b, c, rec, nr);
	else
		bts_deliver_each(b, c, rec, nr);
}
