// SPDX-License-Identifier: GPL-2.0
/*
 * Event bts_map: show the executable mappings of a process
 *
 * The event bts_map is an ordinary trace event. It is recorded for each executable mapping that
 * a task makes by mmap(), mprotect(), mremap() or exec, or that the kernel makes for the task.
 * The event needs neither the bts tracer nor its hardware. With the option bts-map, the tracer
 * itself writes the same entries for the processes that it traces. The tracer also shows the
 * mappings that a process already has when the process is first traced:
 *
 *	bts_map_request()	the CPU switches to a traced task of a process
 *	    |			that is not in bts_instance.mapped:
 *	    v			sets bts_maps_due and TIF_NOTIFY_RESUME
 *	__bts_resume_user()	before the task is in user space again: writes a row
 *	    |			for each mapping; the process is now in .mapped
 *	    v
 *	bts_probe_mmap_exec()	writes a row for each later mapping
 *
 * All threads of a process may execute the code in a mapping that one of the threads has made. So
 * the list bts_instance.mapped contains the PIDs of processes, not of tasks. When a new process
 * gets a PID that is in the list, the PID is removed from the list. No row is written for a task
 * that does not return to user space.
 *
 * In the trace, the branches taken before a mapping was made must come before the mapping's row,
 * and all later branches must come after it. So the DS buffer is drained before the row is written,
 * and nothing is recorded in between. Recording can be paused only with interrupts off, so
 * __bts_resume_user() and bts_probe_mmap_exec() must not sleep. These functions write the path into
 * a per-CPU buffer, and look for the build ID only in the page cache, which usually contains the
 * beginning of a file that was just mapped. A process may have up to 65,530 mappings, so each call
 * of __bts_resume_user() handles at most BTS_VMAS of them. The first call handles no mapping if
 * another thread holds mmap_lock for writing. Before each further call, bts_resume_lock() waits
 * until it gets mmap_lock. So each further call handles at least one mapping.
 *
 * The trace needs no rows for removed mappings. No code can be executed at an unmapped address, and
 * if an address belongs to the mappings in two rows, the later row is valid for this address.
 */

#include <linux/bts_events.h>
#include <linux/buildid.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include <trace/events/mmap.h>

#define CREATE_TRACE_POINTS
#include <trace/events/bts_map.h>

#include "bts.h"

DEFINE_STATIC_KEY_FALSE(bts_resume_key);
DEFINE_PER_CPU(bool, bts_maps_due);

/* The maximum length of a path. An entry with a path of this length fits into BTS_ENTRY_MAX. */
#define BTS_PATH_MAX	3072

/*
 * The maximum number of mappings to examine at a time with interrupts off. An executable mapping is
 * counted BTS_VMA_EXEC times, because its file may have many headers and notes to read.
 */
#define BTS_VMAS	64
#define BTS_VMA_EXEC	16

/**
 * struct bts_path - a CPU's memory for a row
 * @buf:	the path
 * @row:	the event's entry, without the path
 * @room:	memory for @row and for the path after it
 */
struct bts_path {
	char	buf[BTS_PATH_MAX];
	union {
		struct trace_event_raw_bts_map row;
		u8	room[BTS_ENTRY_MAX];
	};
};

/*
 * The probe on mmap_exec_tp has two users: the event, while it is enabled, and the tracer, while
 * it is the current tracer. This mutex protects the number of users.
 */
static DEFINE_MUTEX(bts_map_mutex);
static unsigned int bts_map_users;

/*
 * Each CPU's memory for a row, used with interrupts off. The first call of bts_map_get() allocates
 * the memory. The memory is never freed, because a CPU may still use it after bts_map_put().
 */
static struct bts_path __percpu *bts_paths;

