// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: implement the files bts_stats, per_cpu/cpuN/bts_stats and bts_threshold
 */

#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/seq_file.h>

#include "bts.h"

/**
 * struct bts_stat - a line of bts_stats that shows a counter
 * @name:	the name in the line
 * @offset:	the counter's offset in struct bts_cpu
 */
struct bts_stat {
	const char	*name;
	size_t		offset;
};

/* The counters of records. The names of the loss counters are in bts_causes[]. */
static const struct bts_stat bts_record_stats[] = {
	{ "records",		offsetof(struct bts_cpu, counts.records) },
	{ "delivered",		offsetof(struct bts_cpu, counts.delivered) },
	{ "filtered",		offsetof(struct bts_cpu, counts.filtered) },
	{ "own",		offsetof(struct bts_cpu, counts.own) },
	{ "held",		offsetof(struct bts_cpu, hold.branches) },
	{ "dropped_off",	offsetof(struct bts_cpu, counts.dropped_off) },
};

static const struct bts_stat bts_other_stats[] = {
	{ "unsure",		offsetof(struct bts_cpu, counts.unsure) },
	{ "packs",		offsetof(struct bts_cpu, counts.packs) },
	{ "pack_bytes",		offsetof(struct bts_cpu, counts.pack_bytes) },
	{ "rows",		offsetof(struct bts_cpu, counts.rows) },
	{ "rows_held",		offsetof(struct bts_cpu, hold.rows) },
	{ "interrupts",
	  offsetof(struct bts_cpu, counts.drains[DS_DRAIN_INTERRUPT]) },
	{ "drains_switch",	offsetof(struct bts_cpu, counts.drains[DS_DRAIN_SWITCH]) },
	{ "drains_flush",	offsetof(struct bts_cpu, counts.drains[DS_DRAIN_FLUSH]) },
	{ "drains_stop",	offsetof(struct bts_cpu, counts.drains[DS_DRAIN_STOP]) },
	{ "drains_offline",
	  offsetof(struct bts_cpu, counts.drains[DS_DRAIN_OFFLINE]) },
	{ "drains_crash",	offsetof(struct bts_cpu, counts.drains[DS_DRAIN_CRASH]) },
	{ "blocked",		offsetof(struct bts_cpu, counts.blocked) },
	{ "blocked_ns",		offsetof(struct bts_cpu, counts.blocked_ns) },
};

/*
 * Print the sum of a counter over @cpus. If bts was never chosen in the instance, there are no
 * counters, so print 0.
 */
static void bts_show_stat(struct seq_file *m, struct bts_instance *b,
			  const struct cpumask *cpus, const char *name, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_cpu(cpu, cpus) {
		if (b)
			sum += READ_ONCE(*(u64 *)((void *)per_cpu_ptr(b->cpu, cpu) + offset));
	}
	seq_printf(m, "%s: %llu\n", name, sum);
}

/* Print what the driver has found out about behaviour that the SDM leaves open. */
static void bts_show_traits(struct seq_file *m, unsigned int traits)
{
	const char *pmi = "unknown";
	const char *cpl = "unknown";

	if (traits & DS_TRAIT_PMI_REPEATS)
		pmi = "each";
	else if (traits & DS_TRAIT_PMI_ONCE)
		pmi = "once";
	if (traits & DS_TRAIT_CPL_BEFORE)
		cpl = "before";
	else if (traits & DS_TRAIT_CPL_AFTER)
		cpl = "after";
	seq_printf(m, "hw_interrupt: %s\n", pmi);
	seq_printf(m, "hw_cpl_filter: %s\n", cpl);
}

/* Print the CPUs whose BTS does not work. */
static void bts_show_left_out(struct seq_file *m, const struct cpumask *cpus)
{
	const char *none = " none";
	int cpu;

	seq_puts(m, "cpus_left_out:");
	for_each_cpu_and(cpu, cpus, cpu_online_mask) {
		if (!ds_bts_fault(cpu))
			continue;
		seq_printf(m, " %d", cpu);
		none = "";
	}
	seq_printf(m, "%s\n", none);
}

