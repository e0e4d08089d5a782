/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_DS_H
#define _ASM_X86_DS_H

#include <linux/types.h>

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

/* Why the records were taken out of the hardware's buffer. */
enum ds_drain_cause {
	DS_DRAIN_INTERRUPT,	/* the index reached the threshold */
	DS_DRAIN_SWITCH,	/* the CPU turns to another task */
	DS_DRAIN_FLUSH,		/* somebody wants to see them, or other targets */
	DS_DRAIN_STOP,		/* recording ends */
	DS_DRAIN_OFFLINE,	/* the CPU goes away */
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
 */
struct ds_bts_batch {
	const struct ds_bts_record	*rec;
	unsigned int			nr;
	unsigned int			own;
	enum ds_drain_cause		cause;
	bool				full;
};

/**
 * struct ds_bts_client - who gets the records
 * @records:	takes a batch of this CPU. Called with interrupts off, in any
 *		context up to NMI, while the CPU records nothing; calls for one
 *		CPU never nest.
 * @mode:	tells what this CPU is to record (DS_BTS_*) for the task that
 *		runs on it. Called with interrupts off, not from NMI.
 */
struct ds_bts_client {
	void		(*records)(const struct ds_bts_batch *batch);
	unsigned int	(*mode)(void);
};

/**
 * struct ds_bts_caller - how the traced code came to the driver
 * @entry:	the function by which it was left; what the hardware recorded
 *		from the branch to @entry on is the tracer's
 * @resume:	where it goes on; what is recorded up to the branch to @resume
 *		is the tracer's
 */
struct ds_bts_caller {
	unsigned long	entry;
	unsigned long	resume;
};

bool ds_bts_available(void);
int ds_bts_claim(const struct ds_bts_client *client);
void ds_bts_release(void);
void ds_bts_update(unsigned int mode, enum ds_drain_cause cause,
		   const struct ds_bts_caller *caller);
void ds_bts_update_all(enum ds_drain_cause cause);
void ds_bts_flush_all(void);
bool ds_bts_running(int cpu);

#endif /* _ASM_X86_DS_H */
