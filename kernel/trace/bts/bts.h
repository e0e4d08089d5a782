/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_H
#define _LINUX_KERNEL_TRACE_BTS_H

/* Declarations shared by the files of the branch tracer. bts.c describes the design. */

#include <linux/bts_events.h>
#include <linux/irq_work.h>
#include <linux/kfifo.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/trace_recursion.h>

#include <asm/ds.h>

#include "../trace.h"
#include "event.h"

/*
 * The reasons why branches or rows are missing from the trace. The causes BTS_LOST_* are stored in
 * bts_lost entries. The causes BTS_GONE_* are never stored, because these losses are found only
 * when the trace is read. Traces and tools contain the numbers of the causes, so the numbers must
 * never change. A new cause gets the next free number.
 */
enum bts_lost_cause {
	BTS_LOST_RING_BUFFER	= 0,	/* the ring buffer had no room */
	BTS_LOST_DS_BUFFER	= 1,	/* the DS buffer had no room */
	BTS_LOST_OVERWRITTEN	= 2,	/* the circular DS buffer has wrapped */
	BTS_LOST_PAUSED		= 3,	/* the ring buffer was paused */
	BTS_LOST_CLEARED	= 4,	/* something has switched BTS off */
	BTS_LOST_STOPPED	= 5,	/* recording stopped because of too many interrupts */
	BTS_LOST_DEAD		= 6,	/* the CPU's BTS does not work */
	BTS_GONE_OVERWRITTEN	= 7,	/* old entries in the ring buffer were overwritten */
	BTS_GONE_DAMAGED	= 8,	/* an entry cannot be read */
	BTS_LOST_LATE		= 9,	/* old records were discarded when BTS was switched on */
	BTS_LOST_ROWS		= 10,	/* no room for non-branch rows */
	BTS_LOST_CANNOT_WAIT	= 11,	/* ring buffer full, and the task cannot wait */
	BTS_LOST_CAUSES
};

/**
 * union bts_entry - an entry that is written or held
 * @ent:	the header of every entry; rows of bts-sched and bts-map use only this member
 * @branch:	for the type TRACE_BTS
 * @pack:	for the type TRACE_BTS_PACK; the encoded branches follow
 * @lost:	for the type TRACE_BTS_LOST
 */
union bts_entry {
	struct trace_entry	ent;
	struct bts_branch_entry	branch;
	struct bts_pack_entry	pack;
	struct bts_lost_entry	lost;
};

#define BTS_PACK_HEAD	offsetof(struct bts_pack_entry, code)

/*
 * The maximum size of an entry. Sub-buffers may shrink while entries are held, so each entry must
 * fit into the smallest possible sub-buffer, which is one page including its header.
 */
#define BTS_ENTRY_MAX	(PAGE_SIZE - 64)

/**
 * struct bts_cause - how a cause of losses is shown
 * @text:	the text that the trace shows
 * @stat:	the name of the counter in bts_stats; NULL for BTS_GONE_*
 */
struct bts_cause {
	const char	*text;
	const char	*stat;
};

/**
 * struct bts_loss - an instance's losses on one CPU from one cause
 * @total:	the number of branches or rows lost since bts became the instance's tracer; a
 *		loss of unknown size counts as 1
 * @count:	the number of lost branches that the trace does not show yet
 * @unknown:	there are losses of unknown size that the trace does not show yet
 */
struct bts_loss {
	u64		total;
	u64		count;
	bool		unknown;
};

/* The value of bts_hold.oldest while the backlog is empty. */
#define BTS_NONE_HELD	U64_MAX

/**
 * struct bts_counts - the counters of bts_stats, reset when bts becomes the instance's tracer
 * @records:	records read from the DS buffer, including those that only other instances want
 * @delivered:	records written into the instance's ring buffer
 * @filtered:	records left out because of bts-user, bts-kernel or the event filter, or
 *		because only other instances wanted the task
 * @own:	records of the tracer's own branches, which are never delivered
 * @dropped_off: records dropped because the ring buffer, or its part for this CPU, was off
 * @unsure:	delivered or filtered records that may show own branches. The driver cannot remove
 *		these records if it does not find where an NMI began or ended
 * @drains:	drains of the DS buffer, by cause
 * @packs:	packs written
 * @pack_bytes:	size of these packs in the ring buffer
 * @rows:	written rows of bts-sched and bts-map (non-branch rows)
 * @blocked:	number of times that a task has waited for room
 * @blocked_ns:	total time of these waits, in nanoseconds
 */
