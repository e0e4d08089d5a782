// SPDX-License-Identifier: GPL-2.0
/* Branch tracer: the startup test (CONFIG_FTRACE_STARTUP_TEST) */

#define pr_fmt(fmt) "bts: " fmt

#include <linux/ring_buffer.h>

#include "bts.h"

#define BTS_TEST_CALLS	1000

static noinline void bts_selftest_call(void)
{
	barrier();
}

static unsigned long bts_selftest_count(struct array_buffer *buf)
{
	struct ring_buffer_event *event;
	struct bts_branch_entry *entry;
	unsigned long count = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		while ((event = ring_buffer_consume(buf->buffer, cpu, NULL, NULL))) {
			entry = ring_buffer_event_data(event);
			if (entry->ent.type == TRACE_BTS &&
			    entry->to == (unsigned long)bts_selftest_call)
				count++;
		}
	}
	return count;
}

/**
 * trace_selftest_startup_bts - the tracer's selftest() callback
 * @trace:	the tracer
 * @tr:		the trace array
 *
 * Each call of a test function must be in the trace exactly once.
 *
 * Context: Process context, at boot, trace_types_lock held.
 * Return: 0 or an error.
 */
int trace_selftest_startup_bts(struct tracer *trace, struct trace_array *tr)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;
	unsigned long count;
	int i, ret;

	/* Early in boot, the ring buffer has room for about 100 branches, so enlarge it. */
	if (!tr->ring_buffer_expanded)
		ring_buffer_resize(buffer, 1 << 20, RING_BUFFER_ALL_CPUS);

	ret = tracer_init(trace, tr);
	if (ret) {
		pr_warn("startup test: cannot choose the tracer: %d\n", ret);
		goto out;
	}

	for (i = 0; i < BTS_TEST_CALLS; i++)
		bts_selftest_call();
	trace->sync(tr, RING_BUFFER_ALL_CPUS, TRACER_SYNC_OFF);
	tracing_stop();
	count = bts_selftest_count(&tr->array_buffer);
	trace->reset(tr);
	tracing_start();

	if (count != BTS_TEST_CALLS) {
		pr_err("startup test: found %lu of %d calls\n", count, BTS_TEST_CALLS);
		ret = -1;
	}
out:
	if (!tr->ring_buffer_expanded)
		ring_buffer_resize(buffer, 1, RING_BUFFER_ALL_CPUS);
	return ret;
}
