// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: trace every taken branch of the chosen tasks, in user space and the kernel
 *
 * The trace has a row for each branch that a traced task took. The rows of a CPU are in the
 * order in which the CPU took the branches:
 *
 *	prog-74  [001] d.Z..  3.141592: 0x401004 -> 0x401020
 *	prog-74  [001] d.Z..  3.141593: do_syscall_64+0x6f/0x140 -> ...
 *
 * Each CPU writes records of its branches into its DS buffer (asm/ds.h). When the number of
 * records reaches the threshold, or when the records are needed earlier, they are drained into
 * ftrace's ring buffer. Each record becomes one entry (struct bts_branch_entry) or, with bts-pack,
 * part of a pack:
 *
 *	branch -> DS buffer -> threshold: NMI ----------\
 *	                    -> the CPU switches tasks ---+-> driver -> bts_records()
 *	                    -> read, stop, new targets -/               |
 *	            trace, trace_pipe <- ring buffer <- bts_deliver() <-/
 *
 * filter.c selects the tasks and the branches to record. A probe on sched_switch drains the
 * records of the leaving task, so that each entry has the right PID. The probe also switches the
 * hardware on or off for the next task. The tracer keeps no state per task. At a switch between two
 * untraced tasks, the probe tests whether ftrace ignores the next task, and usually does nothing
 * else. With bts-cpl-filter, the hardware does not store the branches of a side (user space or
 * kernel) that no instance records. With bts-circular, the hardware overwrites old branches.
 *
 * Function calls go only down this list, from each file to the files in lower rows:
 *
 *	bts.c		tasks, options, batches
 *	sync.c		brings the ring buffer up to date; starts and stops recording
 *	map.c		mappings		filter.c  selection
 *	block.c		makes tasks wait	sched.c   task switches
 *	write.c		writes branches, packs and losses into the ring buffer
 *	hold.c		backlogs of entries	departs.c
 *	loss.c		counters		event.c  pack.c  reader.c
 *	arch/x86/kernel/ds*.c	the hardware
 *
 * In addition, output.c prints entries with the help of unpack.c, and stats.c implements the
 * tracefs files.
 *
 * Each trace instance that chooses the tracer has its own options and counters (struct
 * bts_instance). The first instance claims the hardware, and the last one releases it. A CPU
 * records each branch that at least one instance wants, and delivers the branch only to the
 * instances that want it.
 *
 * Each row shows the time and the context of the drain, not those of the branch.
 *
 * Concurrency:
 *
 *	- The functions bts_records() and bts_turn() run with interrupts off, on the CPU whose
 *	  records they handle. Only bts_records() may run in an NMI. The driver never calls
 *	  bts_records() during bts_records() or bts_turn(). So an instance's data for a CPU (struct
 *	  bts_cpu) has one writer at a time. Other CPUs read this structure with READ_ONCE() and may
 *	  miss the latest batch.
 *	- bts_turn() sets bts_cpu.mode, the mode in which an instance records the CPU's task. Before
 *	  the driver calls bts_turn(), it passes all earlier records to bts_records(). So when
 *	  bts_records() runs, bts_cpu.mode is still the mode in which the batch was recorded.
 *	- The list bts_instances is changed under trace_types_lock and read under RCU. An NMI needs
 *	  no rcu_read_lock(), because interrupts are off. An instance that switches to another
 *	  tracer leaves the list, and is not reset or freed until a grace period has passed.
 *	- The options and bts_instance.tracing are written under trace_types_lock and read in any
 *	  context. After each write, the writer calls ds_bts_update_all(), which interrupts all CPUs
 *	  and returns once every CPU uses the new value. The exceptions are bts_sync_on(), which
 *	  sets bts_instance.tracing, and bts_crash(), which clears it. They may run in any
 *	  context, so they take no lock.
 *
 * Losses. Each loss is counted. When the ring buffer has room again, an entry about the loss
 * (struct bts_lost_entry) is written before any later branch. The causes are in enum
 * bts_lost_cause. If the DS buffer is full or has wrapped, the number of lost branches is unknown.
 * With "overwrite", the ring buffer drops old entries and reports this loss itself. With bts-block,
 * the traced tasks wait for the reader: see block.c.
 *
 * The branches that the tracer cannot see are listed in ds_cpu.c and
 * Documentation/trace/bts.rst.
 */

