// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: keep a list of readers (tasks whose reads make room in the ring buffer)
 *
 * A task becomes a reader when it first calls read(), splice(), poll() or ioctl() on trace_pipe or
 * trace_pipe_raw. The task stays a reader until it dies or closes its last descriptor of the file.
 * Before the first such call on an open file, the task that opened the file counts as its reader.
 * A child that inherits a descriptor is not a reader until the child itself makes such a call. If
 * every child were a reader, traced tasks might wait forever for a child that does not read.
 *
 * With bts-block, traced tasks wait only while there is a reader. A reader itself never waits, no
 * matter which instance's trace it reads: see bts_can_wait().
 *
 * Concurrency: The list bts_readers is changed under bts_readers_lock and read under RCU, with
 * preemption off. An NMI needs no RCU read lock, because interrupts are off.
 */

#include <linux/fdtable.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "bts.h"

/**
 * struct bts_reader - a task that reads a file
 * @list:	links the reader into bts_readers
 * @rcu:	for call_rcu(), which frees the structure
 * @iter:	the file's iterator; compared, but not dereferenced
 * @tr:		the file's trace array; compared, but not dereferenced
 * @cpu:	the file's CPU, or RING_BUFFER_ALL_CPUS
 * @task:	the task; a dead task stays in the list until another task begins to read, or the
 *		file is closed
 * @reads:	the task has read; false if it has only opened the file
 */
struct bts_reader {
	struct list_head		list;
	struct rcu_head			rcu;
	const struct trace_iterator	*iter;
	const struct trace_array	*tr;
	int				cpu;
	struct task_struct		*task;
	bool				reads;
};

static LIST_HEAD(bts_readers);
static DEFINE_SPINLOCK(bts_readers_lock);

/* Context: preemption off; may be an NMI. */
#define for_each_bts_reader(r)						\
	list_for_each_entry_rcu(r, &bts_readers, list,			\
				rcu_read_lock_sched_held())

static bool bts_is_reader(const struct task_struct *task)
{
	struct bts_reader *r;

	for_each_bts_reader(r) {
		if (r->task == task)
			return true;
	}
	return false;
}

/*
 * Report whether the task of @r reads the buffer of @cpu in @tr. If @cpu is RING_BUFFER_ALL_CPUS,
 * report whether the task reads the buffer of at least one CPU. An exiting task reads nothing.
 */
static bool bts_reads(const struct bts_reader *r, const struct trace_array *tr, int cpu)
{
	if (r->tr != tr || (READ_ONCE(r->task->flags) & PF_EXITING))
		return false;
	return r->cpu == cpu || r->cpu == RING_BUFFER_ALL_CPUS ||
	       cpu == RING_BUFFER_ALL_CPUS;
}

/**
 * bts_is_read - report whether a trace array has a reader that is not exiting
 * @tr:		the trace array
 * @cpu:	the CPU whose buffer the reader reads, or RING_BUFFER_ALL_CPUS for any CPU
 *
 * Context: any.
 */
bool bts_is_read(const struct trace_array *tr, int cpu)
{
	struct bts_reader *r;

	guard(preempt_notrace)();
	for_each_bts_reader(r) {
		if (bts_reads(r, tr, cpu))
			return true;
	}
	return false;
}

/**
 * bts_can_wait - report whether a task can wait for a reader
 * @task: the current task or, at a task switch, the next task
 *
 * Kernel threads and user workers cannot wait, because they do not return to user mode. A dying
 * task cannot wait either. A reader cannot wait, because it would wait for itself, or for
 * another reader that waits for it.
 *
 * Context: preemption off; may be an NMI.
 */
bool bts_can_wait(struct task_struct *task)
{
	return !(task->flags & (PF_KTHREAD | PF_USER_WORKER)) &&
	       !fatal_signal_pending(task) && !bts_is_reader(task);
}

/**
 * bts_show_readers - print the PIDs of the readers that are not exiting
 * @m:		the file bts_stats
 * @tr:		the trace array
 * @cpu:	the CPU, or RING_BUFFER_ALL_CPUS for all CPUs
 */
void bts_show_readers(struct seq_file *m, const struct trace_array *tr, int cpu)
{
	const char *none = " none";
	struct bts_reader *r;

	seq_puts(m, "reader:");
	guard(preempt)();
	for_each_bts_reader(r) {
		if (!bts_reads(r, tr, cpu))
			continue;
		seq_printf(m, " %d", r->task->pid);
		none = "";
	}
	seq_printf(m, "%s\n", none);
}

static void bts_free_reader(struct rcu_head *rcu)
{
	struct bts_reader *r = container_of(rcu, struct bts_reader, rcu);

	put_task_struct(r->task);
	kfree(r);
}

/* Add the current task to the readers. Return: false if kmalloc() fails. */
static bool bts_add_reader(const struct trace_iterator *iter, bool reads)
{
	struct bts_reader *r = kmalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return false;
	*r = (struct bts_reader){
		.iter	= iter,
		.tr	= iter->tr,
		.cpu	= iter->cpu_file,
		.task	= get_task_struct(current),
		.reads	= reads,
	};
	spin_lock(&bts_readers_lock);
	list_add_rcu(&r->list, &bts_readers);
	spin_unlock(&bts_readers_lock);
	return true;
}

/*
 * Remove @task, or all tasks if @task is NULL, from the readers of a file. If @openers is true,
 * remove only exiting tasks, and tasks that have opened the file but have not read from it.
 */
static void bts_remove_readers(const struct trace_iterator *iter,
			       const struct task_struct *task, bool openers)
{
	struct bts_reader *r, *next;

	spin_lock(&bts_readers_lock);
	list_for_each_entry_safe(r, next, &bts_readers, list) {
		if (r->iter != iter || (task && r->task != task) ||
		    (openers && r->reads && !(READ_ONCE(r->task->flags) & PF_EXITING)))
			continue;
		list_del_rcu(&r->list);
		call_rcu(&r->rcu, bts_free_reader);
	}
	spin_unlock(&bts_readers_lock);
}

static bool bts_reads_already(const struct trace_iterator *iter)
{
	struct bts_reader *r;

	guard(preempt)();
	for_each_bts_reader(r) {
		if (r->iter == iter && r->task == current && r->reads)
			return true;
	}
	return false;
}

/* Report whether @iter is the iterator of @file. */
static int bts_is_file_of(const void *iter, struct file *file, unsigned int fd)
{
	return file->private_data == iter;
}

/**
 * bts_update_readers - update the list of readers when a task opens, reads or closes trace_pipe
 * @iter:	the file's iterator
 * @event:	what the current task does
 *
 * Context: process context.
 */
void bts_update_readers(struct trace_iterator *iter, enum trace_reader_event event)
{
	switch (event) {
	case TRACE_READER_OPEN:
		bts_add_reader(iter, false);
		break;
	case TRACE_READER_BEGIN:
		if (!bts_reads_already(iter) && bts_add_reader(iter, true))
			bts_remove_readers(iter, NULL, true);
		break;
	case TRACE_READER_READ:
		break;
	case TRACE_READER_LEAVE:
		/*
		 * If the task still has another descriptor of the file, for example after a
		 * redirection in a shell, the task remains a reader.
		 */
		if (!iterate_fd(current->files, 0, bts_is_file_of, iter))
			bts_remove_readers(iter, current, false);
		break;
	case TRACE_READER_CLOSE:
		bts_remove_readers(iter, NULL, false);
		break;
	}
}
