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
 *	- If @cpu is RING_BUFFER_ALL_CPUS, the context is process context. For the reasons ON,
 *	  OFF and POLL, the tracer stays chosen, because trace_types_lock is held or a reader
 *	  has a pipe open (trace_ref). For other reasons, the instance may just have left the
 *	  tracer.
 *	- If @cpu is the number of a CPU, the context is any, including NMI. The caller runs on
 *	  @cpu, unless the caller has migrated. The instance may just have left the tracer.
 *	- In a crash, @tr is NULL, which means all instances, and the context is any.
 */

/* Reasons why a tracer must bring the ring buffer up to date */
enum tracer_sync_reason {
	/* Reasons for which @cpu is RING_BUFFER_ALL_CPUS or the current CPU */
	TRACER_SYNC_FLUSH,	/* the records are needed now, or the ring buffer has room again */
	TRACER_SYNC_ON,		/* the ring buffer was switched on */
	/* Reasons for which @cpu is always RING_BUFFER_ALL_CPUS */
	TRACER_SYNC_OFF,	/* the ring buffer goes off soon (in a crash: all ring buffers) */
	TRACER_SYNC_POLL,	/* a reader finds nothing, and does not sleep in read() */
	TRACER_SYNC_TARGETS,	/* the PID sets or tracing_cpumask have changed */
	/* Reason for which @cpu is always the current CPU */
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
