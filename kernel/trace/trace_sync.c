// SPDX-License-Identifier: GPL-2.0
/*
 * Bring the ring buffer up to date if a tracer records outside of the ring buffer
 *
 * While no tracer with sync() is chosen, these functions do nothing and take no lock.
 */

#include <linux/ring_buffer.h>

#include "trace.h"

DEFINE_STATIC_KEY_FALSE(tracer_sync_key);

/**
 * __tracer_sync - call the tracer's sync(), if it has one
 * @tr: the trace array
 * @cpu: RING_BUFFER_ALL_CPUS, or the current CPU
 * @why: the reason
 *
 * Context: see trace_sync.h.
 */
void __tracer_sync(struct trace_array *tr, int cpu, enum tracer_sync_reason why)
{
	/* Until the trace array is set up, current_trace is NULL. */
	struct tracer *tracer = READ_ONCE(tr->current_trace);

	if (tracer && tracer->sync)
		tracer->sync(tr, cpu, why);
}

/**
 * tracer_sync_poll - call sync() if a non-sleeping reader finds too little data
 * @iter:	the file's iterator
 * @nonblock:	the reader does not sleep in read()
 * @full:	the fill level of the ring buffer, in percent, for which the reader waits
 *
 * Context: process context.
 */
void tracer_sync_poll(struct trace_iterator *iter, bool nonblock, int full)
{
	if (static_branch_unlikely(&tracer_sync_key) && nonblock &&
	    !ring_buffer_poll_wait(iter->array_buffer->buffer, iter->cpu_file, NULL, NULL, full))
		__tracer_sync(iter->tr, RING_BUFFER_ALL_CPUS, TRACER_SYNC_POLL);
}
