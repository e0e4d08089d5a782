/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_DS_H
#define _ASM_X86_DS_H

#include <linux/bits.h>
#include <linux/compiler_types.h>
#include <linux/instrumentation.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct task_struct;

/* The section .text..ds, see __ds_text. */
extern char __ds_text_start[], __ds_text_end[];

#ifdef CONFIG_BTS_TRACER

/*
 * Branch Trace Store (BTS) through the Debug Store, for the bts tracer: what the tracer,
 * the driver's client, and exc_nmi() need. The head of arch/x86/kernel/ds_cpu.c explains
 * how the driver works and what may run concurrently.
 */

/**
 * struct ds_bts_record - a taken branch, as the hardware stores it
 * @from:	linear address of the branch; of the interrupted instruction
 *		for an interrupt or exception
 * @to:		linear address of the target
 * @flags:	bit 4 means "predicted" on NetBurst; do not rely on it
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
 * By default the hardware stores both sides and the tracer filters: with
 * BTS_OFF_OS or BTS_OFF_USR set, one direction of the crossings is missing,
 * which of the two depends on the CPU. DS_BTS_CPL_FILTER sets them, for speed.
 */
#define DS_BTS_OFF		0
#define DS_BTS_USER		BIT(0)
#define DS_BTS_KERNEL		BIT(1)
#define DS_BTS_CPL_FILTER	BIT(2)

/*
 * The hardware wraps in its buffer, without interrupts: of the branches since
 * the last drain, only the latest are there.
 */
#define DS_BTS_CIRCULAR		BIT(3)

/*
 * Records for each interrupt. At most: perf's buffer holds 2730, and branches go
 * on arriving until BTS is off. At least: several times the branches from
 * ds_bts_nmi_leave() to the end of the NMI, so that the driver's own way out of
 * one interrupt cannot raise the next. Those are a dozen on any kernel: the
 * end of exc_nmi() and assembler, where no checker adds any.
 */
#define DS_BTS_MIN_THRESHOLD	64
#define DS_BTS_MAX_THRESHOLD	2048

/* Why the records were read out of the hardware's buffer. */
enum ds_drain_cause {
	DS_DRAIN_INTERRUPT,	/* the index reached the threshold */
	DS_DRAIN_SWITCH,	/* the CPU switches to another task */
	DS_DRAIN_FLUSH,		/* a reader, or a change of targets or options */
	DS_DRAIN_STOP,		/* recording ends */
	DS_DRAIN_OFFLINE,	/* the CPU goes offline, or the system to sleep */
	DS_DRAIN_CRASH,		/* the kernel oopses or panics */
	DS_DRAIN_CAUSES
};

/* A row of records in the hardware's buffer. */
struct ds_bts_slice {
	const struct ds_bts_record	*rec;
	unsigned int			nr;
};

/**
 * struct ds_bts_batch - the records of one drain of one CPU
 * @slice:	the records, oldest first; valid during the call only. The
 *		second slice has records only if the buffer has wrapped
 * @own:	how many more there were that are left out, because the driver
 *		or the tracer itself took those branches
 * @discarded:	how many records before these were discarded: they were in the buffer
 *		when BTS went on
 * @unsure:	how many of the records may be the driver's own: the end of its
 *		way in or out was not found
 * @cause:	why the buffer was drained
 * @full:	the buffer was full: branches after these were not stored
 * @wrapped:	the circular buffer has wrapped, or perf has put the index back:
 *		branches before these were overwritten
 * @cleared:	BTS was found switched off in DEBUGCTL, by a machine check for
 *		instance: branches after these were not stored
 * @stopped:	recording stops on this CPU: interrupt after interrupt found
 *		nothing but own records
 * @dead:	the CPU is left out because its BTS does not work: none of its branches
 *		are stored. So in each flush
 *
 * Where branches were not stored or overwritten, their number is unknown.
 */
struct ds_bts_batch {
	struct ds_bts_slice	slice[2];
	unsigned int		own;
	unsigned int		discarded;
	unsigned int		unsure;
	enum ds_drain_cause	cause;
	bool			full;
	bool			wrapped;
	bool			cleared;
	bool			stopped;
	bool			dead;
};

static inline unsigned int ds_bts_nr(const struct ds_bts_batch *batch)
{
	return batch->slice[0].nr + batch->slice[1].nr;
}