#define pr_fmt(fmt) "bts: " fmt

#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <kunit/visibility.h>

#include <trace/events/sched.h>

#include "bts.h"

LIST_HEAD(bts_instances);

/*
 * The PID of the task whose branches this CPU records. At a task switch, bts_turn() stores the PID
 * of the next task while current is still the previous task. If an NMI drains the buffer before
 * current changes, the branches get this PID, not current->pid.
 */
static DEFINE_PER_CPU(pid_t, bts_pid);

/* The task of bts_pid. A switch between untraced tasks changes neither bts_pid nor bts_task. */
static DEFINE_PER_CPU(struct task_struct *, bts_task);

/* True if no instance wants this CPU's current task, so that the CPU records nothing. */
static DEFINE_PER_CPU(bool, bts_unwanted);

static struct tracer_opt bts_opts[] = {
	/* Record branches that begin or end in user space */
	{ .name = "bts-user", .bit = DS_BTS_USER },
	/* Record branches that begin or end in the kernel */
	{ .name = "bts-kernel", .bit = DS_BTS_KERNEL },
	/* Let the hardware omit unwanted branches. It then also omits some crossings (asm/ds.h) */
	{ .name = "bts-cpl-filter", .bit = DS_BTS_CPL_FILTER },
	/* Let the DS buffer wrap without interrupts and keep only the latest branches */
	{ .name = "bts-circular", .bit = DS_BTS_CIRCULAR },
	/* Make tasks wait until their branches have been read */
	{ .name = "bts-block", .bit = BTS_OPT_BLOCK },
	/* Show task switches in rows of bts_departs and bts_arrives */
	{ .name = "bts-sched", .bit = BTS_OPT_SCHED },
	/* Show executable mappings in rows of bts_map */
	{ .name = "bts-map", .bit = BTS_OPT_MAP },
	/* Drain before each event, so that the event follows the branches that led to it */
	{ .name = "bts-sync", .bit = BTS_OPT_SYNC },
	/* Pack many branches into one entry of the ring buffer */
	{ .name = "bts-pack", .bit = BTS_OPT_PACK },
	{ }
};

static struct tracer_flags bts_flags = {
	.val	= BTS_SIDES | (BTS_HAS_MAPS ? BTS_OPT_MAP : 0),
	.opts	= bts_opts,
};

/*
 * Choose which branches of @task an instance will record. If @switches is true, also write the rows
 * about the task switch. Return: DS_BTS_OFF or the instance's options. The options may include
 * BTS_OPT_SCHED or BTS_OPT_MAP even if they include neither DS_BTS_USER nor DS_BTS_KERNEL.
 */
static unsigned int bts_turn_instance(struct bts_instance *b, struct task_struct *task,
				      bool switches)
{
	struct bts_cpu *c = this_cpu_ptr(b->cpu);
	unsigned int mode = bts_mode_of(b, task);

	if (switches) {
		if ((c->mode | mode) & BTS_OPT_SCHED)
			bts_sched_rows(b, c, task, mode);
		bts_map_switch(b, task);
	}
	if (mode & BTS_OPT_MAP)
		bts_map_request(b, task);
	WRITE_ONCE(c->mode, mode);
	if ((mode & BTS_SIDES) && bts_any_held(b))
		bts_check_task(task);
	return mode;
}

/*
 * Prepare to record the next task, or the current task in a new mode. Called by the driver.
 * Return: the sides (DS_BTS_USER, DS_BTS_KERNEL) that at least one instance records. The value also
 * includes DS_BTS_CPL_FILTER if all instances that record the task's branches use bts-cpl-filter,
 * and DS_BTS_CIRCULAR if all instances that record the task's branches use bts-circular.
 * Context: interrupts off; bts_records() has already received all earlier records.
 */
