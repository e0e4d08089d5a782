// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: option bts-block, by which nothing is lost to a slow reader
 *
 * A task that is traced branches faster than anybody reads. When its records
 * find no room in the ring buffer, they are held in a backlog beside it, and the
 * task waits at its next return to user mode, where it holds no lock:
 *
 *	bts_place() ---- room --> ring buffer --------> trace_pipe: TRACE_READER_READ
 *	     \                         ^                         |
 *	      no room --> backlog -----+-------------------------+
 *	                  task waits <---- backlog empty: wake up
 *
 * The rule is that of an instance, not of a task: who is to be held does not
 * return to user mode as long as any CPU holds anything of the instance. So
 * nothing is kept per task, and one that is moved to another CPU does not go on
 * there in front of its own branches. What it does in the kernel meanwhile, or
 * another task until its next interrupt, waits in the backlog of that CPU until it
 * is its turn: each batch of records has a number, and no CPU goes on as long as
 * another one holds what has a lower one. So all that has been held goes into the
 * ring buffer of its own CPU, with its own PID, in order. If a backlog is full, and
 * there is room in the ring buffer, then it does so at once: better out of order
 * than lost. Losses that have to be shown among the branches are held with them.
 *
 * Held are the tasks of set_ftrace_pid, and only while somebody has trace_pipe or
 * trace_pipe_raw open for the CPU. If the set is empty, nobody is: the reader
 * may need any task of the system to make room. Kernel threads do not return to
 * user mode; the kernel's own branches are held as far as the backlog goes, and
 * dropped and counted beyond. Signals come first: a task that waits can be killed,
 * stopped, traced and frozen.
 *
 * Concurrency:
 *
 *	- A CPU's backlog is written and emptied by bts_records() alone, which
 *	  never nests; other CPUs read its oldest turn. That may be an old
 *	  one, and then they go on at the next occasion. Who wants it emptied
 *	  calls ds_bts_flush_all(), which reaches each CPU for which
 *	  bts_pending() says so.
 *	- A task is told to wait by TIF_NOTIFY_RESUME: the one that runs, by who
 *	  adds to the backlog, and the one that comes, by bts_mode(). An NMI may hit
 *	  the way to user mode when the flag has been looked at already, so that it
 *	  raises an interrupt, which passes there again. It does so if it is the one
 *	  who sets the flag: that interrupt may be long enough, with a kernel's
 *	  checkers, to bring the next NMI, and so on for ever.
 *	- The last record that leaves a backlog wakes all who wait; they look for
 *	  themselves. They also look from time to time, and have the CPUs look, for
 *	  a trigger that switches the ring buffer off tells nobody, nor does one who
 *	  makes it larger, or had paused it; and a CPU that saw an old turn of
 *	  another's may have nothing to record any more.
 *	- Readers come and go under trace_types_lock.
 */

#include <linux/freezer.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "trace_bts.h"

/* Bytes, a power of two: one batch always fits, as branches or in packs. */
#define BTS_BACKLOG	SZ_128K

/* An entry and its turn take no more of it. */
#define BTS_HELD_WORST	(PAGE_SIZE + 64)

/* How long it may go unnoticed that there is room, or need be none. */
#define BTS_LOOK_AGAIN	(HZ / 10)

DEFINE_STATIC_KEY_FALSE(bts_block_key);

static DECLARE_WAIT_QUEUE_HEAD(bts_room);

/* May records of @cpu wait for room? */
static bool bts_may_hold(struct bts_instance *b, int cpu)
{
	struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

	if (!(READ_ONCE(b->flags->val) & BTS_OPT_BLOCK) || !READ_ONCE(b->tracing))
		return false;
	if (!READ_ONCE(b->readers.nr) && !READ_ONCE(c->readers.nr))
		return false;
	return !bts_is_off(b->tr, cpu);
}

/* Context: any; of the CPUs but @except, those that are offline wait for themselves. */
static u64 bts_oldest(struct bts_instance *b, int except)
{
	u64 oldest = BTS_NONE_HELD;
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != except)
			oldest = min(oldest, READ_ONCE(per_cpu_ptr(b->cpu, cpu)->oldest));
	}
	return oldest;
}

/**
 * bts_any_held - does an instance hold branches on any CPU?
 * @b: the instance
 *
 * Context: any.
 */
