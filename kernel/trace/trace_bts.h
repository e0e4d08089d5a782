/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_H
#define _LINUX_KERNEL_TRACE_BTS_H

/* What the files of the branch tracer share; trace_bts.c tells how it works. */

#include <linux/list.h>
#include <linux/percpu.h>

#include <asm/ds.h>

#include "trace.h"

/**
 * struct bts_cpu - an instance's part of a CPU: what it wants there now, and its
 *		    counters since it has chosen the tracer, in records if not
 *		    said otherwise
 * @mode:		DS_BTS_*, what the instance wants of the task on the CPU
 * @records:		read out of the DS buffer, for whomever
 * @delivered:		written into the instance's ring buffer
 * @filtered:		left out because of bts-user or bts-kernel, or because only
 *			other instances wanted the task
 * @own:		left out because the tracer itself took the branch
 * @dropped_ring_buffer: dropped because the ring buffer had no room
 * @dropped_off:	dropped because the ring buffer was off, or off for this CPU
 * @buffer_full:	times the DS buffer was found full while the instance wanted
 *			its records; what the hardware did not store then cannot
 *			be counted
 * @buffer_wrapped:	times the DS buffer, circular, was found to have gone round
 *			then; what was overwritten cannot be counted
 * @drains:		times the DS buffer was drained, by cause
 * @lost:		dropped, and not yet shown in the trace
 */
struct bts_cpu {
	unsigned int	mode;
	u64		records;
	u64		delivered;
	u64		filtered;
	u64		own;
	u64		dropped_ring_buffer;
	u64		dropped_off;
	u64		buffer_full;
	u64		buffer_wrapped;
	u64		drains[DS_DRAIN_CAUSES];
	u64		lost;
};

/**
 * struct bts_instance - a trace array that has bts for its tracer, or had
 * @list:	in bts_instances while it has
 * @tr:		the trace array
 * @flags:	its options
 * @cpu:	what belongs to a CPU
 * @tracing:	the tracer is chosen, and tracing_on is 1
 */
struct bts_instance {
	struct list_head		list;
	struct trace_array		*tr;
	const struct tracer_flags	*flags;
	struct bts_cpu __percpu		*cpu;
	bool				tracing;
};

#define BTS_SIDES	(DS_BTS_USER | DS_BTS_KERNEL)

/* User space is the lower half of the address space. */
static inline bool bts_is_user(unsigned long addr)
{
	return (long)addr >= 0;
}

/* trace_bts.c */
bool bts_is_chosen(struct trace_array *tr);

/* trace_bts_output.c */
int bts_register_events(void);

#endif /* _LINUX_KERNEL_TRACE_BTS_H */
