// SPDX-License-Identifier: GPL-2.0
/*
 * Events bts_departs and bts_arrives: tasks leave CPUs and get them back
 *
 * They are ordinary trace events, for each task of the system, kernel threads
 * and idle tasks included, and need neither the bts tracer nor its hardware.
 * set_event_pid, filters, triggers and histograms choose among them. With its
 * option bts-sched the tracer writes the same entries itself, for the tasks that
 * it traces, where they belong among the branches.
 *
 *	__schedule()
 *	  bts_task_departs(prev)	event: current is prev
 *	  trace_sched_switch()		tracer: branches of prev, departs, arrives
 *	  context_switch()
 *	    finish_task_switch()
 *	      bts_task_arrives()	event: current is next
 *
 * The hooks lie around sched_switch and are not probes of it, because there
 * common_pid is prev's for both, and set_event_pid lets both pass if it names
 * one. Nor could a probe be registered when an event is enabled: an event's
 * reg function is called with tracepoints_mutex held.
 *
 * How long a task was away, and from which CPU, is told by two words of
 * task_struct that are written when it departs:
 *
 *	@ftrace_timestamp	when; the function graph tracer writes the same,
 *				of the same clock at the same place
 *	@departed_cpu		where; lies in a hole of the structure
 *
 * So there is no memory per task, and nothing to look up. A table of bounded
 * size would forget some of 3,000 threads, and what the scheduler keeps of its
 * own (sched_info, exec_start) is overwritten before sched_switch. The words may
 * be old: from a time when nobody listened, or the parent's. Only those are
 * believed that were written since bts_away_since, and not those of a task that
 * never was switched out.
 *
 * Concurrency:
 *
 *	- The two words are written by the CPU that the task leaves and read by
 *	  the one that it gets, both under the runqueue's lock; the scheduler
 *	  orders them.
 *	- bts_away_since is written under bts_away_mutex, after a grace period in
 *	  which each CPU has come to know the new listener.
 */

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/trace_clock.h>

#include <asm/sections.h>

#define CREATE_TRACE_POINTS
#include <trace/events/bts.h>

#include "trace_bts.h"

DEFINE_STATIC_KEY_FALSE(bts_sched_key);

/* Protects the listeners' number, and the writing of bts_away_since. */
static DEFINE_MUTEX(bts_away_mutex);
static unsigned int bts_away_listeners;

/* Departures are noted since then, by trace_clock_local(). */
static u64 bts_away_since = U64_MAX;

/**
 * bts_away_get - somebody wants to know how long tasks are away
 *
 * From now on each departure is noted, by bts_note_departure().
 *
 * Context: Process context; the caller's departures are noted on all CPUs that
 *	    look at their probes or static keys anew.
 */
void bts_away_get(void)
{
	guard(mutex)(&bts_away_mutex);

	synchronize_rcu();
	if (!bts_away_listeners++)
		WRITE_ONCE(bts_away_since, trace_clock_local());
}

/**
 * bts_away_put - nobody does any more
 *
 * Context: Process context; before the caller stops to note departures.
 */
void bts_away_put(void)
{
	guard(mutex)(&bts_away_mutex);

	if (!--bts_away_listeners)
		WRITE_ONCE(bts_away_since, U64_MAX);
}

/**
 * bts_note_departure - remember when and where a task left its CPU
 * @prev: the task that leaves
 *
 * Context: In the scheduler, interrupts off.
 */
void bts_note_departure(struct task_struct *prev)
{
	prev->ftrace_timestamp = trace_clock_local();
	prev->departed_cpu = raw_smp_processor_id();
}

static unsigned long bts_user_ip(struct task_struct *p)
{
	struct pt_regs *regs;

	if (p->flags & (PF_KTHREAD | PF_USER_WORKER))
		return 0;
	regs = task_pt_regs(p);
	return user_mode(regs) ? instruction_pointer(regs) : 0;
}

#ifdef CONFIG_ARCH_STACKWALK

struct bts_walk {
	unsigned long	ip;
	bool		in_sched;
};

static bool bts_is_entry(unsigned long addr)
{
	return (addr >= (unsigned long)__entry_text_start &&
		addr < (unsigned long)__entry_text_end) ||
	       (addr >= (unsigned long)__noinstr_text_start &&
		addr < (unsigned long)__noinstr_text_end);
}

/* Us, then the scheduler, the way there from an interrupt, and what we want. */
static bool bts_walk_one(void *cookie, unsigned long addr)
{
	struct bts_walk *walk = cookie;

	if (in_sched_functions(addr)) {
		walk->in_sched = true;
		return true;
	}
	if (!walk->in_sched || bts_is_entry(addr))
		return true;
	walk->ip = addr;
	return false;
}

/* A handful of frames in most cases: the walk ends where the answer is. */
static unsigned long bts_kernel_ip(void)
{
	struct bts_walk walk = { };

	arch_stack_walk(bts_walk_one, &walk, current, NULL);
	return walk.ip;
}

