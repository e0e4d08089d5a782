/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_SYNC_H
#define _LINUX_KERNEL_TRACE_SYNC_H

/* Included by trace.h: let a tracer bring the ring buffer up to date. */

#include <linux/jump_label.h>

struct trace_array;
struct trace_iterator;

/*
 * The callback sync() of struct tracer writes the records that the tracer holds outside of
 * the ring buffer. The init() of a tracer with sync() increments tracer_sync_key, and its
 * reset() decrements tracer_sync_key. Contexts:
 *
 *	- With RING_BUFFER_ALL_CPUS: process context. For ON, OFF and POLL the tracer stays
 *	  chosen, because trace_types_lock is held or a reader has a pipe open (trace_ref).
 *	  If the reason is another one, the instance may just have left the tracer.
 *	- With a CPU: any context, up to NMI. The CPU is that of the caller, unless the
 *	  caller has migrated. The instance may just have left the tracer.
 *	- In a crash @tr is NULL, which means all instances. The context is any.
 */

/* Why a tracer must bring the ring buffer up to date */
enum tracer_sync_reason {
	/* RING_BUFFER_ALL_CPUS, or this CPU */
	TRACER_SYNC_FLUSH,	/* the records are needed now, or the ring buffer has room */
	TRACER_SYNC_ON,		/* the ring buffer is on */
	/* RING_BUFFER_ALL_CPUS */
	TRACER_SYNC_OFF,	/* the ring buffer is about to go off; in a crash, all are */
	TRACER_SYNC_POLL,	/* a reader finds nothing, and does not sleep in read() */
	TRACER_SYNC_TARGETS,	/* the PID sets or tracing_cpumask have changed */
	/* This CPU */
	TRACER_SYNC_EVENT,	/* an event, or trace_printk(), is about to be reserved */
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
