/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_DS_H
#define _ASM_X86_DS_H

#include <linux/bits.h>
#include <linux/compiler_types.h>
#include <linux/instrumentation.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct task_struct;

/* Bounds of the section .text..ds: see __ds_text. */
extern char __ds_text_start[], __ds_text_end[];

#ifdef CONFIG_BTS_TRACER

/*
 * The interface of the Branch Trace Store (BTS) driver, for the bts tracer (the driver's client)
 * and for exc_nmi(). The comment at the top of arch/x86/kernel/ds_cpu.c explains how the driver
 * works and which contexts may run concurrently.
 */

/**
 * struct ds_bts_record - a taken branch, in the hardware's format
 * @from:	linear address of the branch or, for an interrupt or exception, of the interrupted
 *		instruction
 * @to:	linear address of the branch target
 * @flags:	bit 4 means "predicted" on NetBurst; do not rely on this bit
 *
 * SDM vol. 3, "DS Save Area", describes this 64-bit format of a BTS record.
 */
struct ds_bts_record {
	u64	from;
	u64	to;
	u64	flags;
};

/* User space is the lower half of the address space. */
static inline bool ds_is_user(u64 addr)
{
	return (s64)addr >= 0;
}

/*
 * These bits choose the sides whose branches a CPU records. The two sides are user space and the
 * kernel. A crossing is a branch from one side to the other side, and belongs to both sides. By
 * default, the hardware stores the branches of both sides, and the tracer drops the branches that
 * belong only to an unwanted side. With DS_BTS_CPL_FILTER, the driver sets BTS_OFF_OS or
 * BTS_OFF_USR, so the hardware does not store these branches. This saves time, but the hardware
 * also omits the crossings in one direction. The omitted direction depends on the CPU.
 */
#define DS_BTS_OFF		0
#define DS_BTS_USER		BIT(0)
#define DS_BTS_KERNEL		BIT(1)
#define DS_BTS_CPL_FILTER	BIT(2)

/* The buffer wraps and the CPU raises no interrupts, so only the latest branches remain. */
#define DS_BTS_CIRCULAR		BIT(3)

/*
 * Limits of the threshold, which is the number of records per interrupt. perf's buffer has 2730
 * slots. The slots above the maximum threshold receive the branches that the CPU takes between
 * reaching the threshold and switching BTS off. After ds_bts_nmi_leave() has switched BTS on, the
 * NMI takes about a dozen more branches, even in a kernel with sanitizers, because sanitizers
 * instrument neither the end of exc_nmi() nor assembly code. The minimum threshold is several
 * dozen records, so these branches alone cannot raise the next interrupt.
 */
#define DS_BTS_MIN_THRESHOLD	64
#define DS_BTS_MAX_THRESHOLD	2048

/* A drain reads out and empties the hardware's buffer. It has one of these causes. */
enum ds_drain_cause {
	DS_DRAIN_INTERRUPT,	/* the index has reached the threshold */
	DS_DRAIN_SWITCH,	/* the CPU switches to another task */
	DS_DRAIN_FLUSH,		/* another cause, e.g. the trace is read or an option changes */
	DS_DRAIN_STOP,		/* recording ends */
	DS_DRAIN_OFFLINE,	/* the CPU goes offline, suspends or reboots, or BTS is released */
	DS_DRAIN_CRASH,		/* the kernel oopses or panics */
	DS_DRAIN_CAUSES
};

/* Consecutive records in the hardware's buffer. */
struct ds_bts_slice {
	const struct ds_bts_record	*rec;
	unsigned int			nr;
};

/**
 * struct ds_bts_batch - the records of one drain of one CPU
 * @slice:	the records, oldest first; valid only during records(). The second slice
 *		has records only if the buffer has wrapped
 * @own:	number of records of own branches (see __ds_text), which the slices do not contain
 * @discarded:	number of records that were discarded from the buffer when BTS was switched on
 * @unsure:	number of records that may belong to own branches. The slices contain these
 *		records, because the driver did not find where an NMI began or ended
 * @cause:	why the buffer was drained
 * @full:	the buffer was full, so later branches were not stored
 * @wrapped:	earlier branches were overwritten, because the circular buffer wrapped or because
 *		perf reset the index
 * @cleared:	later branches were not stored, because BTS was switched off in DEBUGCTL before the
 *		drain, for example by a machine check
 * @stopped:	many consecutive interrupts came, and at each of them the buffer contained only
 *		records of own branches. So recording stops on this CPU
 * @dead:	this CPU's BTS does not work and is not used; set only in a flush
 *
 * If branches were overwritten or not stored, their number is unknown.
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
 * Except in NMIs, the driver and the tracer run only code in the section .text..ds while BTS is
 * on. If traced code calls a function in this section, the function first switches BTS off, and
 * switches BTS on again before it returns. A branch that begins or ends in this section is called
 * an own branch, and is not in the trace. The section must not be probed, traced or instrumented.
 * Interrupts must be off before the section is entered, and must stay off until the section is
 * left. objtool checks that code in this section calls other code only between ds_bts_pause() and
 * ds_bts_resume().
 */
