// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: make tasks wait for a slow reader, so that nothing is lost (bts-block)
 *
 * A traced task may take branches faster than its trace is read. If the ring buffer has no room
 * for the task's records, these records are held in a backlog (hold.c). The task then waits at
 * its next return to user mode, where it holds no lock:
 *
 *	bts_place() ---- room --> ring buffer --------> trace_pipe: TRACE_READER_READ
 *	     \                         ^                         |
 *	      no room --> backlog -----+-------------------------+
 *	                  task waits <---- backlog empty: wake up
 *
 * While any CPU holds entries for an instance, every target (traced task) that can wait must wait
 * before it returns to user mode, no matter whose branches are held. So the tracer need not
 * remember which task must wait. Before a task waits, it may take further branches in the kernel,
 * and other targets may take further branches in user mode until their next interrupt. Each CPU has
 * a backlog for the further branches that are taken on this CPU.
 *
 * A task waits only if its PID is in set_ftrace_pid. If this file is empty, all tasks are traced,
 * but no task waits: if the reader depended on a waiting task, both would wait forever. Branches of
 * a task that cannot wait are never held: see bts_can_wait(). A task waits only when it returns to
 * user mode. Until then, its branches in the kernel are held while the backlog has room, and
 * dropped and counted when it is full. A waiting task can be killed, stopped, ptraced and frozen.
 *
 * Concurrency:
 *
 *	- The flag TIF_NOTIFY_RESUME makes a task check whether it must wait. A drain that leaves
 *	  entries in the backlog sets the flag for the current task, and bts_turn() sets the flag
 *	  for the next task if entries are held. On the way to user mode, a task may have read the
 *	  flag just before an NMI sets it. So an NMI that sets the flag also raises an interrupt,
 *	  and the task reads the flag again when this interrupt returns. If the flag was already
 *	  set, the NMI raises no interrupt. Otherwise, NMIs and interrupts might alternate forever
 *	  in a debug kernel, because one interrupt may take enough branches to cause the next NMI.
 *	- When the last entry leaves an instance's backlogs, the tasks that wait for the instance
 *	  are woken: see bts_wake(). While entries are held, a worker drains the CPUs repeatedly,
 *	  for two reasons. First, a wait must end when the ring buffer is resized, unpaused, or
 *	  switched off by a trigger, but these actions wake no task. Second, CPU A may hold entries
 *	  that must follow the entries of CPU B. When B has written its entries, A must be drained.
 *	  If the targets on A are waiting, they take no branches, so only the worker drains A.
 */

#include <linux/freezer.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "bts.h"

/* The period of the worker that drains while tasks or readers wait: see bts_poll(). */
#define BTS_POLL_AGAIN	(HZ / 10)

/* After this many sleeps in one wait, hold no more branches of the task: see bts_sleep(). */
#define BTS_SLEEPS	16

DEFINE_STATIC_KEY_FALSE(bts_block_key);

/* The interrupt does nothing, but the return from it to user mode checks TIF_NOTIFY_RESUME. */
static void bts_pass_by(struct irq_work *work)
{
}

static DEFINE_PER_CPU(struct irq_work, bts_pass_work) =
	IRQ_WORK_INIT_HARD(bts_pass_by);

/**
 * bts_check_task - make a task check, on its way to user mode, whether it must wait
 * @task: the current task or, at a task switch, the next task
 *
 * Context: interrupts off; may be an NMI.
 */
void bts_check_task(struct task_struct *task)
{
	if (task->flags & (PF_KTHREAD | PF_USER_WORKER))
		return;
	if (test_and_set_tsk_thread_flag(task, TIF_NOTIFY_RESUME))
		return;
	if (in_nmi())
		irq_work_queue(this_cpu_ptr(&bts_pass_work));
}

/* Report whether the current task is traced, is in set_ftrace_pid, and can wait. */
static bool bts_may_wait(struct bts_instance *b)
{
	return (READ_ONCE(this_cpu_ptr(b->cpu)->mode) & BTS_SIDES) &&
	       rcu_access_pointer(b->tr->function_pids) && bts_can_wait(current);
}

/* Report whether tasks must wait, because a CPU holds entries and may still hold them. */
static bool bts_must_wait(struct bts_instance *b)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (bts_held(per_cpu_ptr(b->cpu, cpu)) && bts_may_hold(b, cpu))
			return true;
	}
	return false;
}

/* Return the instance for which the current task must wait, or NULL. */
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

