// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: the rows that are not branches
 *
 * Options bts-sched and bts-map have entries of the events bts_departs,
 * bts_arrives and bts_map among the branches, for the tasks that an instance
 * traces. They are written while the hardware records nothing: a task's branches
 * before have been drained, those after have not been taken.
 *
 *	bts_probe_sched_switch(prev -> next)
 *	  bts_rows_leave()		note how prev departs
 *	  ds_bts_drain(), ds_bts_ask()
 *	    bts_records()		branches of prev
 *	    bts_mode()
 *	      bts_rows_begin()
 *	      bts_rows_turn()		bts_departs of prev, bts_arrives of next
 *	  ...				branches of next
 *
 * An arrival is next's, and its row has next's PID, though current is still prev.
 *
 * A row for which the ring buffer has no room is counted (rows_lost), and so is
 * one that would stand in front of branches that are held (bts-block).
 */

#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "trace_bts.h"

/**
 * struct bts_leaving - the switch that a CPU is in the midst of
 * @preempt:	of sched_switch
 * @prev_state:	of sched_switch
 * @known:	@departs has been filled in
 * @departs:	how prev departs; finding out takes a while, so once for all
 */
struct bts_leaving {
	bool			preempt;
	bool			known;
	unsigned int		prev_state;
	struct bts_departs	departs;
};

static DEFINE_PER_CPU(struct bts_leaving, bts_leaving);

/**
 * bts_rows_leave - the CPU is about to turn to another task
 * @preempt:	of sched_switch
 * @prev_state:	of sched_switch
 *
 * Context: In the scheduler, interrupts off; prior to bts_rows_begin().
 */
void bts_rows_leave(bool preempt, unsigned int prev_state)
{
	struct bts_leaving *l = this_cpu_ptr(&bts_leaving);

	l->preempt = preempt;
	l->prev_state = prev_state;
	l->known = false;
}

/**
 * bts_rows_begin - the CPU turns to another task, or another mode
 *
 * Context: As bts_mode(); prior to bts_rows_turn().
 */
void bts_rows_begin(void)
{
	/* Nothing is asked yet of this task. */
	this_cpu_write(bts_resume_asked, false);
}

static const struct bts_departs *bts_departure(void)
{
	struct bts_leaving *l = this_cpu_ptr(&bts_leaving);

	if (!l->known)
		bts_departs_of(&l->departs, l->preempt, current, l->prev_state);
	l->known = true;
	return &l->departs;
}

static bool bts_has(unsigned int mode, unsigned int option)
{
	return (mode & BTS_SIDES) && (mode & option);
}

/* Not before losses that came earlier, nor before branches that wait for room. */
static bool bts_row_may(struct bts_instance *b, struct bts_cpu *c)
{
	bts_begin(b, c);
	return bts_show_losses(b, c, false) && !bts_held(c);
}

static void bts_count_row(struct bts_instance *b, struct bts_cpu *c,
			  bool written)
{
	if (written)
		bts_count(&c->rows, 1);
	else if (!bts_is_off(b->tr, smp_processor_id()))
		bts_count(&c->rows_lost, 1);
}

/* Context: bts_mode(), of a task switch; c->mode still is that of prev. */
static void bts_sched_rows(struct bts_instance *b, struct bts_cpu *c,
			   struct task_struct *next, unsigned int mode)
{
	struct trace_buffer *buffer = b->tr->array_buffer.buffer;
	unsigned int ctx = tracing_gen_ctx();

	if (bts_has(c->mode, BTS_OPT_SCHED))
		bts_count_row(b, c, bts_row_may(b, c) &&
			      bts_write_departs(buffer, ctx, current,
						bts_departure()));
	if (bts_has(mode, BTS_OPT_SCHED))
		bts_count_row(b, c, bts_row_may(b, c) &&
			      bts_write_arrives(buffer, ctx, next));
}

/*
 * The sets of PIDs. A bit is looked at, set and cleared by atomic operations, and a
 * page once there stays until the instance is freed.
 */

/* Context: any. */
static bool bts_pids_has(struct bts_pids *pids, pid_t pid)
{
	unsigned long *bits = READ_ONCE(pids->bits[pid / BTS_PIDS_OF_PAGE]);

	return bits && test_bit(pid % BTS_PIDS_OF_PAGE, bits);
}

/* Context: any. */
static void bts_pids_remove(struct bts_pids *pids, pid_t pid)
{
	if (bts_pids_has(pids, pid))
		clear_bit(pid % BTS_PIDS_OF_PAGE,
			  pids->bits[pid / BTS_PIDS_OF_PAGE]);
}

/* Context: process context, interrupts off. Return: 0 or -ENOMEM. */
static int bts_pids_add(struct bts_pids *pids, pid_t pid)
{
	unsigned long **page = &pids->bits[pid / BTS_PIDS_OF_PAGE];

	if (!READ_ONCE(*page)) {
		unsigned long new = get_zeroed_page(GFP_NOWAIT | __GFP_NOWARN);

		if (!new)
			return -ENOMEM;
		/* Another CPU may have been first. */
		if (cmpxchg(page, NULL, (unsigned long *)new))
			free_page(new);
	}
	set_bit(pid % BTS_PIDS_OF_PAGE, *page);
	return 0;
}

/* Context: process context. */
static void bts_pids_clear(struct bts_pids *pids)
{
	int i, j;

	for (i = 0; i < ARRAY_SIZE(pids->bits); i++) {
		unsigned long *bits = READ_ONCE(pids->bits[i]);

		for (j = 0; bits && j < PAGE_SIZE / sizeof(*bits); j++)
			WRITE_ONCE(bits[j], 0);
	}
}

