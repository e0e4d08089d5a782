// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: every taken branch of the chosen tasks, user and kernel
 *
 * The trace has a row for each branch that a traced task took, in the order in
 * which it took them, CPU by CPU:
 *
 *	prog-74  [001] d.Z..  3.141592: 0x401004 -> 0x401020
 *	prog-74  [001] d.Z..  3.141593: do_syscall_64+0x6f/0x140 -> ...
 *
 * The hardware writes records into a buffer per CPU (asm/ds.h), and they are
 * drained into ftrace's ring buffer, one entry (struct bts_branch_entry) each,
 * when that buffer is nearly full and whenever somebody must know:
 *
 *	branch -> DS buffer -> threshold: NMI ----------\
 *	                    -> the CPU switches tasks ---+-> ds.c -> bts_records()
 *	                    -> read, stop, new targets -/               |
 *	       trace, trace_pipe <- ring buffer <- bts_write_branch() <-/
 *
 * Whom: the tasks that set_ftrace_pid, set_ftrace_notrace_pid and function-fork
 * name (no PID: all), on the CPUs of tracing_cpumask. A probe at sched_switch
 * drains what the leaving task did, so that each entry carries the right PID,
 * and turns the hardware on or off for the task that comes. There is nothing
 * per task; a switch between tasks that nobody wants ends after a look at
 * ftrace's verdict on the one that comes. What: options bts-user and bts-kernel,
 * which bts_wanted() applies to addresses, and the filter of
 * events/ftrace/bts_branch; with bts-cpl-filter the hardware leaves out the
 * other side, with bts-circular it keeps only the latest.
 *
 * Each trace instance that chooses the tracer has all these for itself (struct
 * bts_instance). The hardware belongs to the first, and is given back by the
 * last; a CPU records the union of what they want of its task, and each record
 * goes to those that wanted it.
 *
 * Time and context columns of a row are those of the drain, not the branch's.
 *
 * Concurrency:
 *
 *	- bts_records() and bts_mode() run on the CPU concerned with interrupts
 *	  off; bts_records() in NMI as well, but never nested in itself, nor amid
 *	  bts_mode(): ds.c sees to that. So an instance's part of a CPU (struct
 *	  bts_cpu) has one writer at a time; readers elsewhere use READ_ONCE()
 *	  and may be a batch behind.
 *	- What an instance wants of a CPU's task is decided in bts_mode() and kept
 *	  in bts_cpu.mode. ds.c asks when it has handed over the records of what
 *	  was wanted before, so the mode always is that of the batch.
 *	- bts_instances is changed under trace_types_lock and read under RCU, in
 *	  NMI too, where interrupts off stand for the read lock. An instance that
 *	  leaves is out of it before a grace period, and reset or freed after.
 *	- bts_instance.tracing and the options are written under trace_types_lock
 *	  and read anywhere. Each such write is followed by ds_bts_update_all(),
 *	  an interrupt on each CPU, so that it holds everywhere when it returns.
 *	  Where a trigger turns tracing on, in any context and without the lock,
 *	  bts_turned_on() has that done by an interrupt and a worker.
 *	- The PID lists are ftrace's, under RCU; bts_mode_of() runs with
 *	  preemption off. A change of them calls bts_targets_changed(). At a task
 *	  switch they have been looked up by ftrace's own probe: ours has a lower
 *	  priority, so that it comes later.
 *
 * Losses. Whatever is not delivered is counted, and where it can be shown
 * in the trace it is (struct bts_lost_entry): entries the ring buffer had no
 * room for, before the next one that fits; a full DS buffer, where it
 * happened, and one that has gone round (bts-circular), in front of what is left
 * of it, though their number cannot be known. With "overwrite" the ring buffer
 * drops its oldest entries and reports that itself. With bts-block the tasks
 * wait for the reader: see trace_bts_block.c.
 *
 * What it cannot see is told in ds.c and Documentation/trace/bts.rst.
 */

#define pr_fmt(fmt) "bts: " fmt

#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <trace/events/sched.h>

#include "trace_bts.h"

LIST_HEAD(bts_instances);

static struct tracer bts_tracer;

/*
 * The task that the CPU's records belong to. At a task switch that is the next one
 * some time before it is current, and an NMI in between, if it is a long one of
 * perf's, may end with a drain.
 */
static DEFINE_PER_CPU(pid_t, bts_pid);

/* No instance wants the task that the CPU runs, so that nothing is recorded. */
static DEFINE_PER_CPU(bool, bts_unwanted);

