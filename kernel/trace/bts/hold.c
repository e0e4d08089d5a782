// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: hold entries in a backlog until there is room (bts-block)
 *
 * If the ring buffer of a CPU has no room, an instance with bts-block holds the entries of that
 * CPU, including losses, in a backlog. When there is room, held entries are moved into the ring
 * buffer, oldest first, before any new entry. Each batch has a sequence number in the instance,
 * called its turn. Later batches have higher turns. The backlog is a kfifo. For each entry, it
 * contains first the turn of the entry's batch and then the entry. But for the first entry, this
 * turn is not in the kfifo but in bts_hold.oldest.
 *
 * While a CPU holds entries of a batch, no other CPU writes a later batch. So when a task moves to
 * another CPU, the task's earlier branches are written before its later branches. If a CPU's
 * backlog is full but the ring buffer has room, this CPU ignores the turns and writes its oldest
 * entries, because a wrong order is better than a loss.
 *
 * Entries are held only while there is a reader (reader.c), tracing is on, and bts-block is set.
 * While entries are held, all targets that can wait must wait. A task that cannot wait continues to
 * take branches. If its entries were held, the other targets might wait forever. So its entries are
 * not held. An entry that finds no room and must not be held is dropped and counted. The file
 * block.c makes tasks wait, and explains why the branches of a waiting task may be dropped.
 *
 * Concurrency:
 *
 *	- A backlog is changed only by its CPU, between ds_bts_off() and ds_bts_on(). Other CPUs
 *	  read only bts_hold.oldest. CPU A keeps an entry in its backlog while CPU B holds an older
 *	  entry. If B writes the older entry just after A has read B's bts_hold.oldest, A keeps its
 *	  entry until the next drain of A. Each call of ds_bts_flush_all() drains every CPU that
 *	  holds entries, so repeated calls empty all backlogs if there is room.
 *	- When the last entry leaves the backlogs, the waiting tasks are woken.
 */

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/wait_bit.h>

#include "bts.h"

/* The size of a backlog, which must be a power of two. An empty backlog has room for any batch. */
#define BTS_BACKLOG	SZ_128K

/* The maximum total size of an entry, a sequence number, and two kfifo headers of 2 bytes each. */
#define BTS_HELD_WORST	(BTS_ENTRY_MAX + sizeof(u64) + 4)

/**
 * bts_may_hold - report whether entries of a CPU may be held
 * @b:		the instance
 * @cpu:	the CPU
 *
 * Context: any.
 */
bool bts_may_hold(struct bts_instance *b, int cpu)
{
	/* Pairs with bts_set_blocking(): if @blocking is true, the backlogs are allocated. */
	if (!smp_load_acquire(&b->blocking) || !READ_ONCE(b->tracing))
		return false;
	/* A CPU that goes offline must write or drop its entries while it is still online. */
	return cpu_active(cpu) && !bts_is_off(b->tr, cpu) && bts_is_read(b->tr, cpu);
}

/* Return the lowest turn (sequence number) of entries held on CPUs except @except. Context: any. */
static u64 bts_oldest(struct bts_instance *b, int except)
{
	u64 oldest = BTS_NONE_HELD;
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != except)
			oldest = min(oldest, READ_ONCE(per_cpu_ptr(b->cpu, cpu)->hold.oldest));
	}
	return oldest;
}

/**
 * bts_any_held - report whether an instance holds entries on any CPU
 * @b: the instance
 *
 * Context: any.
 */
bool bts_any_held(struct bts_instance *b)
{
	return READ_ONCE(b->blocking) && bts_oldest(b, -1) != BTS_NONE_HELD;
}

/* @entry has left the backlog, so update @branches, @rows and @oldest of struct bts_hold. */
static void bts_next_held(struct bts_cpu *c, const union bts_entry *entry)
{
	u64 turn;

	WRITE_ONCE(c->hold.branches, c->hold.branches - bts_branches(entry));
	WRITE_ONCE(c->hold.rows, c->hold.rows - bts_is_row(entry));
	if (!kfifo_out(&c->hold.backlog, &turn, sizeof(turn)))
		turn = BTS_NONE_HELD;
	WRITE_ONCE(c->hold.oldest, turn);
}

/* Move the first held entry to the ring buffer, if there is room. */
static bool bts_write_first_held(struct bts_cpu *c)
{
	unsigned int size = kfifo_peek_len(&c->hold.backlog);
	struct ring_buffer_event *event;
	union bts_entry *entry;

	event = ring_buffer_lock_reserve(c->write.buffer, size);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	size = kfifo_out(&c->hold.backlog, entry, size);
	bts_next_held(c, entry);
	bts_count_written(c, entry, size);
	trace_buffer_unlock_commit_nostack(c->write.buffer, event);
	return true;
}

/*
 * Drop all held entries. Held losses become pending again. Branches and rows count as lost, even
 * if tracing is off now, because tracing was on when they were recorded.
 */
static void bts_drop_held(struct bts_cpu *c)
{
	unsigned int branches = 0, rows = 0;
	union bts_entry held;

	while (bts_held(c)) {
		/* Only a pack's head fits into @held. The head contains the number of branches. */
		if (!kfifo_out(&c->hold.backlog, &held, sizeof(held)))
			return;
		if (bts_is_loss(&held))
			bts_pend(c, held.lost.cause, held.lost.count, held.ent.pid);
		rows += bts_is_row(&held);
		branches += bts_branches(&held);
		bts_next_held(c, &held);
	}
	if (branches)
		bts_lose(c, BTS_LOST_RING_BUFFER, branches, held.ent.pid);
	if (rows)
		bts_lose_rows(c, rows, held.ent.pid);
}

