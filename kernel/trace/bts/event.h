/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_EVENT_H
#define _LINUX_KERNEL_TRACE_BTS_EVENT_H

/* The declarations of departs.c and event.c. Both files may be built without CONFIG_BTS_TRACER. */

#include <linux/bts_events.h>
#include <linux/trace_events.h>

/**
 * struct bts_sched_row - room for an entry of bts_departs or bts_arrives
 * @ent:	the entry's header
 * @data:	the rest of the entry
 */
struct bts_sched_row {
	struct trace_entry	ent;
	u64			data[7];
};

/* departs.c */
void bts_departs_of(struct bts_departs *d, bool preempt, struct task_struct *prev,
		    unsigned int prev_state);
unsigned int bts_departs_row(struct bts_sched_row *row, struct task_struct *p,
			     const struct bts_departs *d);
unsigned int bts_arrives_row(struct bts_sched_row *row, struct task_struct *p);

/* event.c */
int bts_event_reg(struct trace_event_call *call, enum trace_reg type, void *data,
		  int (*update)(void));

#endif /* _LINUX_KERNEL_TRACE_BTS_EVENT_H */
