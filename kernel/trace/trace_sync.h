/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_SYNC_H
#define _LINUX_KERNEL_TRACE_SYNC_H

/* Make a tracer bring the ring buffer up to date. Include trace.h instead of this file. */

#include <linux/jump_label.h>

struct trace_array;
struct trace_iterator;

/*
 * A tracer may keep records outside of the ring buffer. The tracer's callback sync() (struct
 * tracer) moves these records into the ring buffer. A tracer with sync() increments
 * tracer_sync_key in its init() and decrements tracer_sync_key in its reset(). Contexts of
 * sync():
 *
 *	- If @cpu is RING_BUFFER_ALL_CPUS, sync() is called in process context. If @why is ON, OFF
 *	  or POLL, the tracer stays the current tracer during the call, because trace_types_lock
 *	  is held or a reader has a pipe open (trace_ref). If @why has another value, the
 *	  instance may have just switched to another tracer.
 *	- If @cpu is the number of a CPU, sync() may be called in any context, even NMI. The caller
 *	  usually runs on @cpu, but may have migrated to another CPU. The instance may have just
 *	  switched to another tracer.
 *	- In a crash, @tr is NULL, which means all instances. Any context is possible.
 */

/* Reasons why a tracer must bring the ring buffer up to date */
enum tracer_sync_reason {
	/* For FLUSH and ON, @cpu of sync() is RING_BUFFER_ALL_CPUS or the current CPU */
	TRACER_SYNC_FLUSH,	/* the records are needed now, or the ring buffer has room again */
	TRACER_SYNC_ON,		/* the ring buffer was switched on */
	/* For OFF, POLL and TARGETS, @cpu is always RING_BUFFER_ALL_CPUS */
	TRACER_SYNC_OFF,	/* the ring buffer will be switched off (in a crash: all buffers) */
	TRACER_SYNC_POLL,	/* a reader finds no data in a poll() or a non-blocking read() */
	TRACER_SYNC_TARGETS,	/* a PID list or tracing_cpumask has changed */
	/* For EVENT, @cpu is always the current CPU */
	TRACER_SYNC_EVENT,	/* an event or a trace_printk() is about to be written */
};

DECLARE_STATIC_KEY_FALSE(tracer_sync_key);
void __tracer_sync(struct trace_array *tr, int cpu, enum tracer_sync_reason why);
void tracer_sync_poll(struct trace_iterator *iter, bool nonblock, int full);

static __always_inline void tracer_sync(struct trace_array *tr, int cpu,
					enum tracer_sync_reason why)
{
	if (static_branch_unlikely(&tracer_sync_key))
		__tracer_sync(tr, cpu, why);
}

#endif /* _LINUX_KERNEL_TRACE_SYNC_H */