/* Wake the waiting tasks of an instance: see bts_wake(). Context: hard interrupt. */
void bts_wake_tasks(struct irq_work *work)
{
	struct bts_instance *b = container_of(work, struct bts_instance, wake);

	/* Pairs with the barrier in ___wait_var_event(). */
	smp_mb();
	wake_up_var(b);
}

/**
 * bts_wake - make the waiting tasks of an instance check whether they must still wait
 * @b: the instance. Call this when its backlogs are empty, and when its options or targets change
 *
 * Context: any.
 */
void bts_wake(struct bts_instance *b)
{
	irq_work_queue(&b->wake);
}

/*
 * Move held entries to the ring buffer while there is room and no other CPU holds older entries. If
 * holding is no longer allowed (!@may), ignore the other CPUs, and drop what finds no room.
 */
static void bts_release_held(struct bts_instance *b, struct bts_cpu *c, bool may)
{
	u64 until = may ? bts_oldest(b, smp_processor_id()) : BTS_NONE_HELD;

	while (c->hold.oldest < until && bts_write_first_held(c))
		;
	if (!may)
		bts_drop_held(c);
	/*
	 * Pairs with the same barrier on another CPU. If two CPUs empty their backlogs
	 * concurrently, at least one of them finds that both backlogs are empty.
	 */
	smp_mb();
	if (!bts_any_held(b))
		bts_wake(b);
}

/**
 * bts_begin_holding - write held entries, and decide whether a batch or a row may be held
 * @b:		the instance
 * @c:		the instance's data for this CPU
 * @task:	the task of the batch or the row
 * @row:	true for a row of bts-sched or bts-map, false for a batch of branches
 *
 * In an NMI, this function does not write held entries.
 *
 * Context: the same as for bts_records().
 */
void bts_begin_holding(struct bts_instance *b, struct bts_cpu *c,
		       struct task_struct *task, bool row)
{
	bool may = bts_may_hold(b, smp_processor_id());

	/* Writing a full backlog takes about a million instructions, too many for an NMI. */
	if (bts_held(c) && !in_nmi())
		bts_release_held(b, c, may);
	c->hold.may = may && bts_can_wait(task) &&
		      (row || !bts_sleeps_too_often(task));
	c->hold.refused = may && !c->hold.may;
	c->hold.wait = may && bts_any_held(b);
	if (c->hold.may)
		c->hold.turn = atomic64_inc_return(&b->turn);
}

/**
 * bts_hold - hold an entry for which the ring buffer has no room
 * @c:		an instance's data for this CPU
 * @entry:	the entry
 * @size:	the size of the entry
 *
 * Context: the same as for bts_records().
 * Return: false if entries must not be held now (@c->hold.may is false), or if the backlog is full
 * and the ring buffer has no room for the backlog's first entry.
 */
bool bts_hold(struct bts_cpu *c, union bts_entry *entry, unsigned int size)
{
	if (!c->hold.may)
		return false;
	while (kfifo_avail(&c->hold.backlog) < BTS_HELD_WORST) {
		if (!bts_write_first_held(c))
			return false;
	}
	if (bts_held(c))
		kfifo_in(&c->hold.backlog, &c->hold.turn, sizeof(c->hold.turn));
	else
		WRITE_ONCE(c->hold.oldest, c->hold.turn);
	kfifo_in(&c->hold.backlog, entry, size);
	bts_count(&c->hold.branches, bts_branches(entry));
	bts_count(&c->hold.rows, bts_is_row(entry));
	return true;
}

static int bts_hold_state;

/* Allocate a CPU's backlog. On x86-64, NMIs can access vmalloc()ed memory. */
static int bts_alloc_backlog(unsigned int cpu, struct hlist_node *node)
{
	struct bts_instance *b = hlist_entry(node, struct bts_instance, hold_node);
	void *bytes = kvmalloc_node(BTS_BACKLOG, GFP_KERNEL, cpu_to_node(cpu));

	if (!bytes)
		return -ENOMEM;
	return kfifo_init(&per_cpu_ptr(b->cpu, cpu)->hold.backlog, bytes, BTS_BACKLOG);
}

/* Free a CPU's backlog, because the CPU has gone offline or bts_free_backlogs() was called. */
static int bts_free_backlog(unsigned int cpu, struct hlist_node *node)
{
	struct bts_instance *b = hlist_entry(node, struct bts_instance, hold_node);
	struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

	kvfree(c->hold.backlog.kfifo.data);
	c->hold.backlog.kfifo.data = NULL;
	return 0;
}

/**
 * bts_register_hold - register the CPU hotplug state for bts_alloc_backlogs()
 *
 * Return: 0 or an error.
 */
int __init bts_register_hold(void)
{
	bts_hold_state = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "trace/bts:hold",
						 bts_alloc_backlog, bts_free_backlog);
	return min(bts_hold_state, 0);
}

/**
 * bts_alloc_backlogs - allocate the backlogs of an instance before bts-block takes effect
 * @b: the instance
 *
 * From this call until bts_free_backlogs(), each online CPU has a backlog.
 *
 * Context: Process context, trace_types_lock held.
 * Return: 0 or -ENOMEM.
 */
int bts_alloc_backlogs(struct bts_instance *b)
{
	if (!hlist_unhashed(&b->hold_node))
		return 0;
	return cpuhp_state_add_instance(bts_hold_state, &b->hold_node);
}

/**
 * bts_free_backlogs - free the backlogs of an instance that no longer uses them
 * @b: the instance; its CPUs must no longer hold or write entries
 *
 * Context: Process context, trace_types_lock held.
 */
void bts_free_backlogs(struct bts_instance *b)
{
	if (hlist_unhashed(&b->hold_node))
		return;
	cpuhp_state_remove_instance(bts_hold_state, &b->hold_node);
	INIT_HLIST_NODE(&b->hold_node);
}
