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
 * per task. What: options bts-user and bts-kernel, which bts_wanted() applies
 * to addresses; with bts-cpl-filter the hardware leaves out the other side.
 *
 * Time and context columns of a row are those of the drain, not the branch's.
 *
 * Concurrency:
 *
 *	- bts_records() and bts_mode() run on the CPU concerned with interrupts
 *	  off; bts_records() in NMI as well, but never nested in itself: ds.c sees
 *	  to that. So a CPU's counters (struct bts_cpu) have one writer at a time;
 *	  readers use READ_ONCE() and may be a batch behind.
 *	- bts_tracing and the options are written under trace_types_lock and read
 *	  anywhere. Each such write is followed by ds_bts_update_all(), an
 *	  interrupt on each CPU, so that it holds everywhere when it returns.
 *	- The PID lists are ftrace's, under RCU; bts_mode_of() runs with
 *	  preemption off. A change of them calls bts_targets_changed().
 *
 * Losses. Whatever is not delivered is counted, and where it can be shown
 * in the trace it is (struct bts_lost_entry): entries the ring buffer had no
 * room for, before the next one that fits; a full DS buffer, where it
 * happened, though its number cannot be known. With "overwrite" the ring buffer
 * drops its oldest entries and reports that itself.
 *
 * What it cannot see is told in ds.c and Documentation/trace/bts.rst.
 */

#define pr_fmt(fmt) "bts: " fmt

#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include <trace/events/sched.h>

#include "trace_bts.h"

DEFINE_PER_CPU(struct bts_cpu, bts_cpu);

struct trace_array *bts_trace;

/* Tracing is on: the tracer is chosen, and tracing_on is 1. */
static bool bts_tracing;

enum {
	BTS_OPT_USER	= DS_BTS_USER,
	BTS_OPT_KERNEL	= DS_BTS_KERNEL,
	BTS_OPT_FILTER	= DS_BTS_CPL_FILTER,
};

static struct tracer_opt bts_opts[] = {
	/* Branches with an end in user space */
	{ .name = "bts-user", .bit = BTS_OPT_USER },
	/* Branches with an end in the kernel */
	{ .name = "bts-kernel", .bit = BTS_OPT_KERNEL },
	/* The hardware leaves the other side out; see asm/ds.h for the price */
	{ .name = "bts-cpl-filter", .bit = BTS_OPT_FILTER },
	{ }
};

