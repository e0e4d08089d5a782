// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: select the tasks and the branches that an instance wants
 *
 * The files set_ftrace_pid, set_ftrace_notrace_pid and tracing_cpumask, and the option
 * function-fork, select the tasks to trace (the targets). An empty set_ftrace_pid selects all
 * tasks. The options bts-user and bts-kernel select the branches of these tasks by side (user space
 * or kernel), and the filter of events/ftrace/bts_branch selects branches by address.
 *
 * The PID lists belong to ftrace and are read under RCU. At a task switch, ftrace's own probe
 * looks up the next task in the lists. ftrace's probe has a higher priority than the tracer's
 * probe, so ftrace's probe runs first.
 */

#include <linux/percpu.h>
#include <linux/sched.h>

#include <kunit/visibility.h>

#include "bts.h"

/*
 * A branch between user space and the kernel belongs to both sides. The top bit of an address is 0
 * in user space and 1 in the kernel. So (from & to) is a user address if from or to is a user
 * address, and (from | to) is a kernel address if from or to is a kernel address.
 */
VISIBLE_IF_KUNIT bool bts_wanted(unsigned int mode, const struct ds_bts_record *rec)
{
	if ((mode & DS_BTS_USER) && ds_is_user(rec->from & rec->to))
		return true;
	return (mode & DS_BTS_KERNEL) && !ds_is_user(rec->from | rec->to);
}

/*
 * Report whether @task is a target. For the next task of a switch, ftrace's probe has stored the
 * answer in ftrace_ignore_pid. A look-up in the PID lists would take a lock and execute about a
 * hundred instructions. Context: preemption off.
 */
VISIBLE_IF_KUNIT bool bts_is_target(struct trace_array *tr, struct task_struct *task)
{
	struct trace_pid_list *pids, *no_pids;

	pids = rcu_dereference_sched(tr->function_pids);
	no_pids = rcu_dereference_sched(tr->function_no_pids);
	/* Without PID lists, all tasks are targets, and ftrace_ignore_pid may be outdated. */
	if (!pids && !no_pids)
		return true;
	if (task != current)
		return this_cpu_read(tr->array_buffer.data->ftrace_ignore_pid) != FTRACE_PID_IGNORE;
	return !trace_ignore_this_task(pids, no_pids, task);
}

/**
 * bts_mode_of - return the options with which an instance records a task on this CPU
 * @b:		the instance
 * @task:	the current task or, at a task switch, the next task
 *
 * Context: preemption off.
 * Return: the instance's options, or DS_BTS_OFF if the instance does not record the task.
 */
unsigned int bts_mode_of(struct bts_instance *b, struct task_struct *task)
{
	struct trace_array *tr = b->tr;

	if (!READ_ONCE(b->tracing))
		return DS_BTS_OFF;
	if (!cpumask_test_cpu(smp_processor_id(), tr->tracing_cpumask))
		return DS_BTS_OFF;
	if (!bts_is_target(tr, task))
		return DS_BTS_OFF;
	return READ_ONCE(b->flags->val);
}

/**
 * bts_is_unwanted - report whether bts_turn() need not be called for the next task
 * @task: the next task. The current task is untraced
 *
 * Most switches are between untraced tasks. The tracer must not slow these switches down.
 *
 * Context: the same as for bts_mode_of().
 */
bool bts_is_unwanted(struct task_struct *task)
{
	struct bts_instance *b;

	/* A new task may reuse a PID in bts_instance.mapped. bts_turn() must remove this PID. */
	if (bts_is_newborn(task))
		return false;
	for_each_bts_instance(b) {
		if (bts_mode_of(b, task) != DS_BTS_OFF)
			return false;
	}
	return true;
}

/*
 * Return the filter of events/ftrace/bts_branch, or NULL.
 * Context: the same as for bts_records().
 */
static struct event_filter *bts_filter(struct bts_instance *b)
{
	struct trace_event_file *file = READ_ONCE(b->tr->bts_branch_file);

	if (!file || !(READ_ONCE(file->flags) & EVENT_FILE_FL_FILTERED))
		return NULL;
	/* Interrupts are off, but lockdep may not know this: see ds_bts_flush_cpu(). */
	return rcu_dereference_raw(file->filter);
}

/* Report whether the filter accepts the branch. Context: the same as for bts_records(). */
static bool bts_filter_matches(struct event_filter *filter, struct bts_cpu *c,
			       const struct ds_bts_record *rec)
{
	struct bts_branch_entry entry = {
		.ent	= c->write.ent,
		.from	= rec->from,
		.to	= rec->to,
	};

	return filter_match_preds(filter, &entry);
}

static __always_inline bool bts_passes(struct event_filter *filter, struct bts_cpu *c,
				       unsigned int mode, const struct ds_bts_record *rec)
{
	return bts_wanted(mode, rec) && (!filter || bts_filter_matches(filter, c, rec));
}

/* Deliver the wanted records. Consecutive wanted records are delivered in one call. */
static __always_inline void bts_deliver_runs(struct bts_instance *b, struct bts_cpu *c,
					     struct event_filter *filter, unsigned int mode,
					     const struct ds_bts_slice *slice)
{
	const struct ds_bts_record *rec = slice->rec;
	const struct ds_bts_record *end = rec + slice->nr;
	const struct ds_bts_record *start;
	unsigned int filtered = 0;

	while (rec < end) {
		start = rec;
		while (rec < end && bts_passes(filter, c, mode, rec))
			rec++;
		if (rec > start)
			bts_deliver(b, c, start, rec - start);
		start = rec;
		while (rec < end && !bts_passes(filter, c, mode, rec))
			rec++;
		filtered += rec - start;
	}
	bts_count(&c->counts.filtered, filtered);
}

/**
 * bts_filter_slice - deliver the wanted records of a slice to an instance
 * @b:		the instance
 * @c:		the instance's data for this CPU, prepared by bts_begin()
 * @slice:	the records
 *
 * Context: the same as for bts_records().
 */
void bts_filter_slice(struct bts_instance *b, struct bts_cpu *c,
		      const struct ds_bts_slice *slice)
{
	struct event_filter *filter = bts_filter(b);
	unsigned int mode = c->mode & BTS_SIDES;

	if (!slice->nr)
		return;
	/* Pass constants, so that the compiler generates a separate fast loop for each call. */
	if (filter)
		bts_deliver_runs(b, c, filter, mode, slice);
	else if (mode == BTS_SIDES)
		bts_deliver(b, c, slice->rec, slice->nr);
	else if (mode == DS_BTS_USER)
		bts_deliver_runs(b, c, NULL, DS_BTS_USER, slice);
	else
		bts_deliver_runs(b, c, NULL, DS_BTS_KERNEL, slice);
}
