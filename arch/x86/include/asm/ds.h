/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_DS_H
#define _ASM_X86_DS_H

#include <linux/percpu-defs.h>
#include <linux/types.h>

struct task_struct;

/*
 * Branch Trace Store through the Debug Store, for one client at a time.
 * How it works and who may run when is told at the head of ds.c.
 */

/**
 * struct ds_bts_record - a taken branch, as the hardware stores it
 * @from:	linear address of the branch; of the interrupted instruction
 *		for an interrupt or exception
 * @to:		linear address of the target
 * @flags:	bit 4 is a NetBurst matter; not to be relied upon
 *
 * SDM vol. 3, "DS Save Area", 64-bit format of a BTS record.
 */
struct ds_bts_record {
	u64	from;
	u64	to;
	u64	flags;
};

/*
 * What a CPU records. A branch that crosses the boundary belongs to both sides.
 * Unless both are wanted, the client has to filter, because by default both are
 * recorded: whether BTS_OFF_OS and BTS_OFF_USR look at the privilege level
 * before a branch or after it is up to the CPU, so that with them one direction
 * of the crossings is missing. DS_BTS_CPL_FILTER is for those who would rather
 * have the speed.
 */
#define DS_BTS_OFF		0
#define DS_BTS_USER		BIT(0)
#define DS_BTS_KERNEL		BIT(1)
#define DS_BTS_CPL_FILTER	BIT(2)

/*
 * The hardware goes round in its buffer, without interrupts: of what was recorded
 * since the last drain, only the end is there.
 */
#define DS_BTS_CIRCULAR		BIT(3)

/*
 * Records for each interrupt, at the most: of the 2730 that perf's buffer holds,
 * the rest is the room where branches go on arriving until BTS is off.
 */
#define DS_BTS_MAX_THRESHOLD	2048

/* Why the records were taken out of the hardware's buffer. */
enum ds_drain_cause {
	DS_DRAIN_INTERRUPT,	/* the index reached the threshold */
	DS_DRAIN_SWITCH,	/* the CPU turns to another task */
	DS_DRAIN_FLUSH,		/* somebody wants to see them, or other targets */
	DS_DRAIN_STOP,		/* recording ends */
	DS_DRAIN_OFFLINE,	/* the CPU goes away */
	DS_DRAIN_CRASH,		/* the kernel oopses or panics */
	DS_DRAIN_CAUSES
};

/**
 * struct ds_bts_batch - what one drain of one CPU's buffer yields
 * @rec:	the records, oldest first; valid during the call only
 * @nr:		how many
 * @own:	how many more were there and are left out, because it was this
 *		driver and its client that took those branches
 * @cause:	why the buffer was drained
 * @full:	the buffer was full: what followed @rec was not stored, and
 *		nobody counted it
 * @wrapped:	the circular buffer has wrapped: one or more records that came
 *		before @rec were overwritten, and nobody counted them
 */
struct ds_bts_batch {
	const struct ds_bts_record	*rec;
	unsigned int			nr;
	unsigned int			own;
	enum ds_drain_cause		cause;
	bool				full;
	bool				wrapped;
};

#define DS_BTS_ENTRIES	3

/**
 * struct ds_bts_client - who gets the records
 * @entries:	the functions from which ds_bts_switch() and ds_bts_pause() are
 *		called
 * @records:	takes a batch of this CPU. Called with interrupts off, in any
 *		context up to NMI, while the CPU records nothing; calls for one
 *		CPU never nest. A flush may have an empty batch.
 * @mode:	tells what this CPU is to record of a task (DS_BTS_*), which runs
 *		on it already or comes next. Called with interrupts off, not from
 *		NMI, between the last record of what it had told before and the
 *		first of what it tells now.
 * @pending:	is @records to be called by a flush, even if a CPU has recorded
 *		nothing? Called with preemption off. May be NULL.
 */
struct ds_bts_client {
	unsigned long	entries[DS_BTS_ENTRIES];
	void		(*records)(const struct ds_bts_batch *batch);
	unsigned int	(*mode)(struct task_struct *task);
	bool		(*pending)(int cpu);
};

/* The client is on its way to us, see below; private to this CPU and its NMIs. */
DECLARE_PER_CPU(bool, ds_bts_inside);

/**
 * ds_bts_enter - this CPU is about to call ds_bts_switch() or ds_bts_pause()
 *
 * From here on a PMI leaves the records to that call, so that what is recorded
 * of the tracer stands in one batch, and can be told from the rest. To be called
 * at the very start of one of @client.entries, before any branch.
 *
 * Context: Interrupts off.
 */
static __always_inline void ds_bts_enter(void)
{
	this_cpu_write(ds_bts_inside, true);
	/* An NMI on this CPU sees it before anything that follows is done. */
	barrier();
}

/**
 * ds_bts_turn_back - there is nothing to call for after all
 *
 * Context: As ds_bts_enter(), after it; this CPU records nothing.
 */
static __always_inline void ds_bts_turn_back(void)
{
	this_cpu_write(ds_bts_inside, false);
}

bool ds_bts_available(void);
int ds_bts_claim(const struct ds_bts_client *client);
void ds_bts_release(void);
void ds_bts_switch(struct task_struct *task, unsigned long resume);
void ds_bts_pause(unsigned long entry, unsigned long resume);
void ds_bts_resume(unsigned long resume);
void ds_bts_update_all(enum ds_drain_cause cause);
void ds_bts_flush_all(void);
int ds_bts_set_threshold(unsigned int records);
unsigned int ds_bts_get_threshold(void);
void ds_bts_flush_cpu(unsigned long entry, unsigned long resume);
void ds_bts_crash(void);
bool ds_bts_running(int cpu);

#endif /* _ASM_X86_DS_H */
