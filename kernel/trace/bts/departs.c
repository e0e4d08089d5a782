// SPDX-License-Identifier: GPL-2.0
/*
 * Events bts_departs and bts_arrives: a task leaves a CPU, and a task arrives at a CPU
 *
 * Both events are ordinary trace events, with filters, triggers and histograms. They show the tasks
 * in set_event_pid. If set_event_pid is empty, they show all tasks, including kernel threads and
 * idle tasks. The events need neither the bts tracer nor its hardware, so they are available on any
 * architecture (CONFIG_BTS_SCHED_EVENTS).
 *
 * Both events are recorded by probes on sched_switch, where current is still the leaving task. To
 * implement set_event_pid, ftrace itself has two probes on sched_switch, which set a per-CPU flag
 * that decides whether events are recorded. Before the first probe, events are recorded if the
 * leaving task (prev) is in set_event_pid. Between the two probes, events are recorded if prev or
 * the next task (next) is in set_event_pid. After the second probe, events are recorded if next is
 * in set_event_pid. So bts_departs is recorded before ftrace's probes, and bts_arrives after them:
 *
 *	trace_sched_switch(prev, next)
 *	  INT_MAX	bts_probe_departs()	recorded if prev is in set_event_pid
 *	  INT_MAX - 1	ftrace's first probe	... if prev or next is in set_event_pid
 *	  ...		other probes, including the tracer's
 *	  0		ftrace's second probe	... if next is in set_event_pid
 *	  -1		bts_probe_arrives()
 *
 * Each probe is registered only while its event is on: see event.c.
 *
 * The events keep no state per task. Together, a departure and the next arrival of a task show how
 * long the task had no CPU, and which CPU the task left. For an example, see the histogram in
 * Documentation/trace/bts-internals.rst.
 */

#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/trace_events.h>

#include <asm/sections.h>

#ifdef CONFIG_X86
#include <linux/entry-common.h>
#endif

#include <trace/events/sched.h>

#define CREATE_TRACE_POINTS
#include <trace/events/bts.h>

#include "../trace.h"
#include "event.h"

/* Return the task's user-space instruction pointer, or 0 if none. Context: in the scheduler. */
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

/*
 * Preempted code enters the scheduler through these functions. The kernel calls
 * raw_irqentry_exit_cond_resched() at the end of an interrupt, and preempt_enable() calls one of
 * the two thunks below. These functions are not in the scheduler's text, so in_sched_functions()
 * returns false for them. Other architectures have the corresponding functions in the scheduler's
 * text.
 */
static struct bts_helper {
	void		(*function)(void);
	unsigned long	size;
} bts_helpers[] __ro_after_init = {
#if defined(CONFIG_X86) && defined(CONFIG_PREEMPTION)
	{ .function = raw_irqentry_exit_cond_resched },
	{ .function = preempt_schedule_thunk },
	{ .function = preempt_schedule_notrace_thunk },
#endif
};

/* This function runs before bts_sched_init(), which may register the probes. */
static int __init bts_find_helpers(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bts_helpers); i++)
		kallsyms_lookup_size_offset((unsigned long)bts_helpers[i].function,
					    &bts_helpers[i].size, NULL);
	return 0;
}
early_initcall(bts_find_helpers);

static bool bts_is_helper(unsigned long addr)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(bts_helpers); i++) {
		if (addr - (unsigned long)bts_helpers[i].function < bts_helpers[i].size)
			return true;
	}
	return false;
}

static bool bts_is_entry(unsigned long addr)
{
	return (addr >= (unsigned long)__entry_text_start &&
		addr < (unsigned long)__entry_text_end) ||
	       (addr >= (unsigned long)__noinstr_text_start &&
		addr < (unsigned long)__noinstr_text_end);
}

/* Skip the frames of the tracer, of the scheduler, and of the code that preempts the task. */
static bool bts_walk_one(void *cookie, unsigned long addr)
{
	struct bts_walk *walk = cookie;

	if (in_sched_functions(addr)) {
		walk->in_sched = true;
		return true;
	}
	if (!walk->in_sched || bts_is_entry(addr) || bts_is_helper(addr))
		return true;
	walk->ip = addr;
	return false;
}

/* Return the first address that bts_walk_one() does not skip. Usually, few frames are skipped. */
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

/* Return the value that sched_switch shows as prev_state. */
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
 * bts_departs_of - describe how the current task departs
 * @d:		the description
 * @preempt:	the argument of sched_switch
 * @prev:	the current task
 * @prev_state:	the argument of sched_switch
 *
 * Context: in the scheduler, interrupts off.
 */
