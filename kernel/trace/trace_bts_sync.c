// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: what the CPUs hold is written before it is missed
 *
 * Branches reach the ring buffer some hundred at a time, an event of another kind at
 * once. Two of those who look at both need the branches earlier:
 *
 *	an event		bts_before_event(), just before ftrace reserves it:
 *				drain this CPU, so that the event stands after
 *				the branches that led to it
 *	poll(), epoll, read()	bts_sync_reader(), when they find nothing:
 *	with O_NONBLOCK		drain all CPUs, and look again
 *
 * Concurrency:
 *
 *	- bts_before_event() runs in any context, with what its caller holds: the
 *	  runqueue's lock, for instance. It takes none. An event in the midst of
 *	  a drain does not drain again: see ds_bts_off().
 *	- bts_instance.polled is set by readers, which keep the tracer chosen, and
 *	  cleared by the worker, under trace_types_lock.
 */

#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "trace_bts.h"

/* How often the CPUs are asked for a reader that waits, in a flight recorder. */
#define BTS_ASK_AGAIN	(HZ / 10)

/*
 * A trigger with a condition runs when its event has been reserved, and may close the
 * trace. Context: preemption off.
 */
static __always_inline bool bts_may_end(struct trace_event_file *file)
{
	const int ends = ETT_TRACE_ONOFF | ETT_SNAPSHOT;
	struct event_trigger_data *data;

	if (!file || !(READ_ONCE(file->flags) & EVENT_FILE_FL_TRIGGER_COND))
		return false;
	list_for_each_entry_rcu(data, &file->triggers, list,
				rcu_read_lock_sched_held()) {
		if (data->cmd_ops->trigger_type & ends)
			return true;
	}
	return false;
}

/* Context: preemption off. */
static __always_inline bool bts_wants_sync(struct trace_array *tr,
					   struct trace_event_file *file)
{
	struct bts_instance *b = READ_ONCE(tr->bts);

	if (!b || !READ_ONCE(b->tracing) || !tracer_tracing_is_on(tr))
		return false;
	return (READ_ONCE(b->flags->val) & BTS_OPT_SYNC) || bts_may_end(file);
}

/**
 * bts_before_event - an event of another kind is about to be reserved
 * @tr:		the trace array
 * @file:	the event's; NULL if it has none
 *
 * With bts-sync, and for a trigger that may close the trace, it is to stand after the
 * branches of this CPU that came before it.
 *
 * Context: any, up to NMI.
 */
void bts_before_event(struct trace_array *tr, struct trace_event_file *file)
{
	guard(preempt_notrace)();
	if (bts_wants_sync(tr, file))
		bts_flush_cpu(tr);
}

static bool bts_is_read(struct bts_instance *b)
{
	int cpu;

	if (READ_ONCE(b->readers.nr))
		return true;
	for_each_possible_cpu(cpu) {
		if (READ_ONCE(per_cpu_ptr(b->cpu, cpu)->readers.nr))
			return true;
	}
	return false;
}

static void bts_ask_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(bts_ask_work, bts_ask_again);

/* Context: process context. */
static void bts_ask_again(struct work_struct *work)
{
	struct bts_instance *b;
	bool any = false;

	guard(mutex)(&trace_types_lock);

	list_for_each_entry(b, &bts_instances, list) {
		if (!bts_is_read(b))
			WRITE_ONCE(b->polled, false);
		any |= READ_ONCE(b->polled);
	}
	if (!any)
		return;
	ds_bts_flush_all();
	schedule_delayed_work(&bts_ask_work, BTS_ASK_AGAIN);
}

/**
 * bts_sync_reader - a reader finds nothing, and does not sleep in read()
 * @b: the instance
 *
 * It may have epoll wake it up, which asks the file but once. In a flight recorder there
 * is no interrupt to bring the branches: the CPUs are asked ten times a second from now
 * on, until no reader has the file open.
 *
 * Context: process context; the reader has its file open, so that bts stays chosen.
 */
void bts_sync_reader(struct bts_instance *b)
{
	ds_bts_flush_all();
	if (!(READ_ONCE(b->flags->val) & BTS_OPT_CIRCULAR))
		return;
	WRITE_ONCE(b->polled, true);
	schedule_delayed_work(&bts_ask_work, BTS_ASK_AGAIN);
}
