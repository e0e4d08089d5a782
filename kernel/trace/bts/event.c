// SPDX-License-Identifier: GPL-2.0
/*
 * Record the tracer's own events, with probes on other tracepoints
 *
 * bts_departs, bts_arrives and bts_map are ordinary trace events, recorded by probes on
 * sched_switch and mmap_exec_tp. The reg() of the event's class registers the probe while
 * the event is on, in any instance or for perf. The reg function of a TRACE_EVENT_FN could
 * not do this, because it is called with tracepoints_mutex held. A BPF program that is
 * attached to the tracepoint instead of the event runs only while something else keeps the
 * event on.
 */

#include "event.h"

/**
 * bts_event_reg - switch an event on or off
 * @call:	the event
 * @type:	the argument of the class's reg()
 * @data:	the argument of the class's reg()
 * @update:	registers exactly the probes that the events need now
 *
 * Context: process context, event_mutex held. Any context when perf switches tasks.
 * Return: 0 or an error. On error nothing has changed.
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
		/* perf switches to or from a task that it traces. */
		return 0;
	}

	ret = update();
	if (ret)
		trace_event_reg(call, undo, data);
	return ret;
}
