/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DS_INTERNAL_H
#define _DS_INTERNAL_H

/* Declarations shared by the BTS driver's files ds_records.c, ds_cpu.c and ds.c. */

#include <linux/percpu.h>
#include <linux/static_call_types.h>

#include <asm/ds.h>
#include <asm/intel_ds.h>
#include <asm/msr-index.h>

/* The bits of DEBUGCTL that this driver may change. */
#define DS_CTL_MASK	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT | \
			 DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

/* No instruction begins at this address, so it stands for "no address". */
#define DS_NOWHERE	ULONG_MAX

/* Search at most this many records for an NMI's start, and as many again for its end. */
#define DS_NMI_RECORDS	512U

/* Recording stops after this many consecutive PMIs without records of traced code. */
#define DS_IDLE_PMIS	16

/* The kind of the current drain, if any. */
enum ds_busy {
	DS_FREE,
	DS_BUSY,	/* a drain from ds_bts_off() to ds_bts_on() */
	DS_BUSY_NMI,	/* a drain in an NMI, from ds_bts_nmi_enter() to ds_bts_nmi_leave() */
};

/* The state of a PMI if another drain empties the buffer before the PMI's handler can do so. */
enum ds_pmi {
	DS_PMI_NONE,
	DS_PMI_DUE,	/* the records have been drained, but the PMI is still to come */
	DS_PMI_SEEN,	/* the PMI came while a drain was already using the buffer */
};

/**
 * struct ds_bts_cpu - the state of BTS on a CPU
 * @ds:		the DS area; NULL unless the driver uses BTS on this CPU
 * @ctl:	bits that the driver wants in DEBUGCTL; 0 while nothing is recorded
 * @debugctl:	the value of DEBUGCTL just before BTS was last switched off
 * @end:	the index when BTS was last switched off; records beyond this index were stored
 *		afterwards
 * @back:	if the last drain was in an NMI, the address to which this NMI returned; otherwise
 *		DS_NOWHERE
 * @busy:	the kind of drain that is using the buffer
 * @pmi:	the state of the PMI; see enum ds_pmi
 * @interrupted: an NMI has interrupted code in .text..ds since the drain began
 * @crash:	set by a crashing CPU, to request the records of this struct's CPU
 * @crash_nmi:	set by a crashing CPU; cleared when the NMI from that CPU arrives
 * @idle_pmis:	number of consecutive PMIs without records of traced code. When this number
 *		reaches DS_IDLE_PMIS, recording stops until the next ds_bts_update_all()
 * @strays:	number of records that the CPU stored during ds_probe() or after BTS was switched
 *		off. A later batch reports this number in its @own, and @strays becomes 0
 * @discarded:	number of records that were discarded when BTS was switched on, and that no batch
 *		has reported yet
 * @traits:	DS_TRAIT_*
 * @fault:	why this CPU's BTS is not used
 * @threshold:	perf's interrupt threshold, which is restored when perf gets BTS back
 */
struct ds_bts_cpu {
	struct debug_store	*ds;
	u64			ctl;
	u64			debugctl;
	u64			end;
	unsigned long		back;
	enum ds_busy		busy;
	enum ds_pmi		pmi;
	bool			interrupted;
	bool			crash;
	bool			crash_nmi;
	unsigned int		idle_pmis;
	unsigned int		strays;
	unsigned int		discarded;
	unsigned int		traits;
	enum ds_fault		fault;
	u64			threshold;
};

/**
 * struct ds_job - a drain by ds_run()
 * @cause:	why the buffer is drained
 * @then:	function to call after the drain, while BTS is still off; may be NULL
 */
struct ds_job {
	enum ds_drain_cause	cause;
	void			(*then)(struct ds_bts_cpu *c);
};

extern char __return_thunk_start[], __return_thunk_end[];

/* The functions of the client that has claimed BTS. */
DECLARE_STATIC_CALL(ds_client_records, *((struct ds_bts_ops *)NULL)->records);
DECLARE_STATIC_CALL(ds_client_turn, *((struct ds_bts_ops *)NULL)->turn);
DECLARE_STATIC_CALL(ds_client_pending, *((struct ds_bts_ops *)NULL)->pending);

/* ds_records.c: arithmetic on records */
bool ds_in_section(u64 addr);
const struct ds_bts_record *ds_rec(const struct ds_bts_batch *batch, unsigned int i);
unsigned int ds_slots(const struct debug_store *ds);
bool ds_has_wrapped(const struct debug_store *ds);
unsigned int ds_late(const struct ds_bts_cpu *c);
bool ds_has_records(const struct debug_store *ds);
void ds_slice(const struct ds_bts_cpu *c, struct ds_bts_batch *batch);
void ds_cut_own(struct ds_bts_batch *batch, const struct ds_bts_cpu *c, unsigned long ip);
unsigned int ds_cpl_trait(const struct ds_bts_batch *batch);
u64 ds_ctl(unsigned int mode, bool has_cpl);

/* ds_cpu.c: a CPU's hardware state */
DECLARE_PER_CPU(struct ds_bts_cpu, ds_bts_cpu);
void ds_run(void *job);
int ds_bts_nmi(unsigned int type, struct pt_regs *regs);
int ds_bts_unknown_nmi(unsigned int type, struct pt_regs *regs);
enum ds_fault ds_probe(struct ds_bts_cpu *c);
void ds_put_back(struct ds_bts_cpu *c);

#if IS_ENABLED(CONFIG_KUNIT)
void ds_expect_pmi(struct ds_bts_cpu *c, bool full);
void ds_hand_over(struct ds_bts_cpu *c, enum ds_drain_cause cause, unsigned long ip);
#endif

#endif /* _DS_INTERNAL_H */
