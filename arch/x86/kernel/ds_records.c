// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: find the records of a drain, and leave out the tracer's own branches
 *
 * A buffer that has not wrapped is one slice, from the base to the index. A buffer that has
 * wrapped is two slices:
 *
 *	base                  index                           maximum
 *	 | slice[1]            | x | slice[0]                  |
 *
 * The hardware does not report a wrap. But each drain overwrites the records with zeroes. So if
 * slot x, to which the index points, contains a record, the buffer is exactly full or has wrapped.
 * The driver cannot distinguish these two cases. In both cases, the driver drops record x, the
 * oldest record, and reports a wrap. So a reported wrap always means that records are lost. A batch
 * ends at @end, which was the index when BTS was switched off. The branches of the driver and the
 * tracer are called own branches, and the records of these branches are called own records. Each
 * record after @end is an own record.
 *
 * Except in NMIs, the driver and the tracer run only code in the section .text..ds while BTS is on.
 * So the addresses of a record show whether the branch is an own branch. Own branches at the
 * beginning of a batch lead out of the section, and own branches at the end of a batch lead into
 * the section. If an own branch leads to a return thunk, the branches in the thunk are own
 * branches, too.
 *
 * If the handler of an NMI drains the buffer, the branches of the NMI's entry code and exit code
 * are own branches, too. The latest branch to the kernel's NMI entry point is the first branch of
 * the entry code. The branch back to the interrupted instruction is the last branch of the exit
 * code. To find each of these two branches, the driver examines at most DS_NMI_RECORDS records. If
 * the driver does not find the branch, it delivers these records and counts them in @unsure.
 * Because of erratum AAJ122, the branch to the entry point may have a wrong origin, so the driver
 * does not compare this origin with the interrupted address. If the buffer is full, the driver does
 * not search for the branch to the entry point, because that branch may have found no room.
 */

#include <linux/minmax.h>
#include <linux/ptrace.h>

#include <asm/fred.h>
#include <asm/idtentry.h>

#include "ds_internal.h"

static bool ds_in(u64 addr, const char *start, const char *end)
{
	return addr >= (unsigned long)start && addr < (unsigned long)end;
}

bool ds_in_section(u64 addr)
{
	return ds_in(addr, __ds_text_start, __ds_text_end);
}

static bool ds_is_own(const struct ds_bts_record *rec)
{
	return ds_in_section(rec->from) || ds_in_section(rec->to);
}

unsigned int ds_slots(const struct debug_store *ds)
{
	return (ds->bts_absolute_maximum - ds->bts_buffer_base) /
	       sizeof(struct ds_bts_record);
}

/* Some CPUs reset the index only at the next record, so an index at the maximum means slot 0. */
static unsigned int ds_next_slot(const struct debug_store *ds)
{
	u64 in = READ_ONCE(ds->bts_index) - ds->bts_buffer_base;

	return in / sizeof(struct ds_bts_record) % ds_slots(ds);
}

/* Report whether the buffer has wrapped. If so, the slot at the index contains a record. */
bool ds_has_wrapped(const struct debug_store *ds)
{
	const struct ds_bts_record *rec = (void *)ds->bts_buffer_base;

	rec += ds_next_slot(ds);
	return READ_ONCE(rec->from) || READ_ONCE(rec->to);
}

static bool ds_is_circular(const struct ds_bts_cpu *c)
{
	return !(c->ctl & DEBUGCTLMSR_BTINT);
}

/*
 * Return the number of records that the CPU stored after BTS was switched off. The index may have
 * decreased since then, because a circular buffer has wrapped, or because perf has reset the index
 * of a linear buffer (intel_pmu_reset()).
 */
unsigned int ds_late(const struct ds_bts_cpu *c)
{
	int late = (s64)(READ_ONCE(c->ds->bts_index) - c->end) / (int)sizeof(struct ds_bts_record);

	if (late >= 0)
		return late;
	return ds_is_circular(c) ? late + ds_slots(c->ds) : 0;
}

bool ds_has_records(const struct debug_store *ds)
{
	return READ_ONCE(ds->bts_index) != ds->bts_buffer_base || ds_has_wrapped(ds);
}

/*
 * Return the number of records in @slice up to the last non-zero record. If perf resets the index
 * before a circular buffer wraps, the last slots of the buffer stay zero.
 */
static unsigned int ds_nr_stored(const struct ds_bts_slice *slice)
{
	unsigned int nr = slice->nr;

	while (nr && !slice->rec[nr - 1].from && !slice->rec[nr - 1].to)
		nr--;
	return nr;
}

/**
 * ds_slice - find the records that a CPU has stored
 * @c:		the CPU's state; BTS is off
 * @batch:	the batch; this function sets its slices, @wrapped and @full
 */
