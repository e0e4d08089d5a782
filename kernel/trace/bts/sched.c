// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: write the rows of the option bts-sched
 *
 * The tracer writes entries of bts_departs and bts_arrives for the tasks that it traces. At a
 * task switch, the tracer writes these entries after it has drained the branches of the leaving
 * task, and before the hardware records the next task. The trace events bts_departs and
 * bts_arrives, which do not need the tracer, are in departs.c.
 *
 *	bts_probe_sched_switch(prev -> next)
 *	  bts_sched_leave()		note how prev departs
 *	  ds_bts_drain()		branches of prev
 *	  ds_bts_ask()
 *	    bts_turn()
 *	      bts_sched_rows()		bts_departs of prev, bts_arrives of next
 *	  ...				branches of next
 */

#include <linux/percpu.h>
#include <linux/sched.h>

#include "bts.h"

/* The arguments of sched_switch at the CPU's current task switch. */
static DEFINE_PER_CPU(bool, bts_preempt);
static DEFINE_PER_CPU(unsigned int, bts_prev_state);

/**
 * bts_sched_leave - store the arguments of sched_switch for bts_sched_rows()
 * @preempt:	the argument of sched_switch
 * @prev_state:	the argument of sched_switch
 *
 * Context: In the scheduler, interrupts off; before bts_turn().
 */
void bts_sched_leave(bool preempt, unsigned int prev_state)
{
	this_cpu_write(bts_preempt, preempt);
	this_cpu_write(bts_prev_state, prev_state);
}

/**
 * bts_sched_rows - write the rows of a task switch
 * @b:		an instance
 * @c:		the instance's data for this CPU; @c->mode is still the mode for the current task
 * @next:	the next task
 * @mode:	like @c->mode, but for the next task
 *
 * Context: bts_turn(), after the current task's last branch and before the first branch of @next.
 */
void bts_sched_rows(struct bts_instance *b, struct bts_cpu *c,
		    struct task_struct *next, unsigned int mode)
{
	struct bts_departs departs;
	struct bts_sched_row row;
	unsigned int size;

	if (c->mode & BTS_OPT_SCHED) {
		bts_departs_of(&departs, this_cpu_read(bts_preempt), current,
			       this_cpu_read(bts_prev_state));
		size = bts_departs_row(&row, current, &departs);
		bts_deliver_row(b, c, current, &row, size);
	}
	if (mode & BTS_OPT_SCHED) {
		size = bts_arrives_row(&row, next);
		bts_deliver_row(b, c, next, &row, size);
	}
}