/**
 * bts_pids_free - free the pages of a set
 * @pids: the set, of an instance in which no task looks any more
 */
void bts_pids_free(struct bts_pids *pids)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(pids->bits); i++)
		free_page((unsigned long)pids->bits[i]);
}

/* A traced task's process is not known yet: have the task come by. */
static void bts_map_ask(struct bts_instance *b, struct task_struct *task)
{
	if (!task->mm || (task->flags & (PF_KTHREAD | PF_USER_WORKER)))
		return;
	if (bts_pids_has(&b->mapped, task->tgid))
		return;
	/* It runs, or is about to, on this CPU, and not in user mode. */
	this_cpu_write(bts_resume_asked, true);
	set_tsk_thread_flag(task, TIF_NOTIFY_RESUME);
}

/**
 * bts_rows_turn - the CPU turns to another task, or another mode
 * @b:		an instance
 * @c:		its part of this CPU; @c->mode is that of the current task
 * @task:	the one that comes, or the current one
 * @mode:	what the instance wants of that one
 *
 * Context: As bts_mode().
 */
void bts_rows_turn(struct bts_instance *b, struct bts_cpu *c,
		   struct task_struct *task, unsigned int mode)
{
	if (task != current) {
		/* A PID that is used anew. */
		if (bts_is_newborn(task) && thread_group_leader(task))
			bts_pids_remove(&b->mapped, task->tgid);
		if ((c->mode | mode) & BTS_OPT_SCHED)
			bts_sched_rows(b, c, task, mode);
	}
	if (bts_has(mode, BTS_OPT_MAP))
		bts_map_ask(b, task);
}

/**
 * bts_map_forget - an instance begins anew to learn of processes
 * @b: the instance, which does not trace yet
 */
void bts_map_forget(struct bts_instance *b)
{
	bts_pids_clear(&b->showing);
	bts_pids_clear(&b->mapped);
	WRITE_ONCE(b->maps_missed, false);
}

/* Context: as bts_map_begin(). The current task's mappings, from the first one on. */
static bool bts_map_begin_for(struct bts_instance *b, struct bts_cpu *c)
{
	/* A task of this PID may have been killed before bts_map_end(). */
	bts_pids_remove(&b->showing, current->pid);
	if (!bts_has(c->mode, BTS_OPT_MAP) ||
	    bts_pids_has(&b->mapped, current->tgid))
		return false;
	if (bts_is_off(b->tr, smp_processor_id())) {
		WRITE_ONCE(b->maps_missed, true);
		return false;
	}
	/* Without memory for them, the next time that the task gets a CPU. */
	if (bts_pids_add(&b->showing, current->pid))
		return false;
	if (!bts_pids_add(&b->mapped, current->tgid))
		return true;
	bts_pids_remove(&b->showing, current->pid);
	return false;
}

/**
 * bts_map_begin - which instances are to know the current task's mappings?
 *
 * They are those that the task shows them to until bts_map_end(), unless they begin
 * anew in between. What begins later
 * waits for the next time that the process is looked at.
 *
 * Context: Interrupts off.
 * Return: false if there is none.
 */
bool bts_map_begin(void)
{
	struct bts_instance *b;
	bool any = false;

	for_each_bts_instance(b)
		any |= bts_map_begin_for(b, this_cpu_ptr(b->cpu));
	return any;
}

/**
 * bts_map_end - they know them all
 *
 * Context: Interrupts off.
 */
void bts_map_end(void)
{
	struct bts_instance *b;

	for_each_bts_instance(b)
		bts_pids_remove(&b->showing, current->pid);
}

/*
 * Where the ring buffer is off, or this CPU's part of it, the process is to show all
 * of its mappings when it is next traced.
 * Context: interrupts off, and the hardware as well.
 */
static void bts_map_write(struct bts_instance *b, const struct bts_map *m)
{
	struct bts_cpu *c = this_cpu_ptr(b->cpu);
	unsigned int ctx = tracing_gen_ctx();
	bool written;

	written = bts_row_may(b, c) &&
		  bts_write_map(b->tr->array_buffer.buffer, ctx, current, m);
	bts_count_row(b, c, written);
	if (!written && bts_is_off(b->tr, smp_processor_id())) {
		WRITE_ONCE(b->maps_missed, true);
		bts_pids_remove(&b->showing, current->pid);
		bts_pids_remove(&b->mapped, current->tgid);
	}
}

/**
 * bts_map_existing_row - a mapping that the current task has already
 * @m: the mapping
 *
 * Context: Interrupts off, between bts_map_begin() and bts_map_end().
 */
void bts_map_existing_row(const struct bts_map *m)
{
	struct bts_instance *b;

	for_each_bts_instance(b) {
		if (bts_pids_has(&b->showing, current->pid))
			bts_map_write(b, m);
	}
}

/**
 * bts_map_row - the current task has a new mapping
 * @m: the mapping
 *
 * It is shown to those who know its process, whether they trace this very task or
 * not: other threads may go there.
 *
 * Context: Interrupts off, the hardware paused.
 */
void bts_map_row(const struct bts_map *m)
{
	struct bts_instance *b;

	for_each_bts_instance(b) {
		if (READ_ONCE(b->tracing) &&
		    (READ_ONCE(b->flags->val) & BTS_OPT_MAP) &&
		    bts_pids_has(&b->mapped, current->tgid))
			bts_map_write(b, m);
	}
}