void ds_slice(const struct ds_bts_cpu *c, struct ds_bts_batch *batch)
{
	struct ds_bts_record *rec = (void *)c->ds->bts_buffer_base;
	unsigned int nr = (c->end - c->ds->bts_buffer_base) / sizeof(*rec);
	bool circular = ds_is_circular(c);
	unsigned int slots = ds_slots(c->ds);
	unsigned int first, last;

	if (!circular || !ds_has_wrapped(c->ds)) {
		batch->slice[0] = (struct ds_bts_slice){ rec, min(nr, slots) };
		batch->full = !circular && nr >= slots;
		/* A linear buffer's index points to a free slot unless perf has reset the index. */
		batch->wrapped = !circular && READ_ONCE(c->ds->bts_index) >= c->end &&
				 (!nr || ds_next_slot(c->ds)) && ds_has_wrapped(c->ds);
		return;
	}
	batch->wrapped = true;
	nr %= slots;
	first = ds_next_slot(c->ds) + 1;
	/* Late records may make the buffer wrap even after BTS was switched off. */
	last = first <= nr ? nr : slots;
	batch->slice[0] = (struct ds_bts_slice){ rec + first, last - first };
	batch->slice[0].nr = ds_nr_stored(&batch->slice[0]);
	batch->slice[1] = (struct ds_bts_slice){ rec, first <= nr ? 0 : nr };
}

const struct ds_bts_record *ds_rec(const struct ds_bts_batch *batch, unsigned int i)
{
	unsigned int first = batch->slice[0].nr;

	return i < first ? &batch->slice[0].rec[i] : &batch->slice[1].rec[i - first];
}

static unsigned int ds_skip_own(const struct ds_bts_batch *batch, unsigned int i)
{
	while (i < ds_bts_nr(batch) && ds_is_own(ds_rec(batch, i)))
		i++;
	return i;
}

/*
 * Return how many of @nr records the driver examines to find where an NMI begins or ends. With
 * BTS_OFF_OS, the CPU stores at most one record when an NMI begins, and at most one when it ends.
 */
static unsigned int ds_nmi_window(const struct ds_bts_cpu *c, unsigned int nr)
{
	return min(nr, c->ctl & DEBUGCTLMSR_BTS_OFF_OS ? 1 : DS_NMI_RECORDS);
}

/* Count the tracer's own records at a batch's start. They show how the previous drain ended. */
static unsigned int ds_own_head(struct ds_bts_batch *batch, const struct ds_bts_cpu *c)
{
	unsigned int head = ds_skip_own(batch, 0);
	unsigned int nr = ds_bts_nr(batch);
	const struct ds_bts_record *rec;
	unsigned int window, i;

	while (head && head < nr && ds_in(ds_rec(batch, head)->from,
					  __return_thunk_start, __return_thunk_end))
		head++;

	if (c->back == DS_NOWHERE)
		return head;
	window = ds_nmi_window(c, nr - head);
	for (i = head; i < head + window; i++) {
		rec = ds_rec(batch, i);
		if (rec->to == c->back && !ds_is_user(rec->from))
			return ds_skip_own(batch, i + 1);
	}
	batch->unsure += c->ctl & DEBUGCTLMSR_BTS_OFF_OS ? 0 : window;
	return head;
}

/*
 * NMIs that interrupt a KVM guest have separate entry points. With FRED, all events share entry
 * points, so a batch may contain several branches to them. The last of these branches belongs to
 * the NMI, or to a machine check or data breakpoint that interrupted the NMI while BTS was on.
 */
static bool ds_is_nmi_entry(u64 addr)
{
	bool entry = addr == (unsigned long)asm_exc_nmi;

#if IS_ENABLED(CONFIG_KVM_INTEL)
	entry |= addr == (unsigned long)asm_exc_nmi_kvm_vmx;
#endif
#ifdef CONFIG_X86_FRED
	entry |= addr == (unsigned long)asm_fred_entrypoint_user ||
		 addr == (unsigned long)asm_fred_entrypoint_kernel ||
		 (IS_ENABLED(CONFIG_KVM_INTEL) &&
		  addr == (unsigned long)asm_fred_entry_from_kvm);
#endif
	return entry;
}

/* An NMI has interrupted @ip. Report whether @rec may be the branch to the NMI's entry point. */
static bool ds_is_entry_from(const struct ds_bts_cpu *c, const struct ds_bts_record *rec,
			     unsigned long ip)
{
	/* With BTS_OFF_USR, this NMI may have no record, so @rec may be from an earlier NMI. */
	if ((c->ctl & DEBUGCTLMSR_BTS_OFF_USR) && ds_is_user(ip) && !ds_is_user(rec->from))
		return false;
	return ds_is_nmi_entry(rec->to);
}