static struct tracer_opt bts_opts[] = {
	/* Branches with an end in user space */
	{ .name = "bts-user", .bit = BTS_OPT_USER },
	/* Branches with an end in the kernel */
	{ .name = "bts-kernel", .bit = BTS_OPT_KERNEL },
	/* The hardware leaves the other side out; see asm/ds.h for the price */
	{ .name = "bts-cpl-filter", .bit = BTS_OPT_FILTER },
	/* A flight recorder: no interrupts, and only the latest branches */
	{ .name = "bts-circular", .bit = BTS_OPT_CIRCULAR },
	/* Tasks wait for who reads their branches */
	{ .name = "bts-block", .bit = BTS_OPT_BLOCK },
	/* Rows bts_departs and bts_arrives */
	{ .name = "bts-sched", .bit = BTS_OPT_SCHED },
	/* Rows bts_map */
	{ .name = "bts-map", .bit = BTS_OPT_MAP },
	{ }
};

static struct tracer_flags bts_flags = {
	.val	= BTS_OPT_USER | BTS_OPT_KERNEL | BTS_OPT_MAP,
	.opts	= bts_opts,
};

/* A branch that crosses the boundary belongs to both sides. */
static bool bts_wanted(unsigned int mode, const struct ds_bts_record *rec)
{
	bool from_user = bts_is_user(rec->from);
	bool to_user = bts_is_user(rec->to);

	if ((mode & DS_BTS_USER) && (from_user || to_user))
		return true;
	return (mode & DS_BTS_KERNEL) && (!from_user || !to_user);
}

/*
 * Context: preemption off; is @task one of the targets? To look it up takes a lock
 * and a hundred instructions. ftrace has just done so for the task that comes.
 */
static bool bts_is_target(struct trace_array *tr, struct task_struct *task)
{
	struct trace_pid_list *pids, *no_pids;

	if (task != current)
		return ftrace_trace_task(tr);

	pids = rcu_dereference_sched(tr->function_pids);
	no_pids = rcu_dereference_sched(tr->function_no_pids);
	return !trace_ignore_this_task(pids, no_pids, task);
}

/* Context: preemption off; what an instance wants of @task on this CPU. */
static unsigned int bts_mode_of(struct bts_instance *b, struct task_struct *task)
{
	struct trace_array *tr = b->tr;

	if (!READ_ONCE(b->tracing))
		return DS_BTS_OFF;
	if (!cpumask_test_cpu(smp_processor_id(), tr->tracing_cpumask))
		return DS_BTS_OFF;
	if (!bts_is_target(tr, task))
		return DS_BTS_OFF;
	return READ_ONCE(b->flags->val);
}

/*
 * What the hardware is to record of @task: the union of what is wanted. It may
 * leave out a side, or what is not the latest, only if all who want the task
 * would have it so.
 * Context: this CPU, interrupts off, between two tasks' or modes' records.
 */
static unsigned int bts_mode(struct task_struct *task)
{
	unsigned int less = DS_BTS_CPL_FILTER | DS_BTS_CIRCULAR;
	struct bts_instance *b;
	unsigned int sides = 0;

	this_cpu_write(bts_pid, task->pid);
	bts_rows_begin();
	for_each_bts_instance(b) {
		struct bts_cpu *c = this_cpu_ptr(b->cpu);
		unsigned int mode = bts_mode_of(b, task);

		bts_rows_turn(b, c, task, mode);
		WRITE_ONCE(c->mode, mode);
		if (!(mode & BTS_SIDES))
			continue;
		if (bts_any_held(b))
			bts_hold_task(task);
		sides |= mode & BTS_SIDES;
		less &= mode;
	}
	this_cpu_write(bts_unwanted, !sides);
	return sides ? sides | less : DS_BTS_OFF;
}

