/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DS_INTERNAL_H
#define _DS_INTERNAL_H

/* What the files of the BTS driver share: ds_records.c, ds_cpu.c and ds.c. */

#include <asm/ds.h>
#include <asm/msr-index.h>

/* The bits of DEBUGCTL that this driver may change. */
#define DS_CTL_MASK	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT | \
			 DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

/* No instruction begins there. */
#define DS_NOWHERE	ULONG_MAX

/* How many records an NMI that drains leaves on each of its two ways, at most. */
#define DS_NMI_RECORDS	512U

/* After so many PMIs in a row with nothing but own records, recording stops. */
#define DS_IDLE_PMIS	16

extern char __return_thunk_start[], __return_thunk_end[];

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
int ds_bts_nmi(unsigned int type, struct pt_regs *regs);
enum ds_fault ds_probe(struct ds_bts_cpu *c);
void ds_put_back(struct ds_bts_cpu *c);

#if IS_ENABLED(CONFIG_KUNIT)
void ds_expect_pmi(struct ds_bts_cpu *c, bool full);
void ds_hand_over(struct ds_bts_cpu *c, enum ds_drain_cause cause, unsigned long ip);
#endif

#endif /* _DS_INTERNAL_H */