/* Fill in an entry of bts_map. Return: the size of the entry. */
static unsigned int bts_fill_map(struct trace_event_raw_bts_map *row, struct task_struct *p,
				 const struct bts_map *m)
{
	unsigned int len = strlen(m->path) + 1;

	*row = (struct trace_event_raw_bts_map){
		.ent.type	= event_bts_map.event.type,
		.pid		= p->pid,
		.tgid		= p->tgid,
		.addr		= m->addr,
		.len		= m->len,
		.offset		= m->offset,
		.inode		= m->ino,
		.maj		= m->maj,
		.min		= m->min,
		.build_id_size	= m->build_id_size,
		/* Length and offset of the path, as TRACE_EVENT() encodes them in stage 5. */
		.__data_loc_path = len << 16 |
			offsetof(struct trace_event_raw_bts_map, __data),
	};
	memcpy(row->comm, p->comm, TASK_COMM_LEN);
	memcpy(row->build_id, m->build_id, BUILD_ID_SIZE_MAX);
	memcpy(row->__data, m->path, len);
	return sizeof(*row) + len;
}

/*
 * Remove all PIDs from a list. A list has a raw spinlock, so it may be used while the runqueue is
 * locked, but not in an NMI.
 */
static void bts_pids_clear(struct trace_pid_list *pids)
{
	unsigned int pid = 0;

	while (!trace_pid_list_next(pids, pid, &pid))
		trace_pid_list_clear(pids, pid);
}

/**
 * bts_map_request - make a traced task show its mappings, unless its process has shown them
 * @b:		an instance
 * @task:	the task
 *
 * Context: bts_turn().
 */
void bts_map_request(struct bts_instance *b, struct task_struct *task)
{
	if (!task->mm || (task->flags & (PF_KTHREAD | PF_USER_WORKER)))
		return;
	if (trace_pid_list_is_set(b->mapped, task->tgid))
		return;
	/* Before @task returns to user mode, it checks TIF_NOTIFY_RESUME and bts_maps_due. */
	this_cpu_write(bts_maps_due, true);
	set_tsk_thread_flag(task, TIF_NOTIFY_RESUME);
}

/**
 * bts_map_switch - forget an earlier process that had the PID of a new task
 * @b:		an instance
 * @task:	the task to which the CPU switches
 *
 * Context: bts_turn().
 */
void bts_map_switch(struct bts_instance *b, struct task_struct *task)
{
	if (bts_is_newborn(task) && thread_group_leader(task))
		trace_pid_list_clear(b->mapped, task->tgid);
}

/**
 * bts_map_forget - forget which processes' mappings an instance has shown
 * @b: the instance; its tracing or its option bts-map must be off
 */
void bts_map_forget(struct bts_instance *b)
{
	bts_pids_clear(b->showing);
	bts_pids_clear(b->mapped);
	WRITE_ONCE(b->maps_missed, false);
}

/*
 * Choose instance @b to receive the current task's mappings, if @b needs them.
 * Context: the same as for bts_map_begin().
 */
static bool bts_map_begin_for(struct bts_instance *b, struct bts_cpu *c)
{
	/* An earlier task with this PID may have been killed before it called bts_map_end(). */
	trace_pid_list_clear(b->showing, current->pid);
	if (!(c->mode & BTS_OPT_MAP) ||
	    trace_pid_list_is_set(b->mapped, current->tgid))
		return false;
	if (bts_is_off(b->tr, smp_processor_id())) {
		WRITE_ONCE(b->maps_missed, true);
		return false;
	}
	if (!trace_pid_list_set(b->showing, current->pid) &&
	    !trace_pid_list_set(b->mapped, current->tgid))
		return true;
	/* Memory has run out, so try again when the task next gets a CPU. */
	trace_pid_list_clear(b->showing, current->pid);
	return false;
}

/*
 * Choose the instances that need the current task's mappings. Until bts_map_end(), the task writes
 * rows of its mappings for these instances. If bts_map_forget() is called for an instance before
 * bts_map_end(), the task stops writing rows for this instance. If another instance needs the
 * mappings later, bts_map_request() makes the task show them again.
 *
 * Context: interrupts off.
 * Return: false if no instance needs the mappings.
 */