static unsigned int bts_turn(struct task_struct *task)
{
	unsigned int less = DS_BTS_CPL_FILTER | DS_BTS_CIRCULAR;
	unsigned int mode, modes = DS_BTS_OFF;
	bool switches = task != current;
	struct bts_instance *b;

	this_cpu_write(bts_pid, task->pid);
	this_cpu_write(bts_task, task);
	this_cpu_write(bts_maps_due, false);
	for_each_bts_instance(b) {
		mode = bts_turn_instance(b, task, switches);
		modes |= mode;
		if (mode & BTS_SIDES)
			less &= mode;
	}
	this_cpu_write(bts_unwanted, modes == DS_BTS_OFF);
	modes &= BTS_SIDES;
	return modes ? modes | less : DS_BTS_OFF;
}

/* Count the losses since a batch's last branch. If recording stops, all instances count a loss. */
static void bts_lose_batch(struct bts_cpu *c, const struct ds_bts_batch *batch,
			   pid_t pid)
{
	bool traced = c->mode & BTS_SIDES;
	bool full = traced && batch->full;
	bool cleared = traced && batch->cleared;

	if (full)
		bts_lose(c, BTS_LOST_DS_BUFFER, 0, pid);
	if (cleared)
		bts_lose(c, BTS_LOST_CLEARED, 0, pid);
	if (batch->stopped)
		bts_lose(c, BTS_LOST_STOPPED, 0, pid);
	if (full || cleared || batch->stopped)
		bts_show_losses(c, false);
}

/*
 * Count a batch, and deliver it if the instance traces the batch's task.
 * Context: the same as for bts_records().
 */
static void bts_deliver_batch(struct bts_instance *b, const struct ds_bts_batch *batch,
			      unsigned int trace_ctx)
{
	struct bts_cpu *c = this_cpu_ptr(b->cpu);
	pid_t pid = this_cpu_read(bts_pid);
	unsigned int nr = ds_bts_nr(batch);
	bool wanted = c->mode & BTS_SIDES;
	struct task_struct *task = wanted ? this_cpu_read(bts_task) : current;
	unsigned int i;

	bts_begin(b, c, task, false);

	if (nr || batch->own || batch->cause == DS_DRAIN_INTERRUPT)
		bts_count(&c->counts.drains[batch->cause], 1);
	bts_count(&c->counts.records, nr + batch->own + batch->discarded);
	bts_count(&c->counts.own, batch->own);

	if (wanted && batch->discarded)
		bts_lose(c, BTS_LOST_LATE, batch->discarded, pid);
	if (wanted && batch->wrapped)
		bts_lose(c, BTS_LOST_OVERWRITTEN, 0, pid);
	if (batch->dead && !c->loss.cause[BTS_LOST_DEAD].total)
		bts_lose(c, BTS_LOST_DEAD, 0, pid);
	bts_show_losses(c, false);
	if (!wanted) {
		bts_count(&c->counts.filtered, nr + batch->discarded);
		bts_lose_batch(c, batch, pid);
		return;
	}
	bts_count(&c->counts.unsure, batch->unsure);

	tracing_generic_entry_update(&c->write.ent, TRACE_BTS, trace_ctx);
	c->write.ent.pid = pid;
	for (i = 0; i < ARRAY_SIZE(batch->slice); i++)
		bts_filter_slice(b, c, &batch->slice[i]);
	bts_end_pack(b, c);
	bts_lose_batch(c, batch, pid);
	if (bts_held(c) && batch->cause != DS_DRAIN_SWITCH)
		bts_check_task(task);
}

/*
 * Report whether a CPU has pending losses or held entries. The driver calls this function.
 * Context: preemption off.
 */
static bool bts_pending(int cpu)
{
	struct bts_instance *b;

	for_each_bts_instance(b) {
		struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

		if (bts_held(c) || READ_ONCE(c->loss.pending))
			return true;
	}
	return false;
}

/*
 * Save the name of the current task, so that rows can show it. Do not use
 * tracing_start_cmdline_record(), which would run a probe at every task switch. ftrace asserts that
 * preemption is off. Interrupts are off, but lockdep may not know this, so disable preemption, too.
 */
static void bts_save_name(void)
{
	if (in_nmi())
		return;
	guard(preempt_notrace)();
	tracing_record_cmdline(current);
}

/*
 * Handle the records of a drain of this CPU. The driver calls this function. The run time is
 * bounded by the size of the DS buffer and the number of instances.
 * Context: interrupts off; may be an NMI; not nested.
 */