/* Context: as bts_records(). In front of @branch; @count is 0 where nobody knows. */
static bool bts_write_lost(struct trace_buffer *buffer,
			   const struct bts_branch *branch,
			   unsigned int cause, u64 count)
{
	struct ring_buffer_event *event;
	struct bts_lost_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_BTS_LOST,
					  sizeof(*entry), branch->ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = branch->pid;
	entry->count = count;
	entry->cause = cause;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/**
 * bts_write_branch - write a branch, and what was lost before it
 * @buffer: the ring buffer
 * @branch: the branch; @branch.lost is cleared as soon as that is written
 *
 * Context: as bts_records().
 * Return: false if there is no room.
 */
bool bts_write_branch(struct trace_buffer *buffer, struct bts_branch *branch)
{
	struct ring_buffer_event *event;
	struct bts_branch_entry *entry;

	if (branch->lost && !bts_write_lost(buffer, branch, BTS_LOST_RING_BUFFER,
					    branch->lost))
		return false;
	branch->lost = 0;

	event = trace_buffer_lock_reserve(buffer, TRACE_BTS, sizeof(*entry),
					  branch->ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->ent.pid = branch->pid;
	entry->from = branch->from;
	entry->to = branch->to;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/**
 * bts_show_lost - write what was lost, before a row that is no branch
 * @b:		the instance
 * @c:		its part of this CPU
 * @ctx:	tracing_gen_ctx()
 *
 * Context: as bts_records().
 * Return: false if there is no room.
 */
bool bts_show_lost(struct bts_instance *b, struct bts_cpu *c, unsigned int ctx)
{
	struct bts_branch last = {
		.pid	= current->pid,
		.ctx	= ctx,
	};

	if (c->lost && !bts_write_lost(b->tr->array_buffer.buffer, &last,
				       BTS_LOST_RING_BUFFER, c->lost))
		return false;
	c->lost = 0;
	return true;
}

/* Context: as bts_records(). The ring buffer does not take @n branches. */
void bts_drop(struct bts_instance *b, struct bts_cpu *c, unsigned int n)
{
	if (bts_is_off(b->tr)) {
		bts_count(&c->dropped_off, n);
		return;
	}
	bts_count(&c->dropped_ring_buffer, n);
	c->lost += n;
}

/*
 * A branch must not stand in front of losses that came before it, so it shares
 * their fate, nor of branches that wait for room, so it waits with them, if those
 * of other CPUs make it @wait already.
 */
static void bts_deliver(struct bts_instance *b, struct bts_cpu *c,
			struct bts_branch *branch, bool wait)
{
	branch->lost = c->lost;
	c->lost = 0;
	if (wait && bts_hold(b, c, branch))
		return;
	if (!bts_held(c) &&
	    bts_write_branch(b->tr->array_buffer.buffer, branch)) {
		bts_count(&c->delivered, 1);
		return;
	}
	if (bts_hold(b, c, branch))
		return;
	c->lost = branch->lost;
	bts_drop(b, c, 1);
}

/* Context: as bts_records(); does the filter of events/ftrace/bts_branch take it? */
static bool bts_filter_takes(struct bts_instance *b,
			     const struct bts_branch *branch)
{
	struct trace_event_file *file = READ_ONCE(b->tr->bts_branch_file);
	struct bts_branch_entry entry = {
		.from	= branch->from,
		.to	= branch->to,
	};

	if (!file || !(READ_ONCE(file->flags) & EVENT_FILE_FL_FILTERED))
		return true;
	tracing_generic_entry_update(&entry.ent, TRACE_BTS, branch->ctx);
	entry.ent.pid = branch->pid;
	return filter_match_preds(rcu_dereference_sched(file->filter), &entry);
}

/* Context: as bts_records(). A batch goes to an instance, if that wants it. */
static void bts_take(struct bts_instance *b, const struct ds_bts_batch *batch)
{
	struct bts_cpu *c = this_cpu_ptr(b->cpu);
	struct bts_branch branch = {
		.pid	= this_cpu_read(bts_pid),
		.ctx	= tracing_gen_ctx(),
	};
	unsigned int i;
	bool wait;

	bts_release_held(b, c);

	if (batch->nr || batch->own || batch->cause == DS_DRAIN_INTERRUPT)
		bts_count(&c->drains[batch->cause], 1);
	bts_count(&c->records, batch->nr + batch->own);
	bts_count(&c->own, batch->own);

	if (!(c->mode & BTS_SIDES)) {
		bts_count(&c->filtered, batch->nr);
		return;
	}

	if (batch->wrapped) {
		bts_count(&c->buffer_wrapped, 1);
		bts_write_lost(b->tr->array_buffer.buffer, &branch,
			       BTS_LOST_OVERWRITTEN, 0);
	}

	wait = bts_wait_turn(b, c, &branch);
	for (i = 0; i < batch->nr; i++) {
		branch.from = batch->rec[i].from;
		branch.to = batch->rec[i].to;
		if (!bts_wanted(c->mode, &batch->rec[i]) ||
		    !bts_filter_takes(b, &branch)) {
			bts_count(&c->filtered, 1);
			continue;
		}
		bts_deliver(b, c, &branch, wait);
	}

	if (batch->full) {
		bts_count(&c->buffer_full, 1);
		bts_write_lost(b->tr->array_buffer.buffer, &branch,
			       BTS_LOST_DS_BUFFER, 0);
	}
	if (bts_held(c) && batch->cause != DS_DRAIN_SWITCH)
		bts_hold_task(current);
}

/*
 * The name that rows have for the task, as tracing_start_cmdline_record() would
 * have it saved: by a probe of all switches. Interrupts may be off in a way that
 * lockdep does not know, see ds_bts_flush_cpu().
 */
static void bts_save_name(void)
{
	if (in_nmi())
		return;
	preempt_disable_notrace();
	tracing_record_cmdline(current);
	preempt_enable_notrace();
}

/*
 * A batch of this CPU, from ds.c.
 * Context: interrupts off, up to NMI, not nested; bounded by the DS buffer and
 * the number of instances.
 */
static void bts_records(const struct ds_bts_batch *batch)
{
	struct bts_instance *b;

	for_each_bts_instance(b)
		bts_take(b, batch);
	bts_save_name();
}

/*
 * Does the CPU turn from a task that nobody wants to another one, of which there is
 * nothing to be noted either? Most switches are of this kind, of tasks that must not
 * pay for those that are traced.
 */
static bool bts_passes_by(struct task_struct *next)
{
	struct bts_instance *b;

	if (!this_cpu_read(bts_unwanted) || bts_is_newborn(next))
		return false;
	for_each_bts_instance(b) {
		if (bts_mode_of(b, next) & BTS_SIDES)
			return false;
	}
	return true;
}

/*
 * Context: in the scheduler, with the runqueue locked and interrupts off;
 * current is still @prev. No lock is taken but the PID lists' own.
 */
static void bts_probe_sched_switch(void *data, bool preempt,
				   struct task_struct *prev,
				   struct task_struct *next,
				   unsigned int prev_state)
{
	/* First of all: a PMI amid what follows would show it. */
	ds_bts_enter();
	if (bts_passes_by(next)) {
		ds_bts_turn_back();
		return;
	}
	bts_rows_leave(preempt, prev_state);
	ds_bts_switch(next, _RET_IP_);
}

static const struct ds_bts_client bts_client = {
	.entries	= {
		(unsigned long)bts_probe_sched_switch,
		(unsigned long)__bts_task_maps,
		(unsigned long)__bts_resume_user,
	},
	.records	= bts_records,
	.mode		= bts_mode,
	.pending	= bts_pending,
};

/* The rest is called by ftrace with trace_types_lock held, if not said otherwise. */

bool bts_is_chosen(struct trace_array *tr)
{
	return READ_ONCE(tr->current_trace) == &bts_tracer;
}

static void bts_start(struct trace_array *tr)
{
	bts_map_forget(tr->bts);
	WRITE_ONCE(tr->bts->tracing, true);
	ds_bts_update_all(DS_DRAIN_FLUSH);
}

/* The other CPUs, behind bts_turned_on(). Context: process context. */
static void bts_start_all(struct work_struct *work)
{
	guard(mutex)(&trace_types_lock);

	if (!list_empty(&bts_instances))
		ds_bts_update_all(DS_DRAIN_FLUSH);
}

static DECLARE_WORK(bts_start_work, bts_start_all);

/*
 * Context: hard interrupt, as soon as interrupts are on: not amid a task switch, then,
 * so that current is the task that the CPU's records belong to.
 */
static void bts_start_here(struct irq_work *work)
{
	ds_bts_pause((unsigned long)bts_start_here, _RET_IP_);
	ds_bts_resume(_RET_IP_);
	schedule_work(&bts_start_work);
}

static DEFINE_PER_CPU(struct irq_work, bts_start_irq) =
	IRQ_WORK_INIT_HARD(bts_start_here);

/*
 * A trigger, a function probe or tracing_on(). What follows on this CPU is what
 * is wanted: the task that runs here goes first, the other CPUs a moment later.
 * Behind a traceoff the hardware is on, but there may be mappings to be told.
 * Context: any; the tracer may be left meanwhile, and then nobody looks at @tracing.
 */
static void bts_turned_on(struct trace_array *tr)
{
	struct bts_instance *b = tr->bts;

	if (READ_ONCE(b->tracing) && !READ_ONCE(b->untold))
		return;
	WRITE_ONCE(b->untold, false);
	WRITE_ONCE(b->tracing, true);
	guard(preempt_notrace)();
	irq_work_queue(this_cpu_ptr(&bts_start_irq));
}

/* The ring buffer is still on, so that what is drained now goes into it. */
static void bts_stop(struct trace_array *tr)
{
	WRITE_ONCE(tr->bts->tracing, false);
	ds_bts_update_all(DS_DRAIN_STOP);
	/* What is held comes to its end now, one way or the other. */
	ds_bts_flush_all();
	/* Who turns tracing on again may be in no state to do this. */
	bts_map_forget(tr->bts);
}

static void bts_targets_changed(struct trace_array *tr)
{
	ds_bts_update_all(DS_DRAIN_FLUSH);
	bts_look_again();
}

/* What is recorded so far is handed over by the old flags: see bts_mode(). */
static int bts_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	struct tracer_flags *flags = tracer_flags_of(tr, &bts_tracer);
	bool chosen = bts_is_chosen(tr);
	int ret;

	if (!flags)
		return -ENOMEM;
	if (chosen && bit == BTS_OPT_BLOCK) {
		ret = bts_set_blocking(tr->bts, set);
		if (ret)
			return ret;
	}

	WRITE_ONCE(flags->val, set ? old_flags | bit : old_flags & ~bit);
	if (chosen) {
		ds_bts_update_all(DS_DRAIN_FLUSH);
		ds_bts_flush_all();
	}
	return 0;
}

/* A ring buffer that overwrites has always room, and nobody would wait. */
static int bts_flag_changed(struct trace_array *tr, u32 mask, int set)
{
	if (mask == TRACE_ITER_OVERWRITE && set && tr->bts->blocking)
		return -EINVAL;
	return 0;
}

enum bts_err {
	BTS_ERR_NO_BTS,
	BTS_ERR_BUSY,
	BTS_ERR_NO_MEMORY,
	BTS_ERR_NO_DS_AREA,
	BTS_ERRS
};

/* What error_log says of a claim that failed. */
static const char *bts_errs[BTS_ERRS] = {
	[BTS_ERR_NO_BTS]	= "This machine has no Branch Trace Store",
	[BTS_ERR_BUSY]		= "BTS or LBR is in use by perf",
	[BTS_ERR_NO_MEMORY]	= "No memory",
	[BTS_ERR_NO_DS_AREA]	= "A CPU has no DS area",
};

static enum bts_err bts_err_of(int ret)
{
	switch (ret) {
	case -EBUSY:
		return BTS_ERR_BUSY;
	case -ENOMEM:
		return BTS_ERR_NO_MEMORY;
	case -EIO:
		return BTS_ERR_NO_DS_AREA;
	default:
		return BTS_ERR_NO_BTS;
	}
}

static void bts_free(struct bts_instance *b)
{
	bts_pids_free(&b->mapped);
	bts_pids_free(&b->telling);
	free_percpu(b->cpu);
	kfree(b);
}

static struct bts_instance *bts_alloc(struct trace_array *tr)
{
	struct bts_instance *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	b->tr = tr;
	b->flags = tracer_flags_of(tr, &bts_tracer);
	b->cpu = alloc_percpu(struct bts_cpu);
	if (b->flags && b->cpu)
		return b;
	bts_free(b);
	return NULL;
}

/**
 * trace_bts_free - an instance is removed
 * @tr: the trace array, which has another tracer by now
 */
void trace_bts_free(struct trace_array *tr)
{
	if (!tr->bts)
		return;
	bts_free_backlogs(tr->bts);
	bts_free(tr->bts);
}

/* Counters are kept when the tracer is left, and begin anew here. */
static int bts_prepare(struct trace_array *tr)
{
	struct bts_instance *b = tr->bts;
	int cpu;

	if (!b) {
		b = bts_alloc(tr);
		if (!b)
			return -ENOMEM;
		/* Whoever reads the counters finds them set up. */
		smp_store_release(&tr->bts, b);
	}
	for_each_possible_cpu(cpu) {
		struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

		*c = (struct bts_cpu){
			.backlog	= c->backlog,
			.oldest		= BTS_NONE_HELD,
		};
	}
	bts_map_forget(b);
	WRITE_ONCE(b->tracing, tracer_tracing_is_on(tr));
	return 0;
}

/* The first instance takes the hardware. */
static int bts_claim(void)
{
	int ret;

	if (!list_empty(&bts_instances))
		return 0;

	ret = bts_map_attach();
	if (ret)
		return ret;

	ret = ds_bts_claim(&bts_client);
	if (ret)
		goto err_map;

	ret = register_trace_prio_sched_switch(bts_probe_sched_switch, NULL,
					       TRACEPOINT_DEFAULT_PRIO - 1);
	if (ret)
		goto err_claim;
	return 0;

err_claim:
	ds_bts_release();
err_map:
	bts_map_detach();
	return ret;
}

/* The last one gives it back. Nobody looks at those that have gone any more. */
static void bts_release(void)
{
	if (!list_empty(&bts_instances)) {
		synchronize_rcu();
		return;
	}
	unregister_trace_sched_switch(bts_probe_sched_switch, NULL);
	tracepoint_synchronize_unregister();
	ds_bts_release();
	bts_map_detach();
}

static int bts_init(struct trace_array *tr)
{
	int ret;

	ret = bts_prepare(tr);
	if (ret)
		goto err;
	ret = bts_set_blocking(tr->bts, tr->bts->flags->val & BTS_OPT_BLOCK);
	if (ret)
		goto err;
	ret = bts_claim();
	if (ret)
		goto err_blocking;

	list_add_tail_rcu(&tr->bts->list, &bts_instances);
	ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;

err_blocking:
	bts_set_blocking(tr->bts, false);
err:
	tracing_log_err(tr, "bts", "bts", bts_errs, bts_err_of(ret), 0);
	return ret;
}

/* Nobody can write what CPUs hold that have gone offline. */
static void bts_drop_offline(struct bts_instance *b)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

		bts_count(&c->dropped_off, bts_held(c));
		WRITE_ONCE(c->backlog_out, c->backlog_in);
		WRITE_ONCE(c->oldest, BTS_NONE_HELD);
	}
}