static bool bts_map_begin(void)
{
	struct bts_instance *b;
	bool any = false;

	for_each_bts_instance(b)
		any |= bts_map_begin_for(b, this_cpu_ptr(b->cpu));
	return any;
}

/* The task has shown all its mappings, so clear its PID in @showing. Context: interrupts off. */
static void bts_map_end(void)
{
	struct bts_instance *b;

	for_each_bts_instance(b)
		trace_pid_list_clear(b->showing, current->pid);
}

/*
 * Write the row of a mapping. If this fails because the ring buffer, or its part for this CPU, is
 * off, let the process show all of its mappings again when it is next traced.
 * Context: interrupts off, BTS off.
 */
static void bts_deliver_map(struct bts_instance *b, const struct bts_map *m,
			    struct bts_path *path)
{
	unsigned int size = bts_fill_map(&path->row, current, m);

	if (!bts_deliver_row(b, this_cpu_ptr(b->cpu), current, &path->row, size) &&
	    bts_is_off(b->tr, smp_processor_id())) {
		WRITE_ONCE(b->maps_missed, true);
		trace_pid_list_clear(b->showing, current->pid);
		trace_pid_list_clear(b->mapped, current->tgid);
	}
}

/*
 * Write a row about the existing mapping @m for each instance that bts_map_begin() has chosen.
 * Context: interrupts off, between bts_map_begin() and bts_map_end().
 */
static void bts_map_existing_row(const struct bts_map *m, struct bts_path *path)
{
	struct bts_instance *b;

	for_each_bts_instance(b) {
		if (trace_pid_list_is_set(b->showing, current->pid))
			bts_deliver_map(b, m, path);
	}
}

/*
 * Report whether an instance shows the new mappings of the current process. Return true even if
 * only other threads of the process are traced, because these threads may execute the new code.
 * Context: interrupts off.
 */
static bool bts_map_wants(struct bts_instance *b)
{
	return READ_ONCE(b->tracing) && (READ_ONCE(b->flags->val) & BTS_OPT_MAP) &&
	       trace_pid_list_is_set(b->mapped, current->tgid);
}

/*
 * Report whether the bts_map event or an instance shows the new mappings of the current process. If
 * not, the caller need not read the build ID and the path. Context: interrupts off.
 */
static bool bts_map_wanted(void)
{
	struct bts_instance *b;

	if (trace_bts_map_enabled())
		return true;
	for_each_bts_instance(b) {
		if (bts_map_wants(b))
			return true;
	}
	return false;
}

/* Show a new mapping of the current task. Context: interrupts off, BTS off. */
static void bts_map_row(const struct bts_map *m, struct bts_path *path)
{
	struct bts_instance *b;

	for_each_bts_instance(b) {
		if (bts_map_wants(b))
			bts_deliver_map(b, m, path);
	}
}

/* Return perf's name for a mapping without a file, usually the same as in /proc/PID/maps. */
static const char *bts_map_name(struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name(vma);
	if (!name)
		name = arch_vma_name(vma);
	if (name)
		return name;
	if (vma_is_initial_heap(vma))
		return "[heap]";
	return vma_is_initial_stack(vma) ? "[stack]" : "//anon";
}

static const char *bts_map_file(struct bts_map *m, struct vm_area_struct *vma,
				struct bts_path *path)
{
	const struct inode *inode = file_user_inode(vma->vm_file);
	char *name;

	m->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	m->ino = inode->i_ino;
	m->maj = MAJOR(inode->i_sb->s_dev);
	m->min = MINOR(inode->i_sb->s_dev);
	if (build_id_parse_nofault(vma, m->build_id, &m->build_id_size))
		m->build_id_size = 0;