void bts_departs_of(struct bts_departs *d, bool preempt, struct task_struct *prev,
		    unsigned int prev_state)
{
	d->user_ip = bts_user_ip(prev);
	d->kernel_ip = bts_kernel_ip();
	d->state = bts_task_state(preempt, prev, prev_state);
	d->voluntary = !preempt && prev_state != TASK_RUNNING;
}

/* Context: sched_switch, with the runqueue locked and interrupts off. */
static void bts_probe_departs(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	struct bts_departs d;

	bts_departs_of(&d, preempt, prev, prev_state);
	trace_bts_departs(prev, &d);
}

/* Context: the same as for bts_probe_departs(). */
static void bts_probe_arrives(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	trace_bts_arrives(next, bts_user_ip(next));
}

/**
 * struct bts_probe - a probe that records an event of a task switch
 * @function:	the probe
 * @prio:	the probe's priority among the probes of sched_switch
 * @on:		the probe is registered; protected by event_mutex
 */
struct bts_probe {
	void	(*function)(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state);
	int	prio;
	bool	on;
};

static int bts_set_probe(struct bts_probe *probe, bool on)
{
	int ret;

	if (probe->on == on)
		return 0;
	if (on)
		ret = register_trace_prio_sched_switch(probe->function, NULL,
						       probe->prio);
	else
		ret = unregister_trace_sched_switch(probe->function, NULL);
	if (!ret)
		probe->on = on;
	return ret;
}

/* Register the probes of the events that are on, and unregister the other probes. */
static int bts_update_probes(void)
{
	static struct bts_probe departs = {
		.function	= bts_probe_departs,
		.prio		= INT_MAX,
	};
	static struct bts_probe arrives = {
		.function	= bts_probe_arrives,
		.prio		= -1,
	};

	lockdep_assert_held(&event_mutex);

	return bts_set_probe(&departs, trace_bts_departs_enabled()) ?:
	       bts_set_probe(&arrives, trace_bts_arrives_enabled());
}

static int bts_sched_event_reg(struct trace_event_call *call, enum trace_reg type,
			       void *data)
{
	return bts_event_reg(call, type, data, bts_update_probes);
}

/* Prepare the events, and register the probes of events that the command line switches on. */
static int __init bts_sched_init(void)
{
	guard(mutex)(&event_mutex);

	event_class_bts_departs.reg = bts_sched_event_reg;
	event_class_bts_arrives.reg = bts_sched_event_reg;
	return bts_update_probes();
}
core_initcall(bts_sched_init);

/**
 * bts_departs_row - fill in an entry of bts_departs
 * @row:	the entry; in its header, this function sets only the type
 * @p:		the task
 * @d:		how the task departs
 *
 * Context: any.
 * Return: the size of the entry, at most sizeof(struct bts_sched_row).
 */
unsigned int bts_departs_row(struct bts_sched_row *row, struct task_struct *p,
			     const struct bts_departs *d)
{
	struct trace_event_raw_bts_departs *departs = (void *)row;

	BUILD_BUG_ON(sizeof(*departs) > sizeof(*row));
	*departs = (struct trace_event_raw_bts_departs) {
		.ent.type	= event_bts_departs.event.type,
		.pid		= p->pid,
		.tgid		= p->tgid,
		.user_ip	= d->user_ip,
		.kernel_ip	= d->kernel_ip,
		.state		= d->state,
		.voluntary	= d->voluntary,
	};
	memcpy(departs->comm, p->comm, TASK_COMM_LEN);
	return sizeof(*departs);
}

/**
 * bts_arrives_row - fill in an entry of bts_arrives
 * @row:	the entry; in its header, this function sets only the type
 * @p:		the task
 *
 * Context: any; @p must not be running.
 * Return: the size of the entry, at most sizeof(struct bts_sched_row).
 */
unsigned int bts_arrives_row(struct bts_sched_row *row, struct task_struct *p)
{
	struct trace_event_raw_bts_arrives *arrives = (void *)row;

	BUILD_BUG_ON(sizeof(*arrives) > sizeof(*row));
	*arrives = (struct trace_event_raw_bts_arrives) {
		.ent.type	= event_bts_arrives.event.type,
		.pid		= p->pid,
		.tgid		= p->tgid,
		.user_ip	= bts_user_ip(p),
	};
	memcpy(arrives->comm, p->comm, TASK_COMM_LEN);
	return sizeof(*arrives);
}
