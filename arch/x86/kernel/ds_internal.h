/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DS_INTERNAL_H
#define _DS_INTERNAL_H

/* What the files of the BTS driver share: ds_records.c, ds_cpu.c and ds.c. */

#include <linux/cpufeature.h>
#include <linux/percpu.h>

#include <asm/ds.h>
#include <asm/msr-index.h>

/* The bits of DEBUGCTL that this driver may change. */
#define DS_CTL_MASK	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT | \
			 DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

/* No instruction begins there. */
#define DS_NOWHERE	ULONG_MAX

/* How many records an NMI that drains leaves on each of its two ways, at most. */
#define DS_NMI_RECORDS	512U

/* The section .text..ds, and the return thunks. */
extern char __ds_text_start[], __ds_text_end[];
extern char __return_thunk_start[], __return_thunk_end[];

/**
 * struct ds_ways - how the driver came to a drain, and left the one before
 * @back:	where the NMI that drained last returned to, or DS_NOWHERE
 * @ip:		what the NMI that drains now interrupted, or DS_NOWHERE
 * @amid:	an NMI came between ds_bts_off() and the end of storing
 * @kernel:	branches at CPL 0 were stored
 */
struct ds_ways {
	unsigned long	back;
	unsigned long	ip;
	bool		amid;
	bool		kernel;
};

/* ds_records.c: arithmetic on records, no state */
unsigned int ds_slots(const struct debug_store *ds);
bool ds_has_wrapped(const struct debug_store *ds);
void ds_slice(const struct debug_store *ds, u64 end, bool circular,
	      struct ds_bts_batch *batch);
void ds_cut_own(struct ds_bts_batch *batch, const struct ds_ways *ways);
unsigned int ds_cpl_trait(const struct ds_bts_batch *batch);
u64 ds_ctl(unsigned int mode, bool has_cpl);

/**
 * struct ds_bts_cpu - a CPU's BTS, private to that CPU and its NMIs
 * @ctl:	bits that the driver wants in DEBUGCTL; 0 while nothing is recorded
 * @others:	the other bits, as ds_bts_off() has read them
 * @end:	the index when BTS was switched off; what is above was stored late
 * @mode:	DS_BTS_*, what @ctl stands for
 * @moving:	DEBUGCTL need not have @ctl, because BTS is going off or on
 * @amid:	see struct ds_ways
 * @drained:	the NMI that drains has done so
 * @cleared:	DEBUGCTL was found without @ctl
 * @stopped:	no recording until the tracer or a threshold is chosen anew
 * @pmi_seen:	a PMI came while another drain had the buffer
 * @crash_nmi_due: the NMI by which another CPU asks for the records is on its way
 * @back:	see struct ds_ways
 * @idle_pmis:	PMIs in a row that found nothing but own records
 * @strays:	records not yet counted as own: stored after BTS went off, or by a probe
 * @traits:	DS_TRAIT_*
 * @threshold:	perf's interrupt threshold, put back when BTS is given back
 * @probing:	ds_probe_interrupt() counts PMIs,
 * @probed:	and has counted so many
 */
struct ds_bts_cpu {
	u64			ctl;
	u64			others;
	u64			end;
	unsigned int		mode;
	bool			moving;
	bool			amid;
	bool			drained;
	bool			cleared;
	bool			stopped;
	bool			pmi_seen;
	bool			crash_nmi_due;
	unsigned long		back;
	unsigned int		idle_pmis;
	unsigned int		strays;
	unsigned int		traits;
	u64			threshold;
	bool			probing;
	unsigned int		probed;
};

DECLARE_PER_CPU(struct ds_bts_cpu, ds_bts_cpu);
extern unsigned int ds_bts_threshold;

/* ds_cpu.c: a CPU's hardware state */
void ds_set_mode(struct ds_bts_cpu *c, struct debug_store *ds, unsigned int mode);

int ds_bts_nmi_first(unsigned int type, struct pt_regs *regs);
int ds_bts_nmi_last(unsigned int type, struct pt_regs *regs);
enum ds_fault ds_probe_record(struct debug_store *ds);
enum ds_fault ds_probe_interrupt(struct debug_store *ds);

#endif /* _DS_INTERNAL_H */