	name = d_path(file_user_path(vma->vm_file), path->buf, sizeof(path->buf));
	return IS_ERR(name) ? "//toolong" : name;
}

/* Fill in @m. It stays valid while interrupts are off. Context: mmap_lock held, interrupts off. */
static void bts_map_of(struct bts_map *m, struct vm_area_struct *vma,
		       struct bts_path *path)
{
	*m = (struct bts_map){
		.addr	= vma->vm_start,
		.len	= vma->vm_end - vma->vm_start,
	};
	m->path = vma->vm_file ? bts_map_file(m, vma, path) : bts_map_name(vma);
}

/* Call bts_turn() for the current task. If @again is false, cancel any request for mappings. */
static void bts_map_leave(bool again)
{
	ds_bts_ask(current);
	if (!again)
		this_cpu_write(bts_maps_due, false);
}

/* Context: the same as for bts_probe_mmap_exec(), and BTS is off. */
static noinline void bts_map_new(struct vm_area_struct *vma)
{
	struct bts_path *path = this_cpu_ptr(bts_paths);

	ds_bts_drain(DS_DRAIN_FLUSH);

	/* If this task has made another process's stack grow (by ptrace), the stack gets no row. */
	if (vma->vm_mm == current->mm && bts_map_wanted()) {
		struct bts_map m;

		bts_map_of(&m, vma, path);
		if (trace_bts_map_enabled())
			trace_bts_map(current, &m);
		bts_map_row(&m, path);
	}

	bts_map_leave(true);
}

/*
 * Context: the same as for mmap_exec_tp, so interrupts are off. The mmap_lock of the mapping's
 * owner is held, and possibly an anon_vma's lock.
 */
static __ds_text void bts_probe_mmap_exec(void *data, struct vm_area_struct *vma)
{
	if (ds_bts_pause()) {
		bts_map_new(vma);
		ds_bts_resume();
	}
}

/*
 * Examine up to BTS_VMAS mappings, starting at address @at, and show the executable ones.
 * Context: interrupts off, mmap_lock held. Return: the address at which to continue, or
 * BTS_MAPS_SHOWN.
 */
static unsigned long bts_map_existing(struct mm_struct *mm, unsigned long at,
				      struct bts_path *path)
{
	struct vm_area_struct *vma;
	struct vma_iterator vmi;
	unsigned int nr = 0;
	struct bts_map m;

	vma_iter_init(&vmi, mm, at);
	for_each_vma(vmi, vma) {
		if (nr >= BTS_VMAS)
			return vma->vm_start;
		if (!(vma->vm_flags & VM_EXEC)) {
			nr++;
			continue;
		}
		nr += BTS_VMA_EXEC;
		bts_map_of(&m, vma, path);
		bts_map_existing_row(&m, path);
	}
	return BTS_MAPS_SHOWN;
}

/* Context: the same as for __bts_resume_user(). */
static unsigned long bts_map_go(unsigned long at, bool locked)
{
	struct bts_path *path = this_cpu_ptr(bts_paths);
	struct mm_struct *mm = current->mm;

	if (!locked && !mmap_read_trylock(mm))
		return at;
	/* If @at is 0, first choose the instances that need the mappings. */
	if (at || bts_map_begin())
		at = bts_map_existing(mm, at, path);
	else
		at = BTS_MAPS_NONE;
	mmap_read_unlock(mm);
	if (at == BTS_MAPS_SHOWN)
		bts_map_end();
	return at;
}

/* Context: the same as for __bts_resume_user(), and BTS is off. */
static noinline unsigned long bts_map_resume(unsigned long at, bool locked)
{
	/* Tell lockdep about the raw_local_irq_disable() of the caller. */
	trace_hardirqs_off();
	this_cpu_write(bts_maps_due, false);
	ds_bts_drain(DS_DRAIN_FLUSH);
	at = bts_map_go(at, locked);
	bts_map_leave(at != BTS_MAPS_NONE);
	trace_hardirqs_on();
	return at;
}