#else

static unsigned long bts_kernel_ip(void)
{
	return 0;
}

#endif /* CONFIG_ARCH_STACKWALK */

/* As sched_switch has it. */
static unsigned int bts_task_state(bool preempt, struct task_struct *p,
				   unsigned int state)
{
	unsigned int index;

	if (preempt)
		return TASK_REPORT_MAX;
	index = __task_state_index(state, p->exit_state);
	return index ? 1U << (index - 1) : 0;
}

/**
 * bts_departs_of - how the current task departs
 * @d:		to be filled in
 * @preempt:	sched_switch's argument of that name
 * @prev:	the current task
 * @prev_state:	sched_switch's argument of that name
 *
 * Context: In the scheduler, interrupts off.
 */
void bts_departs_of(struct bts_departs *d, bool preempt,
		    struct task_struct *prev, unsigned int prev_state)
{
	d->user_ip = bts_user_ip(prev);
	d->kernel_ip = bts_kernel_ip();
	d->state = bts_task_state(preempt, prev, prev_state);
	d->voluntary = !preempt && prev_state != TASK_RUNNING;
}

/**
 * bts_arrives_of - how a task arrives at this CPU
 * @a:		to be filled in
 * @next:	the task
 *
 * Context: In the scheduler, interrupts off.
 */
void bts_arrives_of(struct bts_arrives *a, struct task_struct *next)
{
	u64 since = READ_ONCE(bts_away_since);
	u64 then = next->ftrace_timestamp;
	u64 now = trace_clock_local();

	a->user_ip = bts_user_ip(next);
	a->from_cpu = -1;
	a->away = 0;
	if (bts_is_newborn(next) || !then || then < since)
		return;
	a->from_cpu = next->departed_cpu;
	/* The CPUs' clocks may differ a little. */
	if (now > then)
		a->away = now - then;
}

/* An event is on. Context: the scheduler, interrupts off, the runqueue locked. */
void __bts_task_departs(bool preempt, struct task_struct *prev,
			unsigned int prev_state)
{
	bts_note_departure(prev);

	if (trace_bts_departs_enabled()) {
		struct bts_departs d;

		bts_departs_of(&d, preempt, prev, prev_state);
		trace_bts_departs(prev, &d);
	}
}

/* Context: as __bts_task_departs(). */
void __bts_task_arrives(void)
{
	if (trace_bts_arrives_enabled()) {
		struct bts_arrives a;

		bts_arrives_of(&a, current);
		trace_bts_arrives(current, &a);
	}
}

int bts_departs_reg(void)
{
	static_branch_inc(&bts_sched_key);
	return 0;
}

void bts_departs_unreg(void)
{
	static_branch_dec(&bts_sched_key);
}

int bts_arrives_reg(void)
{
	static_branch_inc(&bts_sched_key);
	bts_away_get();
	return 0;
}

void bts_arrives_unreg(void)
{
	bts_away_put();
	static_branch_dec(&bts_sched_key);
}

/**
 * bts_write_departs - a departure as a row of the tracer's
 * @buffer:	where to
 * @ctx:	tracing_gen_ctx()
 * @p:		the task
 * @d:		how it departs
 *
 * The entry is that of the event.
 *
 * Return: false if there is no room.
 */
bool bts_write_departs(struct trace_buffer *buffer, unsigned int ctx,
		       struct task_struct *p, const struct bts_departs *d)
{
	struct trace_event_raw_bts_departs *entry;
	struct ring_buffer_event *event;

	event = trace_buffer_lock_reserve(buffer, event_bts_departs.event.type,
					  sizeof(*entry), ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	memcpy(entry->comm, p->comm, TASK_COMM_LEN);
	entry->pid = p->pid;
	entry->tgid = p->tgid;
	entry->user_ip = d->user_ip;
	entry->kernel_ip = d->kernel_ip;
	entry->state = d->state;
	entry->voluntary = d->voluntary;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/**
 * bts_write_arrives - an arrival as a row of the tracer's
 * @buffer:	where to
 * @ctx:	tracing_gen_ctx()
 * @p:		the task, which need not be current yet
 * @a:		how it arrives
 *
 * The entry is that of the event.
 *
 * Return: false if there is no room.
 */
bool bts_write_arrives(struct trace_buffer *buffer, unsigned int ctx,
		       struct task_struct *p, const struct bts_arrives *a)
{
	struct trace_event_raw_bts_arrives *entry;
	struct ring_buffer_event *event;

	event = trace_buffer_lock_reserve(buffer, event_bts_arrives.event.type,
					  sizeof(*entry), ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = p->pid;
	memcpy(entry->comm, p->comm, TASK_COMM_LEN);
	entry->pid = p->pid;
	entry->tgid = p->tgid;
	entry->user_ip = a->user_ip;
	entry->away = a->away;
	entry->from_cpu = a->from_cpu;
	entry->cpu = raw_smp_processor_id();
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}