/* Find the branch to the NMI's entry point. Return its record's index, or @nr if not found. */
static unsigned int ds_nmi_tail(struct ds_bts_batch *batch, const struct ds_bts_cpu *c,
				unsigned long ip, unsigned int head, unsigned int nr)
{
	unsigned int window = ds_nmi_window(c, nr - head);
	unsigned int i;

	/* If BTS was off before the NMI (e.g. after a VM exit), no record shows the NMI's start. */
	if (!(c->debugctl & DEBUGCTLMSR_TR))
		window = 0;
	/* With BTS_OFF_OS, no record shows the start of an NMI that interrupts the kernel. */
	if ((c->ctl & DEBUGCTLMSR_BTS_OFF_OS) && !ds_is_user(ip))
		window = 0;
	for (i = nr; !batch->full && i > nr - window; i--) {
		if (ds_is_entry_from(c, ds_rec(batch, i - 1), ip))
			return i - 1;
	}
	batch->unsure += c->ctl & DEBUGCTLMSR_BTS_OFF_OS ? 0 : window;
	return nr;
}

/*
 * A batch may end with the tracer's own records. Return the index of the first of these records. If
 * an NMI has interrupted code in .text..ds, the NMI's records count as own records, too.
 */
static unsigned int ds_own_tail(struct ds_bts_batch *batch, const struct ds_bts_cpu *c,
				unsigned long ip, unsigned int head)
{
	unsigned int tail = ds_bts_nr(batch);
	unsigned int i;

	if (ip != DS_NOWHERE)
		tail = ds_nmi_tail(batch, c, ip, head, tail);
	for (i = tail; i > head; i--) {
		if (ds_is_own(ds_rec(batch, i - 1)))
			tail = i - 1;
		else if (!c->interrupted || tail - i >= DS_NMI_RECORDS)
			break;
	}
	return tail;
}

/**
 * ds_cut_own - remove the tracer's own records from a batch
 * @batch:	the batch; this function increases its @own and @unsure
 * @c:		the CPU's state, which shows how the previous drain ended and how this drain began
 * @ip:		the interrupted address if the entry code of an NMI has switched BTS off for this
 *		drain; otherwise DS_NOWHERE
 */
void ds_cut_own(struct ds_bts_batch *batch, const struct ds_bts_cpu *c, unsigned long ip)
{
	unsigned int head = ds_own_head(batch, c);
	unsigned int tail = ds_own_tail(batch, c, ip, head);
	unsigned int end = ds_bts_nr(batch) - tail;
	struct ds_bts_slice *slice = batch->slice;
	unsigned int skip = min(head, slice[0].nr);

	batch->own += head + end;
	slice[1].nr -= min(end, slice[1].nr);
	slice[0].nr = min(tail, slice[0].nr) - skip;
	slice[0].rec += skip;
	slice[1].nr -= head - skip;
	slice[1].rec += head - skip;
	/* If own branches filled the last slots, only own branches are missing. Report no loss. */
	if (end && ip == DS_NOWHERE)
		batch->full = false;
}

/**
 * ds_cpl_trait - find out whether BTS_OFF_* test the CPL at a branch's origin or its target
 * @batch: records stored with BTS_OFF_OS set
 *
 * Return: DS_TRAIT_CPL_*, or 0 if the batch neither begins nor ends in the kernel.
 */
unsigned int ds_cpl_trait(const struct ds_bts_batch *batch)
{
	unsigned int nr = ds_bts_nr(batch);

	if (nr && !ds_is_user(ds_rec(batch, nr - 1)->to))
		return DS_TRAIT_CPL_BEFORE;
	if (nr && !ds_is_user(ds_rec(batch, 0)->from))
		return DS_TRAIT_CPL_AFTER;
	return 0;
}

/**
 * ds_ctl - return the bits to set in DEBUGCTL for a mode
 * @mode:	DS_BTS_*
 * @has_cpl:	the CPU has BTS_OFF_OS and BTS_OFF_USR (DS-CPL)
 *
 * Return: the bits; 0 if @mode records nothing.
 */
u64 ds_ctl(unsigned int mode, bool has_cpl)
{
	u64 ctl = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;

	if (!(mode & (DS_BTS_USER | DS_BTS_KERNEL)))
		return 0;
	if (!(mode & DS_BTS_CIRCULAR))
		ctl |= DEBUGCTLMSR_BTINT;
	/* If no BTS_OFF_* bit is set, the tracer itself drops the branches of the unwanted side. */
	if (has_cpl && (mode & DS_BTS_CPL_FILTER)) {
		if (!(mode & DS_BTS_KERNEL))
			ctl |= DEBUGCTLMSR_BTS_OFF_OS;
		if (!(mode & DS_BTS_USER))
			ctl |= DEBUGCTLMSR_BTS_OFF_USR;
	}
	return ctl;
}