struct bts_counts {
	u64	records;
	u64	delivered;
	u64	filtered;
	u64	own;
	u64	dropped_off;
	u64	unsure;
	u64	drains[DS_DRAIN_CAUSES];
	u64	packs;
	u64	pack_bytes;
	u64	rows;
	u64	blocked;
	u64	blocked_ns;
};

/**
 * struct bts_losses - an instance's losses on one CPU (loss.c)
 * @cause:	the losses from each cause; see enum bts_lost_cause
 * @pending:	there are losses that the trace does not show yet
 * @pid:	the task of the last lost branch or row
 * @refusals:	the latest result of bts_refusals()
 */
struct bts_losses {
	struct bts_loss	cause[BTS_LOST_CAUSES];
	bool		pending;
	pid_t		pid;
	unsigned long	refusals;
};

struct bts_packer;

/**
 * struct bts_writer - state for writing into the ring buffer (write.c)
 * @ent:	the header for the entries of the current batch
 * @buffer:	the ring buffer for the current batch or row
 * @packer:	packs branches; NULL until bts-pack is set
 */
struct bts_writer {
	struct trace_entry	ent;
	struct trace_buffer	*buffer;
	struct bts_packer	*packer;
};

/**
 * struct bts_hold - the entries that a CPU holds for an instance (hold.c)
 * @backlog:	the queue of the held entries; allocated when bts-block is set
 * @branches:	the number of branches in the entries
 * @rows:	the number of non-branch rows among the entries
 * @oldest:	the first entry's turn, or BTS_NONE_HELD. A turn is the number of a batch (hold.c)
 * @turn:	the turn of the current batch or row; valid only if @may is true
 * @may:	the current batch or row may be held
 * @refused:	the current batch or row must not be held, because its task cannot wait
 * @wait:	at least one CPU holds entries; all of them must be written before this batch or row
 */
struct bts_hold {
	struct kfifo_rec_ptr_2	backlog;
	u64			branches;
	u64			rows;
	u64			oldest;
	u64			turn;
	bool			may;
	bool			wait;
	bool			refused;
};

/**
 * struct bts_cpu - an instance's data for a CPU
 * @mode:	DS_BTS_OFF if the instance does not record the CPU's current task; otherwise the
 *		instance's options
 * @counts:	the counters
 * @loss:	the losses
 * @write:	the data that is needed to write entries into the ring buffer
 * @hold:	the backlog
 */
struct bts_cpu {
	unsigned int		mode;
	struct bts_counts	counts;
	struct bts_losses	loss;
	struct bts_writer	write;
	struct bts_hold		hold;
};

/**
 * struct bts_instance - the tracer's data for a trace array, allocated when bts is first chosen
 * @list:	links the instance into bts_instances while bts is the tracer
 * @tr:		the trace array
 * @flags:	the instance's options
 * @cpu:	the instance's data for each CPU
 * @chosen:	the tracer is chosen
 * @tracing:	the tracer is chosen and tracing_on is 1
 * @blocking:	the tracer is chosen and bts-block is set
 * @overwrite:	whether the option "overwrite" was on before bts-block switched it off
 * @hold_node:	links the instance to the CPU hotplug state bts_hold_state while CPUs have backlogs
 * @pack_node:	links the instance to the CPU hotplug state bts_pack_state while CPUs have packers
 * @turn:	the last turn (sequence number) that a batch or row received, on any CPU
 * @mapped:	PIDs of the processes whose mappings have been shown or are being shown
 * @showing:	PIDs of the tasks that are showing their mappings
 * @maps_missed: mappings were not shown because the ring buffer was off
 * @wake:	wakes the tasks that wait for room
 * @polled:	a reader found no data in poll() or a non-blocking read(): see bts_sync_poll()
 */
