// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: events that are recorded by a probe of another tracepoint
 *
 * bts_departs, bts_arrives and bts_map are ordinary trace events, made by probes of
 * sched_switch and mmap_exec_tp. A probe is registered while its event is on, in any
 * instance or for perf. The reg() of the events' class does that. The reg function of a
 * TRACE_EVENT_FN could not: it is called with tracepoints_mutex held, under which no
 * probe can be registered. A BPF program that is attached to the tracepoint, and not to
 * the event, does not switch the event on: it runs only while the event is on.
 */

#include <linux/trace_events.h>

#include "bts.h"

/**
 * bts_event_reg - switch an event on or off
 * @call:	the event
 * @type:	as its class's reg() has it
 * @data:	as its class's reg() has it
 * @update:	registers the probes that the events need now, and no others
 *
 * Context: process context, event_mutex held; for perf's per-task types: any.
 * Return: 0 or an error; then nothing has changed.
 */
int bts_event_reg(struct trace_event_call *call, enum trace_reg type, void *data,
		  int (*update)(void))
{
	enum trace_reg undo;
	int ret;

	ret = trace_event_reg(call, type, data);
	if (ret)
		return ret;

	switch (type) {
	case TRACE_REG_REGISTER:
		undo = TRACE_REG_UNREGISTER;
		break;
	case TRACE_REG_PERF_REGISTER:
		undo = TRACE_REG_PERF_UNREGISTER;
		break;
	case TRACE_REG_UNREGISTER:
	case TRACE_REG_PERF_UNREGISTER:
		return update();
	default:
		/* From perf, at a switch of a task with its events: in any context. */
		return 0;
	}

	ret = update();
	if (ret)
		trace_event_reg(call, undo, data);
	return ret;
}