bool bts_any_held(struct bts_instance *b)
{
	return READ_ONCE(b->blocking) && bts_oldest(b, -1) != BTS_NONE_HELD;
}

/**
 * bts_take_turn - give a batch its turn, and see whether it must wait for another CPU's
 * @b:	the instance
 * @c:	its part of this CPU
 *
 * Context: as bts_records().
 */
void bts_take_turn(struct bts_instance *b, struct bts_cpu *c)
{
	c->wait = false;
	if (!READ_ONCE(b->blocking))
		return;
	c->turn = atomic64_inc_return(&b->turn);
	c->wait = bts_may_hold(b, smp_processor_id()) && bts_any_held(b);
}

/* What comes next in the backlog may be a turn, not an entry: it is that of those after. */
static void bts_next_turn(struct bts_cpu *c)
{
	u64 turn;

	if (bts_held(c) && kfifo_peek_len(&c->backlog) == sizeof(turn) &&
	    kfifo_out(&c->backlog, &turn, sizeof(turn)))
		WRITE_ONCE(c->oldest, turn);
}

/* An entry has left the backlog. */
static void bts_next_held(struct bts_cpu *c, const union bts_entry *entry)
{
	WRITE_ONCE(c->held, c->held - bts_branches(entry));
	WRITE_ONCE(c->backlog_nr, c->backlog_nr - 1);
	if (!bts_held(c))
		WRITE_ONCE(c->oldest, BTS_NONE_HELD);
	bts_next_turn(c);
}

/* The first entry that is held goes to the ring buffer, if there is room. */
static bool bts_write_first_held(struct bts_cpu *c)
{
	unsigned int size = kfifo_peek_len(&c->backlog);
	struct ring_buffer_event *event;
	union bts_entry *entry;

	event = ring_buffer_lock_reserve(c->buffer, size);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	size = kfifo_out(&c->backlog, entry, size);
	bts_next_held(c, entry);
	bts_count_written(c, entry, size);
	trace_buffer_unlock_commit_nostack(c->buffer, event);
	return true;
}

/* What is held and has its turn before @until, as far as there is room. */
static void bts_write_held(struct bts_cpu *c, u64 until)
{
	while (bts_held(c) && c->oldest < until && bts_write_first_held(c))
		;
}

static void bts_wake_all(struct irq_work *work)
{
	wake_up_all(&bts_room);
}

static DEFINE_PER_CPU(struct irq_work, bts_wake_work) =
	IRQ_WORK_INIT_HARD(bts_wake_all);

/* There is no room for what is held: branches are lost, and losses still are pending. */
static void bts_drop_held(struct bts_instance *b, struct bts_cpu *c)
{
	union bts_entry held;
	unsigned int n = 0;
	pid_t pid = 0;

	while (bts_held(c)) {
		/* Of a pack, what comes before its code. */
		if (!kfifo_out(&c->backlog, &held, sizeof(held)))
			return;
		if (bts_is_loss(&held))
			bts_pend(c, held.lost.cause, held.lost.count, held.ent.pid);
		else
			pid = held.ent.pid;
		n += bts_branches(&held);
		c->seq -= bts_span(&held);
		bts_next_held(c, &held);
	}
	if (n)
		bts_drop(b, c, n, pid);
}

/* Nothing is to be held any more: no turn is waited for, and the rest is dropped. */
static void bts_end_holding(struct bts_instance *b, struct bts_cpu *c)
{
	bts_write_held(c, BTS_NONE_HELD);
	bts_drop_held(b, c);
	irq_work_queue(this_cpu_ptr(&bts_wake_work));
}

/* The turn of what is held next, if it is not that of what is held already. */
static void bts_hold_turn(struct bts_cpu *c)
{
	if (!bts_held(c))
		WRITE_ONCE(c->oldest, c->turn);
	else if (c->newest != c->turn)
		kfifo_in(&c->backlog, &c->turn, sizeof(c->turn));
	c->newest = c->turn;
}

/**
 * bts_hold - keep an entry for which the ring buffer has no room
 * @b:	the instance
 * @c:	its part of this CPU
 * @entry: the entry
 * @size: of it
 *
 * Context: as bts_records().
 * Return: false if it cannot be kept. Then the ring buffer has just refused what is
 *	   held, or nothing is held any more.
 */
