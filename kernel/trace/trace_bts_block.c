// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: option bts-block, by which nothing is lost to a slow reader
 *
 * A task that is traced branches faster than its trace is read. When its records find
 * no room in the ring buffer, they are held in a backlog beside it, see
 * trace_bts_hold.c, and the task waits at its next return to user mode, where it holds
 * no lock:
 *
 *	bts_place() ---- room --> ring buffer --------> trace_pipe: TRACE_READER_READ
 *	     \                         ^                         |
 *	      no room --> backlog -----+-------------------------+
 *	                  task waits <---- backlog empty: wake up
 *
 * The rule is that of an instance, not of a task: a task that has to wait does not
 * return to user mode as long as any CPU holds anything of the instance. So nothing is
 * kept per task. What the task does in the kernel meanwhile, or another task until its
 * next interrupt, waits in the backlog of that CPU.
 *
 * Only tasks of set_ftrace_pid wait. If the set is empty, none does: the reader may
 * need any task of the system to make room. Nor does the reader itself. Kernel threads
 * do not return to user mode; the kernel's own branches are held as far as the backlog
 * goes, and dropped and counted beyond. Signals come first: a task that waits can be
 * killed, stopped, traced and frozen.
 *
 * Concurrency:
 *
 *	- TIF_NOTIFY_RESUME has a task look whether it must wait: the task that runs
 *	  gets it from what adds to the backlog, the one that comes from
 *	  bts_turn(). An NMI may hit the way to user mode when the flag has been
 *	  looked at already, so that it raises an interrupt, which passes there again.
 *	  It does so if the flag was not set: that interrupt may be long enough,
 *	  with a kernel's checkers, to bring the next NMI, and so on for ever.
 *	- Tasks that wait are woken by the last entry that leaves a backlog, and look
 *	  for themselves. They also look from time to time, and have the CPUs look:
 *	  turning the ring buffer off by a trigger, resizing or unpausing it wakes no
 *	  task; and a CPU that saw an old turn of another's may have nothing to
 *	  record any more.
 *	- Readers come and go under trace_types_lock.
 */

#include <linux/freezer.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "trace_bts.h"

/* How long it may go unnoticed that there is room, or need be none. */
#define BTS_LOOK_AGAIN	(HZ / 10)

DEFINE_STATIC_KEY_FALSE(bts_block_key);

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

/* Does the current task make room? Then it must not wait for it. */
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

/* @pid is that of the reader, or NULL. It is only compared. */
static void bts_set_reader(struct bts_readers *readers, struct pid *pid)
{
	put_pid(xchg(&readers->pid, get_pid(pid)));
}

/**
 * bts_reader - a consuming reader reads the ring buffer, or begins to, or ends
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

/**
 * bts_look_again - the targets or the options have changed: tasks may be free to go
 *
 * Context: any but NMI.
 */
void bts_look_again(void)
{
	wake_up_all(&bts_room);
}