static void bts_records(const struct ds_bts_batch *batch)
{
	/* Read the context once, so that all branches of the batch show the same context. */
	unsigned int trace_ctx = tracing_gen_ctx();
	struct bts_instance *b;

	for_each_bts_instance(b)
		bts_deliver_batch(b, batch, trace_ctx);
	/* If rows of mappings are due, set TIF_NOTIFY_RESUME again: KVM may have cleared it. */
	if (batch->cause != DS_DRAIN_SWITCH && this_cpu_read(bts_maps_due))
		bts_check_task(current);
	bts_save_name();
}

/*
 * Context: in the scheduler, with the runqueue locked and interrupts off; current is still
 * @prev. This probe takes no lock except the locks of the PID lists.
 */
static __ds_text void bts_probe_sched_switch(void *data, bool preempt,
					     struct task_struct *prev,
					     struct task_struct *next,
					     unsigned int prev_state)
{
	bool unwanted = raw_cpu_read(bts_unwanted);

	/* If bts_unwanted is true, BTS is off, so this probe may call any code (see __ds_text). */
	if (unwanted) {
		instrumentation_begin();
		unwanted = bts_is_unwanted(next);
		instrumentation_end();
	}
	if (unwanted)
		return;
	if (ds_bts_pause()) {
		bts_sched_leave(preempt, prev_state);
		ds_bts_drain(DS_DRAIN_SWITCH);
		ds_bts_ask(next);
		ds_bts_resume();
	}
}

/*
 * ftrace's probes run before this probe, so ftrace's PID lists are already up to date.
 * Context: the same as for sched_exec_pid_tp, so interrupts are off and tasklist_lock is held.
 */
static __ds_text void bts_probe_exec_pid(void *data, struct task_struct *leader,
					 struct task_struct *p)
{
	if (ds_bts_pause()) {
		/* The PID of @p has just changed. Deliver its earlier branches with the old PID. */
		ds_bts_drain(DS_DRAIN_FLUSH);
		ds_bts_ask(current);
		ds_bts_resume();
	}
}

/* Unless noted otherwise, ftrace calls the following functions with trace_types_lock held. */

/* The messages in error_log for enum ds_fault and enum bts_err. */
VISIBLE_IF_KUNIT const char *bts_errs[BTS_ERRS] = {
	[DS_FAULT_NO_AREA]	= "The CPU has no DS area",
	[DS_FAULT_REFUSED]	= "The CPU refuses BTS in DEBUGCTL",
	[DS_FAULT_NO_RECORD]	= "The CPU does not store a branch",
	[DS_FAULT_NO_INTERRUPT]	= "The CPU raises no interrupt at the threshold",
	[BTS_ERR_NO_BTS]	= "This machine has no Branch Trace Store",
	[BTS_ERR_BUSY]		= "BTS, LBR or Intel PT is in use by perf",
	[BTS_ERR_NO_MEMORY]	= "Out of memory",
	[BTS_ERR_NO_MAPS]	= "bts-map does not work with PREEMPT_RT",
};

/* Set or clear an option. Records that were stored earlier are delivered with the old options. */
static int bts_set_flag(struct trace_array *tr, u32 old_flags, u32 bit, int set)
{
	bool chosen = tr->bts && tr->bts->chosen;
	int ret;

	if (set && bit == BTS_OPT_MAP && !BTS_HAS_MAPS) {
		tracing_log_err(tr, "bts", "bts-map", bts_errs, BTS_ERR_NO_MAPS, 0);
		return -EOPNOTSUPP;
	}
	if (set && bit == BTS_OPT_PACK) {
		ret = bts_prepare_dump();
		if (!ret && chosen)
			ret = bts_alloc_packers(tr->bts);
		if (ret)
			return ret;
	}
	if (!chosen)
		return 0;
	if (bit == BTS_OPT_BLOCK) {
		ret = bts_set_blocking(tr->bts, set);
		if (ret)
			return ret;
	}

	/* Processes may have made mappings while bts-map was off, so show all mappings again. */
	if (set && bit == BTS_OPT_MAP)
		bts_map_forget(tr->bts);
	WRITE_ONCE(tr->current_trace_flags->val, set ? old_flags | bit : old_flags & ~bit);
	ds_bts_update_all(DS_DRAIN_FLUSH);
	ds_bts_flush_all();
	bts_wake(tr->bts);
	return 0;
}