bool bts_hold(struct bts_instance *b, struct bts_cpu *c,
	      union bts_entry *entry, unsigned int size)
{
	if (!kfifo_initialized(&c->backlog))
		return false;
	if (!bts_may_hold(b, smp_processor_id())) {
		if (bts_held(c))
			bts_end_holding(b, c);
		return false;
	}
	if (kfifo_avail(&c->backlog) < BTS_HELD_WORST)
		bts_write_held(c, BTS_NONE_HELD);
	if (kfifo_avail(&c->backlog) < BTS_HELD_WORST)
		return false;
	bts_hold_turn(c);
	bts_set_seq(entry, c->seq);
	kfifo_in(&c->backlog, entry, size);
	WRITE_ONCE(c->backlog_nr, c->backlog_nr + 1);
	bts_count(&c->held, bts_branches(entry));
	c->seq += bts_span(entry);
	return true;
}

/**
 * bts_release_held - move what is held to the ring buffer, as far as there is room
 * @b:	the instance
 * @c:	its part of this CPU
 *
 * If nothing is to be held any more, no turn is waited for, and what finds no room
 * is dropped.
 *
 * Context: as bts_records().
 */
void bts_release_held(struct bts_instance *b, struct bts_cpu *c)
{
	int cpu = smp_processor_id();

	if (!bts_held(c))
		return;
	if (!bts_may_hold(b, cpu)) {
		bts_end_holding(b, c);
		return;
	}
	bts_write_held(c, bts_oldest(b, cpu));
	if (!bts_held(c))
		irq_work_queue(this_cpu_ptr(&bts_wake_work));
}

/* An interrupt's way out is all that is wanted of it. */
static void bts_pass_by(struct irq_work *work)
{
}

static DEFINE_PER_CPU(struct irq_work, bts_pass_work) =
	IRQ_WORK_INIT_HARD(bts_pass_by);

/**
 * bts_hold_task - have a task look whether it must wait, before it is in user mode
 * @task: the one that runs on this CPU, or comes next
 *
 * Context: interrupts off, up to NMI.
 */
void bts_hold_task(struct task_struct *task)
{
	if (task->flags & (PF_KTHREAD | PF_USER_WORKER))
		return;
	if (test_and_set_tsk_thread_flag(task, TIF_NOTIFY_RESUME))
		return;
	if (in_nmi())
		irq_work_queue(this_cpu_ptr(&bts_pass_work));
}

/* Who made the task wait had better be able to make room. */
static bool bts_is_reader(struct bts_instance *b)
{
	const struct pid *pid = task_pid(current);
	int cpu;

	if (READ_ONCE(b->readers.pid) == pid)
		return true;
	for_each_online_cpu(cpu) {
		if (READ_ONCE(per_cpu_ptr(b->cpu, cpu)->readers.pid) == pid)
			return true;
	}
	return false;
}

/* Is the current task one of those that wait? */
static bool bts_may_wait(struct bts_instance *b)
{
	return (READ_ONCE(this_cpu_ptr(b->cpu)->mode) & BTS_SIDES) &&
	       rcu_access_pointer(b->tr->function_pids) && !bts_is_reader(b);
}

/* Does a CPU hold anything that it need not drop the next time it looks? */
static bool bts_must_wait(struct bts_instance *b)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (bts_held(per_cpu_ptr(b->cpu, cpu)) && bts_may_hold(b, cpu))
			return true;
	}
	return false;
}

/* The instance for which the current task must wait, if it is to. */
static struct bts_instance *bts_holder(void)
{
	struct bts_instance *b;

	guard(preempt)();
	for_each_bts_instance(b) {
		if (READ_ONCE(b->blocking) && bts_must_wait(b) && bts_may_wait(b))
			return b;
	}
	return NULL;
}

/* The instance may be gone by now. */
static void bts_count_wait(struct bts_instance *holder, u64 ns)
{
	struct bts_instance *b;

	guard(preempt)();
	for_each_bts_instance(b) {
		if (b != holder)
			continue;
		bts_count(&this_cpu_ptr(b->cpu)->blocked, 1);
		bts_count(&this_cpu_ptr(b->cpu)->blocked_ns, ns);
	}
}

/* Context: process context. */
static void bts_flush_held(struct work_struct *work)
{
	guard(mutex)(&trace_types_lock);

	if (!list_empty(&bts_instances))
		ds_bts_flush_all();
}