static void bts_reset(struct trace_array *tr)
{
	bts_stop(tr);
	bts_set_blocking(tr->bts, false);
	list_del_rcu(&tr->bts->list);
	bts_release();
	bts_drop_offline(tr->bts);
}

/* Context: process context; the tracer is chosen and stays so. */
static void bts_flush(struct trace_array *tr)
{
	ds_bts_flush_all();
}

/* The ring buffer is about to go off, or to be a snapshot. Context: any. */
static void bts_flush_cpu(struct trace_array *tr)
{
	ds_bts_flush_cpu((unsigned long)bts_flush_cpu, _RET_IP_);
}

/*
 * Oops or panic: what the CPUs have recorded is what somebody will want to see.
 * The first instance that is asked does it for all.
 * Context: any; the ring buffer is switched off next.
 */
static void bts_crash(struct trace_array *tr)
{
	struct bts_instance *b;

	if (!READ_ONCE(tr->bts->tracing))
		return;
	list_for_each_entry_rcu(b, &bts_instances, list, true)
		WRITE_ONCE(b->tracing, false);
	ds_bts_crash();
}

static void bts_print_header(struct seq_file *m)
{
	seq_puts(m, "# a row is a taken branch, FROM -> TO; TIMESTAMP tells when it was drained\n");
	trace_default_header(m);
}

