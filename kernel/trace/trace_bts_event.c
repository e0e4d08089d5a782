// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: events that are made by a probe of another tracepoint
 *
 * bts_departs, bts_arrives and bts_map are ordinary trace events, made by probes of
 * sched_switch and mmap_exec_tp. A probe is there while its event is on, in any instance
 * or for perf. That is done in the events' class: the reg function of a
 * TRACE_EVENT_FN is called with tracepoints_mutex held, under which no probe can be
 * registered. A program of BPF that is attached to the tracepoint itself, and not to
 * the event, is not seen there: it is called while the event is on for another reason.
 */

#include <linux/trace_events.h>

#include "trace_bts.h"

/**
 * bts_event_reg - an event goes on or off
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
		/* Of perf, when a task of its events is switched: in any context. */
		return 0;
	}

	ret = update();
	if (ret)
		trace_event_reg(call, undo, data);
	return ret;
}
