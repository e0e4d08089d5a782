/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_H
#define _LINUX_KERNEL_TRACE_BTS_H

/* What the files of the branch tracer share; trace_bts.c tells how it works. */

#include <linux/percpu.h>

#include <asm/ds.h>

#include "trace.h"

/**
 * struct bts_cpu - counters of a CPU since the tracer was chosen, in records
 *			if not said otherwise
 * @records:		read out of the DS buffer
 * @delivered:		written into the ring buffer
 * @filtered:		left out because of bts-user or bts-kernel
 * @own:		left out because the tracer itself took the branch
 * @dropped_ring_buffer: dropped because the ring buffer had no room
 * @dropped_off:	dropped because the ring buffer was off, or off for this CPU
 * @buffer_full:	times the DS buffer was found full; what the hardware did
 *			not store then cannot be counted
 * @drains:		times the DS buffer was drained, by cause
 * @lost:		dropped, and not yet shown in the trace
 */
struct bts_cpu {
	u64	records;
	u64	delivered;
	u64	filtered;
	u64	own;
	u64	dropped_ring_buffer;
	u64	dropped_off;
	u64	buffer_full;
	u64	drains[DS_DRAIN_CAUSES];
	u64	lost;
};

DECLARE_PER_CPU(struct bts_cpu, bts_cpu);

/* The trace array that has chosen bts; NULL if none. Under trace_types_lock. */
extern struct trace_array *bts_trace;

/* User space is the lower half of the address space. */
static inline bool bts_is_user(unsigned long addr)
{
	return (long)addr >= 0;
}

/* trace_bts_output.c */
int bts_register_events(void);

#endif /* _LINUX_KERNEL_TRACE_BTS_H */