/* Refuse "overwrite" with bts-block: it would drop old entries, so no task would wait for room. */
static int bts_flag_changed(struct trace_array *tr, u64 mask, int set)
{
	if (mask == TRACE_ITER(OVERWRITE) && set && tr->bts->blocking)
		return -EINVAL;
	return 0;
}

VISIBLE_IF_KUNIT enum bts_err bts_err_of(int ret)
{
	switch (ret) {
	case -EBUSY:
		return BTS_ERR_BUSY;
	case -ENOMEM:
		return BTS_ERR_NO_MEMORY;
	default:
		return BTS_ERR_NO_BTS;
	}
}

/* Log the CPUs whose BTS does not work. BTS may fail on some CPUs of a hybrid processor or VM. */
static void bts_log_faults(struct trace_array *tr)
{
	char loc[16];
	int cpu;

	for_each_online_cpu(cpu) {
		enum ds_fault fault = ds_bts_fault(cpu);

		if (!fault)
			continue;
		snprintf(loc, sizeof(loc), "bts: CPU %d", cpu);
		tracing_log_err(tr, loc, "bts", bts_errs, fault, 0);
	}
}

static void bts_free(struct bts_instance *b)
{
	irq_work_sync(&b->wake);
	trace_pid_list_free(b->showing);
	trace_pid_list_free(b->mapped);
	free_percpu(b->cpu);
	kfree(b);
}

static struct bts_instance *bts_alloc(struct trace_array *tr)
{
	struct bts_instance *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return NULL;
	b->tr = tr;
	init_irq_work(&b->wake, bts_wake_tasks);
	b->cpu = alloc_percpu(struct bts_cpu);
	b->mapped = trace_pid_list_alloc();
	b->showing = trace_pid_list_alloc();
	if (b->cpu && b->mapped && b->showing)
		return b;
	bts_free(b);
	return NULL;
}

/**
 * trace_bts_free - free the tracer's data for a trace array that is about to be removed
 * @tr: the trace array, whose current tracer must not be bts
 */
void trace_bts_free(struct trace_array *tr)
{
	if (tr->bts)
		bts_free(tr->bts);
}

/* Return an instance's data. The first call allocates the data, and trace_bts_free() frees it. */
static struct bts_instance *bts_get(struct trace_array *tr)
{
	if (!tr->bts) {
		/* Pairs with bts_stats_show(), which must find the counters initialized. */
		smp_store_release(&tr->bts, bts_alloc(tr));
	}
	if (tr->bts)
		tr->bts->flags = tr->current_trace_flags;
	return tr->bts;
}

/* Clear the state of an instance, which may have used the tracer before. */
static void bts_prepare(struct trace_array *tr)
{
	struct bts_instance *b = tr->bts;
	int cpu;

	/* Block CPU hotplug, which allocates a new CPU's packer and backlog. */
	guard(cpus_read_lock)();
	for_each_possible_cpu(cpu) {
		struct bts_cpu *c = per_cpu_ptr(b->cpu, cpu);

		*c = (struct bts_cpu){
			.write.packer	= c->write.packer,
			.hold.backlog	= c->hold.backlog,
			.hold.oldest	= BTS_NONE_HELD,
		};
	}
	bts_map_forget(b);
	WRITE_ONCE(b->tracing, tracer_tracing_is_on(tr));
}

static const struct ds_bts_ops bts_ds_ops = {
	.records	= bts_records,
	.turn		= bts_turn,
	.pending	= bts_pending,
};

static int bts_claim(struct trace_array *tr)
{
	int ret;

	if (!list_empty(&bts_instances))
		return 0;

	ret = bts_map_attach();
	if (ret)
		return ret;

	ret = ds_bts_claim(&bts_ds_ops);
	if (ret)
		goto err_map;

	ret = register_trace_prio_sched_switch(bts_probe_sched_switch, NULL,
					       TRACEPOINT_DEFAULT_PRIO - 1);
	if (ret)
		goto err_claim;
	ret = register_trace_prio_sched_exec_pid_tp(bts_probe_exec_pid, NULL,
						    TRACEPOINT_DEFAULT_PRIO - 1);
	if (ret)
		goto err_switch;
	return 0;

err_switch:
	unregister_trace_sched_switch(bts_probe_sched_switch, NULL);
	tracepoint_synchronize_unregister();
err_claim:
	ds_bts_release();
err_map:
	bts_map_detach();
	return ret;
}

