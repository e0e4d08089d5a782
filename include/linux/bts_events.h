/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BTS_EVENTS_H
#define _LINUX_BTS_EVENTS_H

#include <linux/buildid.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/percpu-defs.h>
#include <linux/sched.h>
#include <linux/types.h>

/*
 * This file declares the data of the events in trace/events/bts.h and trace/events/bts_map.h,
 * and the tracer's hook that runs before a task returns to user mode.
 */

struct pt_regs;
struct task_struct;

/**
 * struct bts_departs - how a task leaves a CPU
 * @user_ip:	the task's instruction pointer in user space, or 0 for a kernel thread
 * @kernel_ip:	the kernel address at which the task called the scheduler or was preempted; 0 if
 *		unknown, or if the task was returning to user space
 * @state:	the state, encoded as in sched_switch: TASK_*, or TASK_REPORT_MAX if the task was
 *		preempted in the kernel
 * @voluntary:	the task waits for something, or has ended
 */
struct bts_departs {
	unsigned long	user_ip;
	unsigned long	kernel_ip;
	unsigned int	state;
	bool		voluntary;
};

/**
 * struct bts_map - an executable mapping
 * @addr:	the first address of the mapping
 * @len:	the length of the mapping in bytes
 * @offset:	the offset in the file at which the mapping begins, in bytes
 * @ino:	the file's inode number, or 0 if there is no file
 * @maj:	major number of the file system's device
 * @min:	minor number of the file system's device
 * @path:	the path of the file, or a name in brackets, or //anon, or //toolong
 * @build_id:	the build ID of the ELF file
 * @build_id_size: size of the build ID; 0 if the file has no build ID, or if the ID is not in
 *		memory
 */
struct bts_map {
	u64		addr;
	u64		len;
	u64		offset;
	u64		ino;
	u32		maj;
	u32		min;
	const char	*path;
	u8		build_id[BUILD_ID_SIZE_MAX];
	u32		build_id_size;
};

#ifdef CONFIG_BTS_TRACER

DECLARE_STATIC_KEY_FALSE(bts_block_key);
DECLARE_STATIC_KEY_FALSE(bts_resume_key);

/* True if the task on this CPU must call __bts_resume_user(). Only map.c writes this variable. */
DECLARE_PER_CPU(bool, bts_maps_due);

void bts_block_task(unsigned int state);
unsigned long __bts_resume_user(unsigned long at, bool locked);
int bts_resume_lock(void);

/* Values that __bts_resume_user() returns instead of an address */
#define BTS_MAPS_SHOWN	(ULONG_MAX - 2)	/* all mappings are shown */
#define BTS_MAPS_NONE	(ULONG_MAX - 1)	/* no instance wants the mappings */
#define BTS_MAPS_BUSY	ULONG_MAX	/* BTS is busy; the caller must release mmap_lock */

/*
 * Interrupts are off during each call of __bts_resume_user(), as __ds_text requires. So a call
 * shows only a few mappings, and the task can be preempted between two calls.
 */
static __always_inline void bts_resume_maps(void)
{
	unsigned long at;

	raw_local_irq_disable();
	at = __bts_resume_user(0, false);
	raw_local_irq_enable();
	while (at < BTS_MAPS_SHOWN && !bts_resume_lock()) {
		raw_local_irq_disable();
		at = __bts_resume_user(at, true);
		raw_local_irq_enable();
	}
	if (at == BTS_MAPS_BUSY)
		mmap_read_unlock(current->mm);
}

/*
 * If necessary, make a traced task wait until its trace has been read. Then show the task's
 * mappings, unless they have already been shown. resume_user_mode_work() calls this function if
 * TIF_NOTIFY_RESUME was set. If @regs is NULL, the caller is KVM's loop or io_uring, which may hold
 * locks and is not about to return to user mode. So do nothing. The next drain makes the task call
 * this function again.
 * Context: process context, interrupts on. The caller may hold locks only if @regs is NULL.
 */
static __always_inline void bts_resume_user(struct pt_regs *regs)
{
	if (!regs)
		return;
	if (static_branch_unlikely(&bts_block_key))
		bts_block_task(TASK_INTERRUPTIBLE);
	if (static_branch_unlikely(&bts_resume_key) &&
	    unlikely(this_cpu_read(bts_maps_due)))
		bts_resume_maps();
}

#else /* CONFIG_BTS_TRACER */

static inline void bts_resume_user(struct pt_regs *regs)
{
}

#endif /* CONFIG_BTS_TRACER */

#endif /* _LINUX_BTS_EVENTS_H */