/* Count a wait, unless the instance has switched to another tracer during the wait. */
static void bts_count_wait(struct bts_instance *holder, u64 ns)
{
	struct bts_instance *b;

	guard(preempt)();
	for_each_bts_instance(b) {
		if (b != holder)
			continue;
		bts_count(&this_cpu_ptr(b->cpu)->counts.blocked, 1);
		bts_count(&this_cpu_ptr(b->cpu)->counts.blocked_ns, ns);
	}
}

static void bts_poll_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(bts_poll_work, bts_poll_again);

/* Context: process context. */
static void bts_poll_again(struct work_struct *work)
{
	struct bts_instance *b;
	bool any = false;

	guard(mutex)(&trace_types_lock);

	for_each_bts_instance(b) {
		if (!bts_is_read(b->tr, RING_BUFFER_ALL_CPUS))
			WRITE_ONCE(b->polled, false);
		any |= READ_ONCE(b->polled) || bts_any_held(b);
	}
	if (!any)
		return;
	ds_bts_flush_all();
	bts_poll();
}

/**
 * bts_poll - drain the CPUs repeatedly while entries are held or a reader may wait for data
 *
 * Context: any except NMI.
 */
void bts_poll(void)
{
	schedule_delayed_work(&bts_poll_work, BTS_POLL_AGAIN);
}

/*
 * Sleep until the backlogs are empty. The entries from the backlogs may then almost fill the ring
 * buffer, so there may be no room for the branches that the task takes while it wakes up. If these
 * branches reach the threshold, a drain puts them into the backlog before the task checks the
 * backlogs, so the task sleeps again. If this happened at each wake-up, the task would wait for its
 * own branches forever. Therefore, after BTS_SLEEPS sleeps in one wait, the tracer drops the task's
 * branches that find no room. The tracer still holds the task's non-branch rows: each sleep adds
 * only two rows (bts_departs and bts_arrives), and two rows cannot fill a backlog.
 */
static void bts_sleep(unsigned int *sleeps)
{
	bts_poll();
	if (++*sleeps > BTS_SLEEPS)
		trace_recursion_set(TRACE_BTS_WAIT_BIT);
	schedule();
}

/**
 * bts_block_task - make the current task wait for the reader, if necessary
 * @state: TASK_INTERRUPTIBLE or TASK_KILLABLE
 *
 * Context: process context, on the way to user mode.
 */
void bts_block_task(unsigned int state)
{
	unsigned int sleeps = 0;
	struct bts_instance *b;
	u64 start;
	long ret;

	while ((b = bts_holder())) {
		start = ktime_get_ns();
		ret = ___wait_var_event(b, bts_holder() != b,
					(state | TASK_FREEZABLE), 0, 0,
					bts_sleep(&sleeps));
		bts_count_wait(b, ktime_get_ns() - start);
		if (ret) {
			/* A signal is pending. After handling it, the task comes here again. */
			set_thread_flag(TIF_NOTIFY_RESUME);
			break;
		}
	}
	/* While this bit is set, no branches of the task are held. So drain before clearing it. */
	if (trace_recursion_test(TRACE_BTS_WAIT_BIT)) {
		ds_bts_flush_cpu();
		trace_recursion_clear(TRACE_BTS_WAIT_BIT);
	}
}

/**
 * bts_reader - note what a reader does, and write held entries if there is room
 * @iter:	the file's iterator
 * @event:	what the current task does
 */
void bts_reader(struct trace_iterator *iter, enum trace_reader_event event)
{
	bts_update_readers(iter, event);
	if (event != TRACE_READER_BEGIN && bts_any_held(iter->tr->bts))
		ds_bts_flush_all();
}

/**
 * bts_set_blocking - switch bts-block on or off for an instance
 * @b:	the instance, whose tracer is bts
 * @on:	make the instance's tasks wait for a reader
 *
 * With "overwrite", the ring buffer always has room, so no task would wait. Therefore, "overwrite"
 * is off while bts-block is on, and is restored afterwards.
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
		/* Pairs with bts_may_hold(): a CPU that sees @blocking also sees the backlogs. */
		smp_store_release(&b->blocking, true);
		return 0;
	}
	static_branch_dec(&bts_block_key);
	WRITE_ONCE(b->blocking, false);
	/* "overwrite" is off now, because it could not be set while @blocking was true. */
	return b->overwrite ? set_tracer_flag(b->tr, TRACE_ITER(OVERWRITE), 1) : 0;
}