struct bts_instance {
	struct list_head		list;
	struct trace_array		*tr;
	const struct tracer_flags	*flags;
	struct bts_cpu __percpu		*cpu;
	bool				chosen;
	bool				tracing;
	bool				blocking;
	bool				overwrite;
	struct hlist_node		hold_node;
	struct hlist_node		pack_node;
	atomic64_t			turn;
	struct trace_pid_list		*mapped;
	struct trace_pid_list		*showing;
	bool				maps_missed;
	struct irq_work			wake;
	bool				polled;
};

#define BTS_SIDES	(DS_BTS_USER | DS_BTS_KERNEL)

/* The tracer's own options. The other options are the driver's modes DS_BTS_*. */
enum {
	BTS_OPT_BLOCK	= BIT(16),
	BTS_OPT_SCHED	= BIT(17),
	BTS_OPT_MAP	= BIT(18),
	BTS_OPT_SYNC	= BIT(19),
	BTS_OPT_PACK	= BIT(20),
};

/* The instances whose tracer is bts. Use for_each_bts_instance() to walk this list. */
extern struct list_head bts_instances;

/* Context: either preemption is off (perhaps in an NMI), or trace_types_lock is held. */
#define for_each_bts_instance(b)					\
	list_for_each_entry_rcu(b, &bts_instances, list,		\
				rcu_read_lock_sched_held() ||		\
				lockdep_is_held(&trace_types_lock))