static int bts_stats_show(struct seq_file *m, void *v)
{
	struct inode *inode = m->private;
	struct trace_array *tr = inode->i_private;
	/* Pairs with bts_get(), which initializes the counters. */
	struct bts_instance *b = smp_load_acquire(&tr->bts);
	int cpu = tracing_get_cpu(inode);
	const struct cpumask *cpus = cpu == RING_BUFFER_ALL_CPUS ? cpu_possible_mask :
								   cpumask_of(cpu);
	bool chosen = b && READ_ONCE(b->chosen);
	unsigned long overwritten = 0;
	unsigned int traits = 0;
	int i, running = 0;

	for_each_cpu(i, cpus) {
		running += chosen && ds_bts_running(i) &&
			   (READ_ONCE(per_cpu_ptr(b->cpu, i)->mode) & BTS_SIDES);
		traits |= ds_bts_traits(i);
		overwritten += ring_buffer_overrun_cpu(tr->array_buffer.buffer, i);
	}
	/* Reading bts_stats does not drain, so the counters do not include undrained records. */
	seq_printf(m, "owner: %s\n", chosen ? "bts" : "none");
	seq_printf(m, "cpus_recording: %d\n", running);
	bts_show_left_out(m, cpus);
	bts_show_readers(m, tr, cpu);
	bts_show_traits(m, traits);
	for (i = 0; i < ARRAY_SIZE(bts_record_stats); i++)
		bts_show_stat(m, b, cpus, bts_record_stats[i].name, bts_record_stats[i].offset);
	for (i = 0; i < BTS_LOST_CAUSES; i++) {
		if (bts_causes[i].stat)
			bts_show_stat(m, b, cpus, bts_causes[i].stat,
				      offsetof(struct bts_cpu, loss.cause[i].total));
	}
	for (i = 0; i < ARRAY_SIZE(bts_other_stats); i++)
		bts_show_stat(m, b, cpus, bts_other_stats[i].name, bts_other_stats[i].offset);
	seq_printf(m, "overwritten_entries: %lu\n", overwritten);
	return 0;
}

static int bts_stats_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = single_open(file, bts_stats_show, inode);
	if (ret)
		trace_array_put(tr);
	return ret;
}

static int bts_stats_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);
	return single_release(inode, file);
}

/* The counters in bts_stats keep their values until bts is next chosen as the instance's tracer. */
const struct file_operations trace_bts_stats_fops = {
	.open		= bts_stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= bts_stats_release,
};

static ssize_t bts_threshold_read(struct file *file, char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	char buf[16];
	int len;

	len = scnprintf(buf, sizeof(buf), "%u\n", ds_bts_get_threshold());
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static ssize_t bts_threshold_write(struct file *file, const char __user *ubuf,
				   size_t cnt, loff_t *ppos)
{
	unsigned int records;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 10, &records);
	if (!ret)
		ret = ds_bts_set_threshold(records);
	return ret ?: cnt;
}

/* The threshold is a property of the hardware, so all instances share it. */
static const struct file_operations bts_threshold_fops = {
	.open		= tracing_open_generic,
	.read		= bts_threshold_read,
	.write		= bts_threshold_write,
	.llseek		= generic_file_llseek,
};

/**
 * trace_bts_is_there - report whether the tracer can be chosen on this machine
 *
 * Context: Any, after perf has detected the CPU in an early_initcall().
 */
bool trace_bts_is_there(void)
{
	return ds_bts_available();
}

/**
 * trace_bts_create_files - create the tracer's files, except those in per_cpu
 * @tr:		the trace array, whose event directories already exist
 * @d_tracer:	the directory of the trace array
 *
 * No files are created if the tracer cannot be chosen.
 */
void trace_bts_create_files(struct trace_array *tr, struct dentry *d_tracer)
{
	if (!trace_bts_is_there())
		return;
	WRITE_ONCE(tr->bts_branch_file,
		   __find_event_file(tr, "ftrace", "bts_branch"));
	trace_create_file("bts_stats", TRACE_MODE_READ, d_tracer, tr,
			  &trace_bts_stats_fops);
	if (tr->flags & TRACE_ARRAY_FL_GLOBAL)
		trace_create_file("bts_threshold", TRACE_MODE_WRITE, d_tracer,
				  NULL, &bts_threshold_fops);
}