/*
 * What runs for the driver and the tracer while BTS is on lies in a section of
 * its own: it switches BTS off first, and on last. A record with an end in that
 * section is own. Nothing in there may be probed, traced or sanitized. Interrupts
 * are off from before it is entered until after it is left. objtool checks that the
 * section calls other code between ds_bts_pause() and ds_bts_resume() only.
 */
#define __ds_text	__noinstr_section(".text..ds")

bool ds_bts_off(void);
void ds_bts_on(void);

/* As ds_bts_off(); from here on any code may be called. */
static __always_inline bool ds_bts_pause(void)
{
	if (!ds_bts_off())
		return false;
	instrumentation_begin();
	return true;
}

/* As ds_bts_on(). */
static __always_inline void ds_bts_resume(void)
{
	instrumentation_end();
	ds_bts_on();
}

void ds_bts_drain(enum ds_drain_cause cause);
void ds_bts_ask(struct task_struct *task);

/**
 * struct ds_bts_ops - the client, for which the driver records
 * @records:	take a batch of this CPU, with interrupts off, in any context up to NMI,
 *		while the CPU records nothing; calls for one CPU never nest. A flush may
 *		have an empty batch
 * @turn:	turn to a task, the current one or the next one, and return what this
 *		CPU must record of the task (DS_BTS_*). Called with interrupts off, not
 *		from NMI, after the last record of the old mode and before the first one
 *		of the new mode
 * @pending:	return whether a flush must call @records even if the CPU records
 *		nothing. Called with preemption off
 */
struct ds_bts_ops {
	void		(*records)(const struct ds_bts_batch *batch);
	unsigned int	(*turn)(struct task_struct *task);
	bool		(*pending)(int cpu);
};

/* Why a CPU is left out. */
enum ds_fault {
	DS_FAULT_NONE,
	DS_FAULT_NO_AREA,	/* perf has not set DS_AREA */
	DS_FAULT_REFUSED,	/* DEBUGCTL does not take the bits */
	DS_FAULT_NO_RECORD,	/* a known branch does not give just its record */
	DS_FAULT_NO_INTERRUPT,	/* the index passes the threshold, and no PMI comes */
};

/* What a CPU has shown of what the manual leaves open. */
#define DS_TRAIT_PMI_REPEATS	BIT(0)	/* a PMI for each record above the threshold */
#define DS_TRAIT_PMI_ONCE	BIT(1)	/* just for the one that reaches it */
#define DS_TRAIT_CPL_BEFORE	BIT(2)	/* BTS_OFF_* go by the CPL before a branch */
#define DS_TRAIT_CPL_AFTER	BIT(3)	/* or after it */
#define DS_TRAIT_CPL		(DS_TRAIT_CPL_BEFORE | DS_TRAIT_CPL_AFTER)

bool ds_bts_available(void);
int ds_bts_claim(const struct ds_bts_ops *ops);
void ds_bts_release(void);
void ds_bts_update_all(enum ds_drain_cause cause);
void ds_bts_flush_all(void);
void ds_bts_flush_cpu(void);
void ds_bts_crash(void);
unsigned int ds_bts_get_threshold(void);
int ds_bts_set_threshold(unsigned int records);
bool ds_bts_running(int cpu);
unsigned int ds_bts_traits(int cpu);
enum ds_fault ds_bts_fault(int cpu);

DECLARE_STATIC_KEY_FALSE(ds_bts_key);
void __ds_bts_nmi_enter(void);
void __ds_bts_nmi_leave(unsigned long ip);

/*
 * An NMI begins. If it is for a drain, or comes for one that is over, BTS goes off,
 * before the branches of the NMI's handlers are stored: they might be so many that they
 * raise the next one.
 */
static __always_inline void ds_bts_nmi_enter(void)
{
	if (static_branch_unlikely(&ds_bts_key))
		__ds_bts_nmi_enter();
}

/* The NMI from @ip ends: if it has drained, BTS goes on. */
static __always_inline void ds_bts_nmi_leave(unsigned long ip)
{
	if (static_branch_unlikely(&ds_bts_key))
		__ds_bts_nmi_leave(ip);
}

#else /* CONFIG_BTS_TRACER */

static __always_inline void ds_bts_nmi_enter(void)
{
}

static __always_inline void ds_bts_nmi_leave(unsigned long ip)
{
}

#endif /* CONFIG_BTS_TRACER */

#endif /* _ASM_X86_DS_H */