/**
 * __bts_resume_user - if necessary, show the mappings of a task that returns to user space
 * @at:		the address at which to continue; 0 in the first call
 * @locked:	bts_resume_lock() has taken mmap_lock
 *
 * Context: Process context of a user task; interrupts off; no lock held except mmap_lock.
 * Return: BTS_MAPS_*, or @at for the next call. Call bts_resume_lock() before this next call.
 */
__ds_text unsigned long __bts_resume_user(unsigned long at, bool locked)
{
	/* If ds_bts_pause() fails, only the caller may call mmap_read_unlock(): see __ds_text. */
	if (!ds_bts_pause())
		return locked ? BTS_MAPS_BUSY : BTS_MAPS_NONE;
	at = bts_map_resume(at, locked);
	ds_bts_resume();
	return at;
}

/**
 * bts_resume_lock - take mmap_lock for __bts_resume_user()
 *
 * With bts-block, this function first waits until no entries are held, because the backlog may have
 * no room for further rows. Only a fatal signal ends this wait early: other signals are handled
 * after all mappings have been shown. Before this function takes mmap_lock, it lets other tasks run
 * and take the lock. __bts_resume_user() releases mmap_lock, unless it returns BTS_MAPS_BUSY. If
 * the kernel is traced, this function is traced, too.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -EINTR if a fatal signal is pending.
 */
int bts_resume_lock(void)
{
	if (static_branch_unlikely(&bts_block_key))
		bts_block_task(TASK_KILLABLE);
	cond_resched();
	return mmap_read_lock_killable(current->mm);
}

static int bts_map_get(void)
{
	int ret;

	guard(mutex)(&bts_map_mutex);

	if (!bts_paths)
		bts_paths = alloc_percpu(struct bts_path);
	if (!bts_paths)
		return -ENOMEM;
	ret = bts_map_users ? 0 : register_trace_mmap_exec_tp(bts_probe_mmap_exec, NULL);
	bts_map_users += !ret;
	return ret;
}

static void bts_map_put(void)
{
	guard(mutex)(&bts_map_mutex);

	if (--bts_map_users)
		return;
	unregister_trace_mmap_exec_tp(bts_probe_mmap_exec, NULL);
}

/**
 * bts_map_attach - attach the probe for the tracer, if this kernel can show mappings
 *
 * Context: Process context.
 * Return: 0 or an error.
 */
int bts_map_attach(void)
{
	int ret;

	if (!BTS_HAS_MAPS)
		return 0;
	ret = bts_map_get();
	if (!ret)
		static_branch_inc(&bts_resume_key);
	return ret;
}

/**
 * bts_map_detach - undo bts_map_attach()
 *
 * Context: Process context.
 */
void bts_map_detach(void)
{
	if (!BTS_HAS_MAPS)
		return;
	static_branch_dec(&bts_resume_key);
	bts_map_put();
}

/* Attach or detach the event's probe on mmap_exec. Context: process context, event_mutex held. */
static int bts_map_update_probe(void)
{
	static bool used;
	bool on = trace_bts_map_enabled();
	int ret = 0;

	lockdep_assert_held(&event_mutex);

	if (on == used)
		return 0;
	if (on)
		ret = bts_map_get();
	else
		bts_map_put();
	if (!ret)
		used = on;
	return ret;
}

static int bts_map_event_reg(struct trace_event_call *call, enum trace_reg type,
			     void *data)
{
	return bts_event_reg(call, type, data, bts_map_update_probe);
}

/* Prepare the event, and register its probe if the kernel command line switches the event on. */
static int __init bts_map_init(void)
{
	guard(mutex)(&event_mutex);

	if (!BTS_HAS_MAPS)
		return trace_remove_event_call(&event_bts_map);
	event_class_bts_map.reg = bts_map_event_reg;
	return bts_map_update_probe();
}
core_initcall(bts_map_init);