static DECLARE_WORK(bts_flush_work, bts_flush_held);

/**
 * bts_block_task - wait for the reader, if need be
 *
 * Context: process context, on the way to user mode.
 */
void bts_block_task(void)
{
	struct bts_instance *holder = bts_holder();
	u64 start = ktime_get_ns();
	long ret;

	if (!holder)
		return;
	for (;;) {
		ret = wait_event_freezable_timeout(bts_room, !bts_holder(),
						   BTS_LOOK_AGAIN);
		if (ret)
			break;
		schedule_work(&bts_flush_work);
	}
	/* A signal first, then here again. */
	if (ret < 0)
		set_thread_flag(TIF_NOTIFY_RESUME);
	bts_count_wait(holder, ktime_get_ns() - start);
}

/* Context: preemption off; does a CPU hold anything that may find room by now? */
bool bts_pending(int cpu)
{
	struct bts_instance *b;

	for_each_bts_instance(b) {
		struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

		if (bts_held(c) || READ_ONCE(c->losses))
			return true;
	}
	return false;
}

/* @pid is who reads, or NULL. The one before is compared, never looked at. */
static void bts_set_reader(struct bts_readers *readers, struct pid *pid)
{
	put_pid(xchg(&readers->pid, get_pid(pid)));
}

/**
 * bts_reader - somebody reads the ring buffer, or begins to, or ends
 * @tr:		the trace array
 * @cpu:	whose part
 * @event:	what
 */
void bts_reader(struct trace_array *tr, int cpu, enum trace_reader_event event)
{
	struct bts_instance *b = tr->bts;
	struct bts_readers *readers = &b->readers;

	if (cpu != RING_BUFFER_ALL_CPUS)
		readers = &per_cpu_ptr(b->cpu, cpu)->readers;

	switch (event) {
	case TRACE_READER_OPEN:
		WRITE_ONCE(readers->nr, readers->nr + 1);
		/* It may be that another one goes on to read. */
		if (!READ_ONCE(readers->pid))
			bts_set_reader(readers, task_pid(current));
		break;
	case TRACE_READER_READ:
		bts_set_reader(readers, task_pid(current));
		break;
	case TRACE_READER_CLOSE:
		WRITE_ONCE(readers->nr, readers->nr - 1);
		/* Another one that has it open goes on. */
		if (!readers->nr || READ_ONCE(readers->pid) == task_pid(current))
			bts_set_reader(readers, NULL);
		break;
	}
	if (bts_any_held(b))
		ds_bts_flush_all();
}

static int bts_alloc_backlogs(struct bts_instance *b)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);
		int ret;

		if (kfifo_initialized(&c->backlog))
			continue;
		ret = kfifo_alloc(&c->backlog, BTS_BACKLOG, GFP_KERNEL);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * bts_free_backlogs - an instance has left the tracer, or is gone
 * @b: the instance, whose CPUs hold nothing and write nothing any more
 */
void bts_free_backlogs(struct bts_instance *b)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfifo_free(&per_cpu_ptr(b->cpu, cpu)->backlog);
}

/**
 * bts_set_blocking - an instance that has bts blocks from now on, or does not
 * @b:	the instance
 * @on:	which of the two
 *
 * With "overwrite" there is always room, and nothing to wait for: it is off
 * meanwhile, and afterwards what it was.
 *
 * Context: trace_types_lock held.
 * Return: 0, or -ENOMEM.
 */
int bts_set_blocking(struct bts_instance *b, bool on)
{
	int ret;

	if (b->blocking == on)
		return 0;

	if (on) {
		ret = bts_alloc_backlogs(b);
		if (ret)
			return ret;
		b->overwrite = b->tr->trace_flags & TRACE_ITER(OVERWRITE);
		ret = set_tracer_flag(b->tr, TRACE_ITER(OVERWRITE), 0);
		if (ret)
			return ret;
		static_branch_inc(&bts_block_key);
		b->blocking = true;
		return 0;
	}
	static_branch_dec(&bts_block_key);
	b->blocking = false;
	/* While blocking it cannot be set, and so it need not be cleared here. */
	return b->overwrite ? set_tracer_flag(b->tr, TRACE_ITER(OVERWRITE), 1) : 0;
}

/* Whoever waits may be free to go: the targets or the options have changed. */
void bts_look_again(void)
{
	wake_up_all(&bts_room);
}