#define __ds_text	__noinstr_section(".text..ds")

bool ds_bts_off(void);
void ds_bts_on(void);

/* Call ds_bts_off(). If it returns true, the caller may run any code until ds_bts_resume(). */
static __always_inline bool ds_bts_pause(void)
{
	if (!ds_bts_off())
		return false;
	instrumentation_begin();
	return true;
}

/* Undo a ds_bts_pause() that has returned true. */
static __always_inline void ds_bts_resume(void)
{
	instrumentation_end();
	ds_bts_on();
}

void ds_bts_drain(enum ds_drain_cause cause);
void ds_bts_ask(struct task_struct *task);

/**
 * struct ds_bts_ops - the functions of the client that receives the driver's records
 * @records:	handle a batch of this CPU; a flush may pass an empty batch. Called with
 *		interrupts off, in any context including NMI, while the CPU records nothing. Calls
 *		on one CPU never nest
 * @turn:	return which branches (DS_BTS_*) this CPU must record from now on. @task is the
 *		current task or, at a task switch, the next task. Called with interrupts off, not
 *		from NMI, after the driver has passed all records in the buffer to @records
 * @pending:	return true to request that a flush calls @records on @cpu even if @cpu is not
 *		recording. Called with preemption off
 */
struct ds_bts_ops {
	void		(*records)(const struct ds_bts_batch *batch);
	unsigned int	(*turn)(struct task_struct *task);
	bool		(*pending)(int cpu);
};

/* Reasons why a CPU's BTS is not used. */
enum ds_fault {
	DS_FAULT_NONE,
	DS_FAULT_NO_AREA,	/* perf has not set DS_AREA */
	DS_FAULT_REFUSED,	/* DEBUGCTL rejects the driver's bits */
	DS_FAULT_NO_RECORD,	/* a test branch caused no record, several, or a wrong one */
	DS_FAULT_NO_INTERRUPT,	/* the index passed the threshold without a PMI */
	DS_FAULTS
};

/* Traits: behaviour that the SDM leaves open. The driver finds out which traits each CPU has. */
#define DS_TRAIT_PMI_REPEATS	BIT(0)	/* each record at or above the threshold raises a PMI */
#define DS_TRAIT_PMI_ONCE	BIT(1)	/* only the record at the threshold raises a PMI */
#define DS_TRAIT_CPL_BEFORE	BIT(2)	/* BTS_OFF_OS omits branches that begin in the kernel */
#define DS_TRAIT_CPL_AFTER	BIT(3)	/* BTS_OFF_OS omits branches that end in the kernel */
#define DS_TRAIT_CPL		(DS_TRAIT_CPL_BEFORE | DS_TRAIT_CPL_AFTER)

bool ds_bts_available(void);
int ds_bts_claim(const struct ds_bts_ops *ops);
void ds_bts_release(void);
void ds_bts_update_all(enum ds_drain_cause cause);
void ds_bts_flush_all(void);
void ds_bts_flush_cpu(void);
void ds_bts_crash(void);
void ds_bts_emergency_stop(void);
unsigned int ds_bts_get_threshold(void);
int ds_bts_set_threshold(unsigned int records);
bool ds_bts_running(int cpu);
unsigned int ds_bts_traits(int cpu);
enum ds_fault ds_bts_fault(int cpu);

DECLARE_STATIC_KEY_FALSE(ds_bts_key);
void __ds_bts_nmi_enter(void);
void __ds_bts_nmi_leave(unsigned long ip);

/*
 * Call this when an NMI begins. This function switches BTS off in three cases: this NMI must drain,
 * this NMI interrupts a drain, or a PMI is still to come although a drain has emptied the buffer.
 * While BTS is off, the branches of the NMI's handlers are not stored, so these branches cannot
 * raise the next interrupt.
 */
static __always_inline void ds_bts_nmi_enter(void)
{
	if (static_branch_unlikely(&ds_bts_key))
		__ds_bts_nmi_enter();
}

/* Call this when an NMI ends. Undo ds_bts_nmi_enter(), unless the NMI interrupted a drain. */
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

static inline void ds_bts_emergency_stop(void)
{
}

#endif /* CONFIG_BTS_TRACER */

#endif /* _ASM_X86_DS_H */
