// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer's trace events, which are recorded by probes on other tracepoints
 *
 * The events bts_departs, bts_arrives and bts_map are ordinary trace events, recorded by probes on
 * sched_switch and mmap_exec_tp. The reg() callback of an event's class registers the event's
 * probe. The probe stays registered while any instance or perf uses the event. TRACE_EVENT_FN() is
 * not an alternative, because its reg function is called with tracepoints_mutex held and so cannot
 * register a probe. Attaching a BPF program to an event's tracepoint, instead of to the event, does
 * not register the probe. So the BPF program runs only while an instance or perf uses the event.
 */

#include "event.h"

/* The requests that switch an event on and off. */
static const struct {
	enum trace_reg	on;
	enum trace_reg	off;
} bts_regs[] = {
	{ TRACE_REG_REGISTER,		TRACE_REG_UNREGISTER },
#ifdef CONFIG_PERF_EVENTS
	{ TRACE_REG_PERF_REGISTER,	TRACE_REG_PERF_UNREGISTER },
#endif
};

/**
 * bts_event_reg - switch an event on or off
 * @call:	the event
 * @type:	the request, as passed to the class's reg()
 * @data:	the data of the request, as passed to the class's reg()
 * @update:	a callback that registers the probes of the events that are on, and unregisters the
 *		other probes
 *
 * Context: process context, event_mutex held; or any context, if perf starts or stops the event
 * at a task switch.
 * Return: 0 or an error. On error, nothing has changed.
 */
int bts_event_reg(struct trace_event_call *call, enum trace_reg type, void *data,
		  int (*update)(void))
{
	unsigned int i;
	int ret;

	ret = trace_event_reg(call, type, data);
	if (ret)
		return ret;

	for (i = 0; i < ARRAY_SIZE(bts_regs); i++) {
		if (type == bts_regs[i].off)
			return update();
		if (type != bts_regs[i].on)
			continue;
		ret = update();
		if (ret)
			trace_event_reg(call, bts_regs[i].off, data);
		return ret;
	}
	/* When perf opens, closes, starts or stops the event, the set of probes does not change. */
	return 0;
}