static struct tracer bts_tracer __read_mostly = {
	.name		 = "bts",
	.init		 = bts_init,
	.reset		 = bts_reset,
	.start		 = bts_start,
	.stop		 = bts_stop,
	.turned_on	 = bts_turned_on,
	.targets_changed = bts_targets_changed,
	.flush		 = bts_flush,
	.flush_cpu	 = bts_flush_cpu,
	.crash		 = bts_crash,
	.print_header	 = bts_print_header,
	.flags		 = &bts_flags,
	.set_flag	 = bts_set_flag,
#ifdef CONFIG_FTRACE_SELFTEST
	.selftest	 = trace_selftest_startup_bts,
#endif
	.flag_changed	 = bts_flag_changed,
	.reader		 = bts_reader,
	.allow_instances = true,
	.instance_flags	 = true,
};

static int __init bts_register(void)
{
	int ret;

	ret = bts_register_events();
	if (ret)
		return ret;

	if (!ds_bts_available()) {
		pr_info("no Branch Trace Store in this machine: no bts tracer\n");
		return 0;
	}

	ret = register_tracer(&bts_tracer);
	if (ret)
		pr_warn("cannot register the tracer: %d\n", ret);
	return ret;
}
core_initcall(bts_register);

#ifdef CONFIG_BTS_TRACER_KUNIT_TEST
#include "trace_bts_kunit.c"
#endif