static struct tracer_flags bts_flags = {
	.val	= BTS_OPT_USER | BTS_OPT_KERNEL,
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

/* Context: preemption off; what to record while @task runs on this CPU. */
static unsigned int bts_mode_of(struct trace_array *tr, struct task_struct *task)
{
	struct trace_pid_list *pids, *no_pids;

	if (!READ_ONCE(bts_tracing))
		return DS_BTS_OFF;
	if (!cpumask_test_cpu(smp_processor_id(), tr->tracing_cpumask))
		return DS_BTS_OFF;

	pids = rcu_dereference_sched(tr->function_pids);
	no_pids = rcu_dereference_sched(tr->function_no_pids);
	if (trace_ignore_this_task(pids, no_pids, task))
		return DS_BTS_OFF;

	return READ_ONCE(bts_flags.val);
}

static unsigned int bts_mode(struct task_struct *task)
{
	return bts_mode_of(bts_trace, task);
}

/* Count what the CPU's only writer counts, for readers elsewhere. */
static void bts_count(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/* Context: as bts_records(). @count is 0 where nobody knows. */
static bool bts_write_lost(struct trace_buffer *buffer, unsigned int ctx,
			   unsigned int cause, u64 count)
{
	struct ring_buffer_event *event;
	struct bts_lost_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_BTS_LOST,
					  sizeof(*entry), ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->count = count;
	entry->cause = cause;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/* Context: as bts_records(). */
static bool bts_write_branch(struct trace_buffer *buffer, unsigned int ctx,
			     const struct ds_bts_record *rec)
{
	struct ring_buffer_event *event;
	struct bts_branch_entry *entry;

	event = trace_buffer_lock_reserve(buffer, TRACE_BTS, sizeof(*entry),
					  ctx);
	if (!event)
		return false;
	entry = ring_buffer_event_data(event);
	entry->from = rec->from;
	entry->to = rec->to;
	trace_buffer_unlock_commit_nostack(buffer, event);
	return true;
}

/* Is it because it was told to that the ring buffer takes nothing? */
static bool bts_is_off(struct trace_array *tr)
{
	struct trace_array_cpu *data = this_cpu_ptr(tr->array_buffer.data);

	return !tracer_tracing_is_on(tr) || atomic_read(&data->disabled);
}

/*
 * Write a record, and what was lost before it. A branch must not stand in
 * front of the losses that came before it, so it shares their fate.
 */
static void bts_deliver(struct trace_array *tr, struct bts_cpu *c,
			unsigned int ctx, const struct ds_bts_record *rec)
{
	struct trace_buffer *buffer = tr->array_buffer.buffer;

	if (c->lost &&
	    bts_write_lost(buffer, ctx, BTS_LOST_RING_BUFFER, c->lost))
		c->lost = 0;

	if (!c->lost && bts_write_branch(buffer, ctx, rec)) {
		bts_count(&c->delivered, 1);
		return;
	}

	if (bts_is_off(tr)) {
		bts_count(&c->dropped_off, 1);
		return;
	}
	bts_count(&c->dropped_ring_buffer, 1);
	c->lost++;
}

/*
 * A batch of this CPU, from ds.c.
 * Context: interrupts off, up to NMI, not nested; bounded by the DS buffer.
 */
static void bts_records(const struct ds_bts_batch *batch)
{
	struct bts_cpu *c = this_cpu_ptr(&bts_cpu);
	unsigned int mode = READ_ONCE(bts_flags.val);
	struct trace_array *tr = bts_trace;
	unsigned int ctx = tracing_gen_ctx();
	unsigned int i;

	bts_count(&c->drains[batch->cause], 1);
	bts_count(&c->records, batch->nr + batch->own);
	bts_count(&c->own, batch->own);

	for (i = 0; i < batch->nr; i++) {
		if (bts_wanted(mode, &batch->rec[i]))
			bts_deliver(tr, c, ctx, &batch->rec[i]);
		else
			bts_count(&c->filtered, 1);
	}

	if (batch->full) {
		bts_count(&c->buffer_full, 1);
		bts_write_lost(tr->array_buffer.buffer, ctx,
			       BTS_LOST_DS_BUFFER, 0);
	}
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
	ds_bts_enter();
	ds_bts_switch(next, _RET_IP_);
}

static const struct ds_bts_client bts_client = {
	.entry		= (unsigned long)bts_probe_sched_switch,
	.records	= bts_records,
	.mode		= bts_mode,
};

/* The rest is called by ftrace with trace_types_lock held. */

static void bts_start(struct trace_array *tr)
{
	WRITE_ONCE(bts_tracing, true);
	ds_bts_update_all(DS_DRAIN_FLUSH);
}

/* The ring buffer is still on, so that what is drained now goes into it. */
static void bts_stop(struct trace_array *tr)
{
	WRITE_ONCE(bts_tracing, false);
	ds_bts_update_all(DS_DRAIN_STOP);
}

static void bts_targets_changed(struct trace_array *tr)
{
	ds_bts_update_all(DS_DRAIN_FLUSH);
}

/* What is recorded so far was recorded under the old flags: hand it over. */
static int bts_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	if (bts_trace)
		ds_bts_flush_all();
	WRITE_ONCE(bts_flags.val, set ? old_flags | bit : old_flags & ~bit);
	if (bts_trace)
		ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;
}

static void bts_reset_counters(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&bts_cpu, cpu), 0, sizeof(struct bts_cpu));
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
	[BTS_ERR_NO_MEMORY]	= "No memory for the DS buffers",
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

static int bts_init(struct trace_array *tr)
{
	int ret;

	bts_reset_counters();
	bts_trace = tr;
	WRITE_ONCE(bts_tracing, tracer_tracing_is_on(tr));

	ret = ds_bts_claim(&bts_client);
	if (ret) {
		tracing_log_err(tr, "bts", "bts", bts_errs, bts_err_of(ret), 0);
		goto err_trace;
	}

	ret = register_trace_sched_switch(bts_probe_sched_switch, tr);
	if (ret)
		goto err_claim;

	tracing_start_cmdline_record();
	/* A CPU that switched tasks before the probe was there is put right. */
	ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;

err_claim:
	ds_bts_release();
err_trace:
	WRITE_ONCE(bts_tracing, false);
	bts_trace = NULL;
	return ret;
}

static void bts_reset(struct trace_array *tr)
{
	bts_stop(tr);
	unregister_trace_sched_switch(bts_probe_sched_switch, tr);
	tracepoint_synchronize_unregister();
	ds_bts_release();
	tracing_stop_cmdline_record();
	bts_trace = NULL;
}

static void bts_flush(struct trace_array *tr)
{
	ds_bts_flush_all();
}

/*
 * Oops or panic: what the CPUs have recorded is what somebody will want to see.
 * Context: any; the ring buffer is switched off next.
 */
static void bts_crash(struct trace_array *tr)
{
	WRITE_ONCE(bts_tracing, false);
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
	.targets_changed = bts_targets_changed,
	.flush		 = bts_flush,
	.crash		 = bts_crash,
	.print_header	 = bts_print_header,
	.flags		 = &bts_flags,
	.set_flag	 = bts_set_flag,
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