/* Add @n to a counter that has one writer at a time. Other CPUs may read the counter. */
static inline void bts_count(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

static inline bool bts_is_loss(const union bts_entry *entry)
{
	return entry->ent.type == TRACE_BTS_LOST;
}

/* Return the number of branches in an entry: 0 for a loss or a non-branch row. */
static inline unsigned int bts_branches(const union bts_entry *entry)
{
	switch (entry->ent.type) {
	case TRACE_BTS_PACK:
		return entry->pack.nr;
	case TRACE_BTS:
		return 1;
	default:
		return 0;
	}
}

/* Report whether the trace shows an entry as a non-branch row (a row of bts-sched or bts-map). */
static inline bool bts_is_row(const union bts_entry *entry)
{
	return !bts_branches(entry) && !bts_is_loss(entry);
}

/* Return the number of branches that an entry contains or reports as lost. */
static inline u64 bts_span(const union bts_entry *entry)
{
	return bts_is_loss(entry) ? entry->lost.count : bts_branches(entry);
}

/* Report whether entries are held. */
static inline bool bts_held(struct bts_cpu *c)
{
	return READ_ONCE(c->hold.oldest) != BTS_NONE_HELD;
}

/* Report whether the whole ring buffer, or its part for @cpu, is switched off. */
static inline bool bts_is_off(struct trace_array *tr, int cpu)
{
	return !tracer_tracing_is_on(tr) || !cpumask_test_cpu(cpu, tr->tracing_cpumask);
}

/* Report whether the task has slept too often since it began to wait: see bts_sleep(). */
static inline bool bts_sleeps_too_often(const struct task_struct *task)
{
	return READ_ONCE(task->trace_recursion) & BIT(TRACE_BTS_WAIT_BIT);
}

/* Report whether the task has never been switched out. */
static inline bool bts_is_newborn(struct task_struct *p)
{
	return !(p->nvcsw + p->nivcsw);
}

/* loss.c */
extern const struct bts_cause bts_causes[BTS_LOST_CAUSES];
void bts_use_buffer(struct bts_cpu *c, struct trace_buffer *buffer);
void bts_count_written(struct bts_cpu *c, union bts_entry *entry, unsigned int size);
void bts_pend(struct bts_cpu *c, unsigned int cause, u64 n, pid_t pid);
void bts_lose(struct bts_cpu *c, unsigned int cause, u64 n, pid_t pid);
void bts_drop(struct bts_instance *b, struct bts_cpu *c, unsigned int n, pid_t pid);
void bts_lose_rows(struct bts_cpu *c, unsigned int n, pid_t pid);

/* reader.c */
bool bts_is_read(const struct trace_array *tr, int cpu);
bool bts_can_wait(struct task_struct *task);
void bts_show_readers(struct seq_file *m, const struct trace_array *tr, int cpu);
void bts_update_readers(struct trace_iterator *iter, enum trace_reader_event event);

/* hold.c */
bool bts_may_hold(struct bts_instance *b, int cpu);
bool bts_any_held(struct bts_instance *b);
void bts_begin_holding(struct bts_instance *b, struct bts_cpu *c,
		       struct task_struct *task, bool row);
bool bts_hold(struct bts_cpu *c, union bts_entry *entry, unsigned int size);
void bts_wake_tasks(struct irq_work *work);
void bts_wake(struct bts_instance *b);
int bts_register_hold(void);
int bts_alloc_backlogs(struct bts_instance *b);
void bts_free_backlogs(struct bts_instance *b);

/* write.c */
void bts_begin(struct bts_instance *b, struct bts_cpu *c, struct task_struct *task,
	       bool row);
bool bts_show_losses(struct bts_cpu *c, bool hold);
void bts_deliver(struct bts_instance *b, struct bts_cpu *c,
		 const struct ds_bts_record *rec, unsigned int nr);
void bts_end_pack(struct bts_instance *b, struct bts_cpu *c);
int bts_register_packs(void);
int bts_alloc_packers(struct bts_instance *b);
void bts_free_packers(struct bts_instance *b);
bool bts_deliver_row(struct bts_instance *b, struct bts_cpu *c,
		     struct task_struct *task, void *row, unsigned int size);

/* sched.c */
void bts_sched_leave(bool preempt, unsigned int prev_state);
void bts_sched_rows(struct bts_instance *b, struct bts_cpu *c,
		    struct task_struct *next, unsigned int mode);

/*
 * map.c. The tracer calls d_path() with interrupts off, but with PREEMPT_RT, d_path() may sleep.
 * So kernels with PREEMPT_RT cannot show mappings.
 */
#define BTS_HAS_MAPS	(!IS_ENABLED(CONFIG_PREEMPT_RT))

int bts_map_attach(void);
void bts_map_detach(void);
void bts_map_request(struct bts_instance *b, struct task_struct *task);
void bts_map_switch(struct bts_instance *b, struct task_struct *task);
void bts_map_forget(struct bts_instance *b);

/* filter.c */
unsigned int bts_mode_of(struct bts_instance *b, struct task_struct *task);
bool bts_is_unwanted(struct task_struct *task);
void bts_filter_slice(struct bts_instance *b, struct bts_cpu *c,
		      const struct ds_bts_slice *slice);

/* block.c */
void bts_check_task(struct task_struct *task);
void bts_reader(struct trace_iterator *iter, enum trace_reader_event event);
int bts_set_blocking(struct bts_instance *b, bool on);
void bts_poll(void);

/* sync.c */
void bts_sync(struct trace_array *tr, int cpu, enum tracer_sync_reason why);
void bts_stop(struct bts_instance *b);

/* output.c */
int bts_prepare_dump(void);
int bts_register_events(void);

/* selftest.c */
int trace_selftest_startup_bts(struct tracer *trace, struct trace_array *tr);

/* Further reasons (besides enum ds_fault) why the tracer or an option cannot be chosen. */
enum bts_err {
	BTS_ERR_NO_BTS	= DS_FAULTS,
	BTS_ERR_BUSY,
	BTS_ERR_NO_MEMORY,
	BTS_ERR_NO_MAPS,
	BTS_ERRS
};

#if IS_ENABLED(CONFIG_KUNIT)
/* Functions and data of bts.c, filter.c and output.c that kunit.c tests. */
extern const char *bts_errs[BTS_ERRS];
enum bts_err bts_err_of(int ret);
bool bts_wanted(unsigned int mode, const struct ds_bts_record *rec);
bool bts_is_target(struct trace_array *tr, struct task_struct *task);
unsigned long bts_text_here(struct trace_array *tr, unsigned long addr);
#endif

#endif /* _LINUX_KERNEL_TRACE_BTS_H */