/* Release the hardware if no instance needs it. On return, no CPU uses a removed instance. */
static void bts_release(void)
{
	if (!list_empty(&bts_instances)) {
		synchronize_rcu();
		return;
	}
	unregister_trace_sched_exec_pid_tp(bts_probe_exec_pid, NULL);
	unregister_trace_sched_switch(bts_probe_sched_switch, NULL);
	tracepoint_synchronize_unregister();
	ds_bts_release();
	bts_map_detach();
}

/* Call this only when no CPU uses the instance. */
static void bts_free_memory(struct bts_instance *b)
{
	bts_free_backlogs(b);
	bts_free_packers(b);
}

/* First do the steps that can fail, so that a failure changes nothing. */
static int bts_init(struct trace_array *tr)
{
	int ret = -ENOMEM;

	if (!bts_get(tr))
		goto err;
	ret = bts_claim(tr);
	if (!ret || ret == -EIO)
		bts_log_faults(tr);
	if (ret)
		goto err;
	if (tr->bts->flags->val & BTS_OPT_PACK)
		ret = bts_alloc_packers(tr->bts);
	if (ret)
		goto err_claim;
	ret = bts_set_blocking(tr->bts, tr->bts->flags->val & BTS_OPT_BLOCK);
	if (ret)
		goto err_claim;

	bts_prepare(tr);
	WRITE_ONCE(tr->bts->chosen, true);
	list_add_tail_rcu(&tr->bts->list, &bts_instances);
	static_branch_inc(&tracer_sync_key);
	ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;

err_claim:
	bts_release();
	bts_free_memory(tr->bts);
err:
	if (ret != -EIO)
		tracing_log_err(tr, "bts", "bts", bts_errs, bts_err_of(ret), 0);
	return ret;
}

static void bts_reset(struct trace_array *tr)
{
	bts_stop(tr->bts);
	static_branch_dec(&tracer_sync_key);
	bts_set_blocking(tr->bts, false);
	list_del_rcu(&tr->bts->list);
	WRITE_ONCE(tr->bts->chosen, false);
	bts_release();
	bts_free_memory(tr->bts);
}

static void bts_print_header(struct seq_file *m)
{
	seq_puts(m, "# a row is a taken branch, FROM -> TO; TIMESTAMP is that of the drain\n");
	trace_default_header(m);
}

static struct tracer bts_tracer __read_mostly = {
	.name		 = "bts",
	.init		 = bts_init,
	.reset		 = bts_reset,
	.sync		 = bts_sync,
	.print_header	 = bts_print_header,
	.default_flags	 = &bts_flags,
	.set_flag	 = bts_set_flag,
#ifdef CONFIG_FTRACE_STARTUP_TEST
	.selftest	 = trace_selftest_startup_bts,
#endif
	.flag_changed	 = bts_flag_changed,
	.reader		 = bts_reader,
	.allow_instances = true,
};

/* Empty the backlog of a CPU that goes offline: see bts_may_hold(). Context: on @cpu. */
static int bts_cpu_offline(unsigned int cpu)
{
	ds_bts_flush_cpu();
	return 0;
}

static int __init bts_register(void)
{
	int ret;

	ret = bts_register_events();
	if (ret)
		return ret;
	/* Make ftrace create the file events/ftrace/bts_branch/filter: see bts_filter(). */
	event_bts_branch.flags |= TRACE_EVENT_FL_TRACER_FILTERS;

	if (!ds_bts_available()) {
		pr_info("no Branch Trace Store in this machine, so the tracer is not available\n");
		return 0;
	}

	ret = bts_register_hold() ?: bts_register_packs();
	if (ret)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "trace/bts:online", NULL,
					bts_cpu_offline);
	if (ret < 0)
		return ret;
	ret = register_tracer(&bts_tracer);
	if (ret)
		pr_warn("cannot register the tracer: %d\n", ret);
	return ret;
}
core_initcall(bts_register);
