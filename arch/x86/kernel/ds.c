// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: record every taken branch through the Debug Store
 *
 * The CPU writes a record of 24 bytes (from, to, flags) for each taken branch
 * into a buffer of its own, and raises the performance-monitoring interrupt
 * (PMI, an NMI in Linux) when the buffer has filled up to a threshold:
 *
 *	base                  index       threshold           maximum
 *	 | rec | rec | ... | rec |            |    (room)        |
 *	                         ^ the CPU writes here
 *
 * Or, for a flight recorder (DS_BTS_CIRCULAR), it goes round in the buffer
 * without an interrupt, and only the latest records are there:
 *
 *	base                  index                           maximum
 *	 | rec | ... newest | x | oldest | rec | ...   | rec |
 *
 * "Draining" is: switch BTS off, hand the records between base and index to
 * the client, put the index back to base, switch BTS on again. It happens
 *
 *	- in the PMI, but for a flight recorder;
 *	- when the client says that the CPU turns to another task, wants to see
 *	  the records, or changes what is to be recorded;
 *	- when the CPU goes offline, and when the client gives BTS back;
 *	- when the kernel crashes, on all CPUs, by NMI on the others.
 *
 * Whose hardware this is: perf's. It owns the DS area, of which PEBS uses the
 * other half, the counters, and the PMI's vector. A claim asks perf for the BTS
 * half (intel_ds_claim_bts()); perf and this driver then refuse each other with
 * -EBUSY. perf allocates the buffer, maps it in the cpu_entry_area, where it is
 * present in the user page tables of KPTI as well, and writes MSR_IA32_DS_AREA,
 * also for CPUs that come online later. MSR_IA32_DEBUGCTLMSR is shared with
 * block stepping and perf: only TR, BTS, BTINT and BTS_OFF_* are changed here.
 * The PMI's LVT entry, which the local APIC masks when it delivers, is unmasked
 * by perf's handler: a claim keeps that handler active, and it runs on each PMI,
 * between ours that drains and ours that switches BTS on again.
 *
 * Flight recorder. The hardware does not tell whether it has gone round, so the
 * last slot gets a mark before it starts: if that is overwritten, it has. The
 * oldest record (x above), which would have been the next to go, is not handed
 * over then. So a buffer that has gone round has always lost something, also one
 * that was filled exactly; how much, nobody knows. What is left of the way out
 * of the tracer is at that end, too, and goes with it.
 *
 * It is drained at each task switch as well. Rejected: to let it go on, with the
 * PID noted in the flags of the last record. A task that sleeps would find its
 * records overwritten by those that ran since, the client would have to decide
 * about records of tasks that may be gone, and the tracer's own branches would
 * be amid the rest. As it is, a switch costs one buffer at the most, however
 * long the task ran, and the client keeps what led to each task's sleep.
 *
 * While a drain goes on, with interrupts off, the CPU does nothing else. So
 * nothing is missing between two drains but what was overwritten.
 *
 * Concurrency. Each CPU's state (struct ds_bts_cpu), its DS area and its
 * DEBUGCTL are touched by that CPU alone, with interrupts off. What is left is
 * the NMI:
 *
 *	- @armed is true while an NMI may drain. A drain elsewhere clears it before
 *	  it looks at the buffer or at DEBUGCTL, and sets it again after the index
 *	  is back at base, before BTS goes on. An NMI in between finds !armed and
 *	  leaves the buffer alone. All that it may do is to switch BTS off if that
 *	  is not done yet, which is what the drain is about to do. No lock.
 *	- ds_bts_inside is true from the client's first instruction on until its
 *	  drain has cleared @armed. To an NMI it is the same as !armed.
 *	- A drain that finds the index past the threshold knows that a PMI is on its
 *	  way: @pmi_due has the NMI handler own up to it, so that it does not
 *	  become an unknown NMI. @pmi_seen says that it came too early for that.
 *
 * Other CPUs read @ctl, and the index, as a hint only (ds_bts_flush_all()).
 * Claim and release are serialized by ds_bts_mutex. CPUs join and leave in the
 * STARTING section of CPU hotplug, after perf has set DS_AREA and before it
 * clears it, with interrupts off on the CPU in question. For the last CPU of a
 * suspend the syscore operations do the same.
 *
 * The tracer is not shown in its own trace. In a kernel-mode trace the branches
 * into this driver stand at the end of each batch, those out of it at the
 * beginning of the next. The first are cut off from the branch that entered the
 * tracer on: to the caller's function, or, when an interrupt brought us here,
 * from the interrupted instruction into the entry text. If that branch is not
 * there, a PMI in between has taken it away, and the whole batch is the tracer's.
 * If that PMI came amid an interrupt by which another CPU asks for the drain, it
 * has left out what it found of it: whoever asks announces it (ds_bts_coming).
 * A full buffer may have no room for it: then only what cannot be anything else
 * is cut off, and the branches of an NMI that kept the PMI waiting are shown.
 * A PMI right at the client's first instruction cuts off the branch to it, too; as
 * interrupts are off there, nothing but NMIs can follow before the client drains.
 *
 * The second are dropped up to the branch to the caller's return address, or
 * from the entry text back to the interrupted instruction. A branch with an end
 * in user space ends them in any case, for the tracer has none, and so does the
 * entry of what the kernel does on the way out of an interrupt that is not the
 * tracer's doing (softirqs, preemption, signals). Then the interrupt is in the trace
 * after all: the branch to it stands in front of that work, and nothing between.
 *
 * When the kernel crashes, what follows the branch into panic() or into the
 * exception is left out: a trace that is dumped then ends where the crash began.
 *
 * What BTS cannot see: SMM; a VMX guest, which has a DEBUGCTL of its own; what
 * a full buffer has no room for, which is reported, though nobody can count it.
 *
 * SDM vol. 3: "Branch Trace Store (BTS)", "BTS and DS Save Area", "DS Save
 * Area", "Writing the DS Interrupt Service Routine".
 */

#define pr_fmt(fmt) "x86/ds: " fmt

#include <linux/cpufeature.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/entry-common.h>
#include <linux/interrupt.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/nmi.h>
#include <linux/panic.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>

#include <asm/apic.h>
#include <asm/cpu_device_id.h>
#include <asm/cpu_entry_area.h>
#include <asm/debugreg.h>
#include <asm/desc.h>
#include <asm/ds.h>
#include <asm/idtentry.h>
#include <asm/intel_ds.h>
#include <asm/perf_event.h>
#include <asm/sections.h>

/* The bits of DEBUGCTL that this driver may change. */
#define DS_BTS_CTL_MASK	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT | \
			 DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

/*
 * Records per interrupt, if nobody says otherwise. The handler's time is this
 * many times what the client takes for a record. The more, the less they cost the
 * program, and the longer perf's interrupts wait: with 512 it samples a sixth less
 * often than it is told to.
 * It also is the room above the threshold, where branches go on arriving
 * until the handler has switched BTS off: what remains of perf's 2730 records
 * is many times what an NMI's entry takes, so that an NMI in front of ours,
 * perf's for instance, does not fill the buffer either.
 */
#define DS_BTS_THRESHOLD	256

/*
 * How many records the tracer leaves when it goes back to what is traced, at
 * the most: it may have to end an interrupt.
 */
#define DS_BTS_WAY_OUT		512U

/* Not canonical: code has no such address, so that no branch comes from there. */
#define DS_BTS_UNUSED		BIT_ULL(63)

enum ds_bts_entry {
	DS_CALLED,	/* the tracer was called, at bounds.entry */
	DS_INTERRUPTED,	/* an NMI did, at bounds.resume */
	DS_IPI,		/* a function call interrupt did, who knows where */
	DS_CRASHED,	/* an exception or panic() did */
};

/**
 * struct ds_bts_bounds - which records are the tracer's own
 * @how:	how the tracer was entered
 * @entry:	first instruction of the tracer, if it was called; the interrupt's, of
 *		one that is known to have interrupted
 * @resume:	first instruction of the traced code after the tracer; there is
 *		none after a crash
 */
struct ds_bts_bounds {
	enum ds_bts_entry how;
	unsigned long	entry;
	unsigned long	resume;
};

/**
 * struct ds_bts_cpu - a CPU's BTS, private to that CPU but for @crash_*
 * @ds:		its DS area, or NULL while BTS on this CPU is not ours
 * @ctl:	bits that we have set in DEBUGCTL; 0 while nothing is recorded
 * @mode:	DS_BTS_*, what @ctl stands for
 * @armed:	the NMI handler may drain
 * @pmi_due:	a PMI is on its way for records that are drained already
 * @pmi_seen:	a PMI came while somebody else drained
 * @amid_nmi:	the NMI handler has drained, and ds_bts_nmi_end() is to go on
 * @crash_asked: another CPU crashes: give what there is, and stop
 * @crash_nmi_due: the NMI by which it asks is on its way
 * @entered:	an NMI has left out the call of the client, which is to drain
 * @leaving:	records up to @way.resume are still to be dropped
 * @way:	see @leaving
 * @ipi:	a function call interrupt whose beginning an NMI has left out; no
 *		@ipi.resume if there is none
 * @threshold:	perf's interrupt threshold, put back when BTS is given back
 */
struct ds_bts_cpu {
	struct debug_store	*ds;
	u64			ctl;
	unsigned int		mode;
	bool			armed;
	bool			pmi_due;
	bool			pmi_seen;
	bool			amid_nmi;
	bool			crash_asked;
	bool			crash_nmi_due;
	bool			entered;
	bool			leaving;
	struct ds_bts_bounds	way;
	struct ds_bts_bounds	ipi;
	u64			threshold;
};

static DEFINE_PER_CPU(struct ds_bts_cpu, ds_bts_cpu);
DEFINE_PER_CPU(bool, ds_bts_inside);

/* Records per interrupt. Written under ds_bts_mutex, read by ds_prepare(). */
static unsigned int ds_bts_threshold = DS_BTS_THRESHOLD;

/*
 * How many more it must be on this CPU because the tracer's own way out of the
 * interrupt is recorded, too: see ds_wait_longer().
 */
static DEFINE_PER_CPU(unsigned int, ds_bts_slack);

/*
 * Function calls of ours to this CPU that have been asked for and not been done.
 * Counted by those who ask and by the CPU, hence atomic.
 */
static DEFINE_PER_CPU(atomic_t, ds_bts_coming);

/* Protects ds_bts_client against a second claim; not taken while tracing. */
static DEFINE_MUTEX(ds_bts_mutex);
static const struct ds_bts_client *ds_bts_client;

static bool ds_in_entry_text(u64 addr)
{
	return addr >= (unsigned long)__entry_text_start &&
	       addr < (unsigned long)__entry_text_end;
}

/* User space is the lower half; so is neither end of the tracer's branches. */
static bool ds_has_user_end(const struct ds_bts_record *rec)
{
	return (s64)rec->from >= 0 || (s64)rec->to >= 0;
}

static bool ds_enters(const struct ds_bts_bounds *way,
		      const struct ds_bts_record *rec)
{
	switch (way->how) {
	case DS_INTERRUPTED:
		return rec->from == way->resume && ds_in_entry_text(rec->to);
	case DS_IPI:
		return rec->to == (unsigned long)asm_sysvec_call_function ||
		       rec->to == (unsigned long)asm_sysvec_call_function_single;
	default:
		return rec->to == way->entry;
	}
}

static bool ds_resumes(const struct ds_bts_bounds *way,
		       const struct ds_bts_record *rec)
{
	if (rec->to != way->resume)
		return false;
	return way->how != DS_INTERRUPTED || ds_in_entry_text(rec->from);
}

/* What an interrupt's exit may turn to, and is not done for the tracer. */
static bool ds_starts_work(const struct ds_bts_record *rec)
{
	if (IS_ENABLED(CONFIG_PREEMPTION) &&
	    rec->to == (unsigned long)preempt_schedule_irq)
		return true;
	return rec->to == (unsigned long)__do_softirq ||
	       rec->to == (unsigned long)schedule ||
	       rec->to == (unsigned long)arch_do_signal_or_restart;
}

static unsigned int ds_slots(const struct debug_store *ds)
{
	return (ds->bts_absolute_maximum - ds->bts_buffer_base) /
	       sizeof(struct ds_bts_record);
}

/* The slot that a circular buffer fills last before it wraps. */
static struct ds_bts_record *ds_last_slot(const struct debug_store *ds)
{
	return (struct ds_bts_record *)ds->bts_buffer_base + ds_slots(ds) - 1;
}

static bool ds_has_wrapped(const struct debug_store *ds)
{
	return READ_ONCE(ds_last_slot(ds)->from) != DS_BTS_UNUSED;
}

/*
 * How many of the first @nr records were taken on the way out of the tracer.
 * Ends the leaving where that way ends.
 */
static unsigned int ds_own_head(struct ds_bts_cpu *c,
				const struct ds_bts_record *rec, unsigned int nr)
{
	unsigned int i;

	if (!c->leaving)
		return 0;

	for (i = 0; i < nr; i++) {
		bool resumes = ds_resumes(&c->way, &rec[i]);

		if (!resumes && !ds_has_user_end(&rec[i]) &&
		    !ds_starts_work(&rec[i]))
			continue;
		c->leaving = false;
		return resumes ? i + 1 : i;
	}
	return nr;
}

/*
 * The interrupt by which the tracer came does other work on its way out, or calls
 * the tracer @again, to turn to another task for instance. What follows is shown,
 * the branch back to what was interrupted at the latest, and so must be the one
 * from there: in the place of the last of the @head records that are dropped.
 * Returns how many still are.
 */
static unsigned int ds_show_entry(struct ds_bts_cpu *c,
				  const struct ds_bts_batch *batch,
				  const struct ds_bts_bounds *again,
				  unsigned int head)
{
	const struct ds_bts_record *rec = batch->rec;
	struct ds_bts_record *last;

	if (!head || c->way.how != DS_INTERRUPTED || !c->way.entry)
		return head;
	if (c->leaving && again->how != DS_CALLED)
		return head;
	if (!c->leaving && (head == batch->nr || !ds_starts_work(&rec[head]) ||
			    ds_resumes(&c->way, &rec[head - 1])))
		return head;
	/* The buffer is ours until it is handed over. */
	last = (struct ds_bts_record *)&rec[head - 1];
	last->from = c->way.resume;
	last->to = c->way.entry;
	return head - 1;
}

/*
 * The last record that enters the tracer by @way; or, if one with an end in user
 * space follows it, the last of these. NULL if there is neither.
 */
static const struct ds_bts_record *
ds_find_entry(const struct ds_bts_bounds *way, const struct ds_bts_record *rec,
	      unsigned int nr)
{
	while (nr--) {
		if (ds_enters(way, &rec[nr]) || ds_has_user_end(&rec[nr]))
			return &rec[nr];
	}
	return NULL;
}

/*
 * How many of the last @nr records were taken on the way into the tracer. That
 * way lies in the kernel, but for the instruction that an interrupt hits. If
 * that one is in user space, the branch from there may have been filtered out.
 * Tells @way where an IPI has interrupted the traced code.
 */
static unsigned int ds_own_tail(struct ds_bts_bounds *way,
				const struct ds_bts_record *rec, unsigned int nr)
{
	const struct ds_bts_record *entry = ds_find_entry(way, rec, nr);
	bool from_user = way->how == DS_IPI || (s64)way->resume >= 0;

	/*
	 * Not there: the beginning went with an earlier batch; but NMIs do not nest,
	 * and that of one which ended a guest's time on the CPU was never stored.
	 */
	if (!entry)
		return way->how == DS_INTERRUPTED && !from_user ? 0 : nr;
	if (!ds_enters(way, entry))
		return from_user ? rec + nr - entry - 1 : 0;

	if (way->how == DS_IPI) {
		way->how = DS_INTERRUPTED;
		way->resume = entry->from;
		way->entry = entry->to;
	}
	return rec + nr - entry;
}

/*
 * Is @rec of this way into the tracer, and can it be of no other? The function
 * that drains is called for nothing else. An NMI that was entered behind the
 * threshold is the one that drains: an earlier one would have done so.
 */
static bool ds_surely_enters(const struct debug_store *ds,
			     const struct ds_bts_bounds *way,
			     const struct ds_bts_record *rec)
{
	if (way->how != DS_INTERRUPTED)
		return rec->to == way->entry;
	return (unsigned long)rec >= ds->bts_interrupt_threshold &&
	       ds_enters(way, rec);
}

/*
 * As ds_own_tail(), where the buffer is full. It may have been full long before
 * the way into the tracer began, and then the last branch that looks like its
 * beginning is an interrupt's that has nothing to do with the tracer: perf's
 * NMI at the same instruction, which kept ours waiting, or somebody else's IPI.
 */
static unsigned int ds_own_full_tail(const struct debug_store *ds,
				     struct ds_bts_bounds *way,
				     const struct ds_bts_record *rec,
				     unsigned int nr)
{
	unsigned int i;

	for (i = nr; i > 0; i--) {
		if (ds_surely_enters(ds, way, &rec[i - 1]))
			return nr - i + ds_own_tail(way, rec, i);
	}
	return 0;
}

/*
 * How many of the last @nr records, before an NMI, are of the client, which had
 * been called and not come to ds_bts_enter(): its call, or, if that went with an
 * earlier NMI, all, for interrupts are off where it is called.
 */
static unsigned int ds_entry_tail(struct ds_bts_cpu *c,
				  const struct ds_bts_record *rec,
				  unsigned int nr)
{
	unsigned int i;

	if (c->entered)
		return nr;
	for (i = 0; nr && i < DS_BTS_ENTRIES; i++) {
		if (rec[nr - 1].to != ds_bts_client->entries[i])
			continue;
		c->entered = true;
		return 1;
	}
	return 0;
}

/*
 * How many of the last @nr records are of a function call interrupt that has not
 * ended. @ipi is one that began before, and tells the same for what comes after.
 */
static unsigned int ds_ipi_tail(const struct ds_bts_record *rec, unsigned int nr,
				struct ds_bts_bounds *ipi)
{
	const struct ds_bts_bounds any = { .how = DS_IPI };
	unsigned int tail = ipi->resume ? nr : 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (ds_enters(&any, &rec[i])) {
			ipi->how = DS_INTERRUPTED;
			ipi->entry = rec[i].to;
			ipi->resume = rec[i].from;
			tail = nr - i;
		} else if (ds_has_user_end(&rec[i]) ||
			   (ipi->resume && ds_resumes(ipi, &rec[i]))) {
			ipi->resume = 0;
			tail = 0;
		}
	}
	return tail;
}

/* An interrupt or an exception of the kernel: to what an entry of the IDT says. */
static bool ds_interrupts(const struct ds_bts_record *rec)
{
	const gate_desc *gate;
	struct desc_ptr idt;
	unsigned int i;

	if ((s64)rec->from >= 0 || !ds_in_entry_text(rec->to))
		return false;
	store_idt(&idt);
	gate = (const gate_desc *)idt.address;
	for (i = 0; i < IDT_ENTRIES; i++)
		if (gate_offset(&gate[i]) == rec->to)
			return true;
	return false;
}

/*
 * The last of the @nr records is a branch out of the entry code. If that is the
 * return from an interrupt, how many are left in front of that one's beginning?
 */
static unsigned int ds_before_interrupt(const struct ds_bts_record *rec,
					unsigned int nr)
{
	u64 resume = rec[nr - 1].to;
	unsigned int i;

	for (i = nr - 1; i > 0; i--) {
		if (rec[i - 1].from == resume && ds_interrupts(&rec[i - 1]))
			return i - 1;
	}
	return nr - 1;
}

/*
 * How many of the last @nr records followed a crash: what came after the branch
 * out of the kernel code that crashed, which is shown. panic() is called but once,
 * and a PMI may have come behind it. An exception is the last one that has not
 * ended: an interrupt amid its handling has. If the buffer is @full, it may be one
 * of long before. At worst the records are gone through once for each.
 */
static unsigned int ds_crash_tail(const struct ds_bts_record *rec,
				  unsigned int nr, bool full)
{
	unsigned int i;

	for (i = nr; i > 0; i--)
		if (rec[i - 1].to == (unsigned long)panic)
			return nr - i;
	if (full)
		return 0;

	i = nr;
	while (i > 0) {
		if (ds_interrupts(&rec[i - 1]))
			return nr - i;
		if (ds_in_entry_text(rec[i - 1].from) &&
		    !ds_in_entry_text(rec[i - 1].to))
			i = ds_before_interrupt(rec, i);
		else
			i--;
	}
	return 0;
}

/* Leave what is the tracer's own out of @batch. */
static void ds_cut_own(struct ds_bts_cpu *c, struct ds_bts_bounds *way,
		       struct ds_bts_batch *batch)
{
	unsigned int nr = batch->nr;
	unsigned int head, tail;

	head = ds_own_head(c, batch->rec, nr);
	head = ds_show_entry(c, batch, way, head);
	batch->rec += head;
	batch->nr -= head;

	if (way->how == DS_CRASHED)
		tail = ds_crash_tail(batch->rec, batch->nr, batch->full);
	else if (batch->full)
		tail = ds_own_full_tail(c->ds, way, batch->rec, batch->nr);
	else
		tail = ds_own_tail(way, batch->rec, batch->nr);
	/* An NMI amid the crash. */
	if (batch->cause == DS_DRAIN_CRASH && way->how == DS_INTERRUPTED)
		tail += ds_crash_tail(batch->rec, batch->nr - tail, true);
	if (batch->cause == DS_DRAIN_INTERRUPT)
		tail += ds_entry_tail(c, batch->rec, batch->nr - tail);
	/* An NMI amid an interrupt that is about to drain, most probably. */
	if (batch->cause == DS_DRAIN_INTERRUPT &&
	    atomic_read(this_cpu_ptr(&ds_bts_coming)))
		tail += ds_ipi_tail(batch->rec, batch->nr - tail, &c->ipi);
	batch->nr -= tail;
	batch->own = nr - batch->nr;

	/* The branch that is waited for may be among those not stored. */
	if (batch->full)
		c->leaving = false;
}

static void ds_reverse(struct ds_bts_record *rec, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr / 2; i++)
		swap(rec[i], rec[nr - 1 - i]);
}

/* Let the record at @first be the first one: those before it go to the end. */
static void ds_rotate(struct ds_bts_record *rec, unsigned int nr,
		      unsigned int first)
{
	ds_reverse(rec, first);
	ds_reverse(rec + first, nr - first);
	ds_reverse(rec, nr);
}

/*
 * How many of the oldest records of a buffer that has wrapped are given up; the
 * first of them was at slot @first. One in any case: it would have been
 * overwritten next. So a buffer that has wrapped has always lost a record, also
 * if it had been filled exactly. And what is left of the way out of the tracer,
 * which lies in the first slots as long as nothing has overwritten it there.
 */
static unsigned int ds_given_up(struct ds_bts_cpu *c,
				const struct ds_bts_record *rec,
				unsigned int first)
{
	unsigned int limit = min(ds_slots(c->ds), DS_BTS_WAY_OUT);
	unsigned int head = 0;

	if (first < limit)
		head = ds_own_head(c, rec, limit - first);
	/* Its end is not there: it was overwritten. */
	if (c->leaving)
		head = 0;
	c->leaving = false;
	return max(head, 1U);
}

/* Have what a circular buffer holds in @batch, oldest first. */
static void ds_unwrap(struct ds_bts_cpu *c, struct ds_bts_batch *batch)
{
	struct ds_bts_record *rec = (void *)c->ds->bts_buffer_base;
	unsigned int slots = ds_slots(c->ds);
	unsigned int skip;

	if (!ds_has_wrapped(c->ds))
		return;

	/* The index may be at the maximum: the CPU wraps when it likes. */
	batch->nr %= slots;
	ds_rotate(rec, slots, batch->nr);
	skip = ds_given_up(c, rec, batch->nr);

	batch->rec = rec + skip;
	batch->nr = slots - skip;
	batch->wrapped = true;
}

/* The bits of DEBUGCTL for @mode. */
static u64 ds_ctl(unsigned int mode)
{
	u64 ctl = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;

	if (!(mode & (DS_BTS_USER | DS_BTS_KERNEL)))
		return 0;
	if (!(mode & DS_BTS_CIRCULAR))
		ctl |= DEBUGCTLMSR_BTINT;
	/* Everything is stored, and the client filters. */
	if (!(mode & DS_BTS_CPL_FILTER) || !boot_cpu_has(X86_FEATURE_DSCPL))
		return ctl;
	if (!(mode & DS_BTS_KERNEL))
		ctl |= DEBUGCTLMSR_BTS_OFF_OS;
	if (!(mode & DS_BTS_USER))
		ctl |= DEBUGCTLMSR_BTS_OFF_USR;
	return ctl;
}

/*
 * Context: interrupts off. An NMI between the read and the write changes none
 * of the bits but those that are overwritten: see ds_bts_nmi().
 */
static void ds_write_ctl(u64 ctl)
{
	update_debugctlmsr((get_debugctlmsr() & ~DS_BTS_CTL_MASK) | ctl);
}

/*
 * A PMI is on its way if the index has reached the threshold, unless it was
 * taken since !armed. The NMI handler does the counterpart:
 *
 *	drain				NMI
 *	pmi_due = true			if pmi_due: pmi_due = false, else
 *	if pmi_seen: pmi_due = false	if past the threshold: pmi_seen = true
 *
 * Whenever the NMI comes, one of the two sees the other's store.
 */
static void ds_expect_pmi(struct ds_bts_cpu *c)
{
	WRITE_ONCE(c->pmi_due, true);
	/* An NMI on this CPU sees the store before the load below. */
	barrier();
	if (READ_ONCE(c->pmi_seen))
		WRITE_ONCE(c->pmi_due, false);
}

/*
 * A PMI found nothing but the tracer's own branches. With a low threshold those
 * on the way out of a PMI can raise the next, before the traced code has taken a
 * single branch, and so on for ever. Let there be as many more, then.
 */
static void ds_wait_longer(unsigned int own)
{
	unsigned int slack = this_cpu_read(ds_bts_slack) + own;

	this_cpu_write(ds_bts_slack, min(slack, DS_BTS_WAY_OUT));
}

/*
 * Hand over what the buffer holds and empty it.
 * Context: the buffer's CPU, interrupts off, BTS stores nothing, !armed.
 */
static void ds_drain(struct ds_bts_cpu *c, enum ds_drain_cause cause,
		     struct ds_bts_bounds *way)
{
	struct debug_store *ds = c->ds;
	u64 index = READ_ONCE(ds->bts_index);
	struct ds_bts_batch batch = {
		.rec	= (void *)ds->bts_buffer_base,
		.nr	= (index - ds->bts_buffer_base) / sizeof(*batch.rec),
		.cause	= cause,
	};

	if (cause != DS_DRAIN_INTERRUPT && index >= ds->bts_interrupt_threshold)
		ds_expect_pmi(c);

	if (c->mode & DS_BTS_CIRCULAR)
		ds_unwrap(c, &batch);
	else
		batch.full = index + sizeof(*batch.rec) > ds->bts_absolute_maximum;

	if (batch.nr || cause == DS_DRAIN_INTERRUPT || cause == DS_DRAIN_FLUSH) {
		ds_cut_own(c, way, &batch);
		if (cause == DS_DRAIN_INTERRUPT && !batch.nr)
			ds_wait_longer(batch.own);
		ds_bts_client->records(&batch);
	}
	WRITE_ONCE(ds->bts_index, ds->bts_buffer_base);
	/* From here on an NMI finds nothing to have seen. */
	barrier();
	WRITE_ONCE(c->pmi_seen, false);
}

/*
 * The buffer is empty. Tell the hardware how to fill it: up to a threshold, or
 * again and again. A circular buffer's last slot gets a mark that no record can
 * have, and that is gone when it has been filled to its end.
 */
static void ds_prepare(struct debug_store *ds, unsigned int mode)
{
	const u64 size = sizeof(struct ds_bts_record);
	u64 threshold;

	if (mode & DS_BTS_CIRCULAR) {
		threshold = ds->bts_absolute_maximum + size;
		WRITE_ONCE(ds_last_slot(ds)->from, DS_BTS_UNUSED);
	} else {
		threshold = ds->bts_buffer_base + size *
			(READ_ONCE(ds_bts_threshold) + this_cpu_read(ds_bts_slack));
	}
	WRITE_ONCE(ds->bts_interrupt_threshold, threshold);
}

/*
 * @way is how the tracer is left again. An interrupt amid another one's way out
 * does not end that.
 */
static void ds_leave(struct ds_bts_cpu *c, enum ds_drain_cause cause,
		     const struct ds_bts_bounds *way)
{
	if (!c->leaving || way->how == DS_CALLED) {
		/* An NMI has seen where this one came from. */
		c->way = way->how == DS_IPI && c->ipi.resume ? c->ipi : *way;
		c->leaving = true;
	}
	if (cause != DS_DRAIN_INTERRUPT) {
		c->ipi.resume = 0;
		c->entered = false;
	}
}

/*
 * Hand over what this CPU has recorded. DEBUGCTL is written only where branches
 * of the kernel, ours among them, are being stored. ds_go() must follow.
 * Context: this CPU, interrupts off; from NMI only if armed.
 */
static void ds_halt(struct ds_bts_cpu *c, enum ds_drain_cause cause,
		    struct ds_bts_bounds *way)
{
	/* From here on an NMI on this CPU leaves the buffer alone. */
	WRITE_ONCE(c->armed, false);
	barrier();
	this_cpu_write(ds_bts_inside, false);

	if (!c->ctl)
		return;
	if (!(c->ctl & DEBUGCTLMSR_BTS_OFF_OS))
		ds_write_ctl(0);
	ds_drain(c, cause, way);
}

/*
 * BTS was off, and goes on. What is in the buffer nobody has asked for: something
 * has put our bits back into DEBUGCTL, as a hypervisor does with what it saved if
 * a crash's NMI switched BTS off in the meantime.
 */
static void ds_forget(struct ds_bts_cpu *c)
{
	WRITE_ONCE(c->ds->bts_index, c->ds->bts_buffer_base);
	WRITE_ONCE(c->pmi_seen, false);
}

/*
 * Go on in @mode. DEBUGCTL is written only where that changes it.
 * Context: as ds_halt(), after it.
 */
static void ds_go(struct ds_bts_cpu *c, unsigned int mode,
		  enum ds_drain_cause cause, const struct ds_bts_bounds *way)
{
	u64 now = c->ctl & DEBUGCTLMSR_BTS_OFF_OS ? c->ctl : 0;
	u64 ctl = c->ds ? ds_ctl(mode) : 0;

	if (ctl && !c->ctl)
		ds_forget(c);
	c->mode = mode;
	WRITE_ONCE(c->ctl, ctl);
	ds_leave(c, cause, way);
	if (ctl) {
		ds_prepare(c->ds, mode);
		/* The index is at base before an NMI may look at it. */
		barrier();
		WRITE_ONCE(c->armed, true);
	} else {
		c->leaving = false;
	}
	if (ctl == now)
		return;
	ds_write_ctl(ctl);
	/* A crash's NMI came between the two, and found nothing to switch off. */
	if (READ_ONCE(c->ctl) != ctl)
		ds_write_ctl(0);
}

/* Drain, and go on in @mode. Context: as ds_halt(). */
static void ds_update(struct ds_bts_cpu *c, unsigned int mode,
		      enum ds_drain_cause cause, struct ds_bts_bounds *way)
{
	ds_halt(c, cause, way);
	ds_go(c, mode, cause, way);
}

/*
 * Drain, and go on as the client wants it for @task. It is asked when it has
 * the records of what it wanted before, and none yet of what it wants now.
 * Context: this CPU, interrupts off, not NMI.
 */
static void ds_turn_to(struct task_struct *task, enum ds_drain_cause cause,
		       struct ds_bts_bounds *way)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	ds_halt(c, cause, way);
	ds_go(c, ds_bts_client->mode(task), cause, way);
}

/* Context: this CPU, NMI or as one: nobody else is amid a drain, or about to. */
static bool ds_may_drain(struct ds_bts_cpu *c)
{
	return READ_ONCE(c->armed) && !this_cpu_read(ds_bts_inside);
}

/* Context: NMI; does this CPU panic, and is about to call ds_bts_crash()? */
static bool ds_is_crashing(void)
{
	return atomic_read(&panic_cpu) == smp_processor_id();
}

/* An NMI that is no PMI of ours: is it the one of a crash? Context: NMI. */
static int ds_crash_nmi(struct ds_bts_cpu *c)
{
	if (!READ_ONCE(c->crash_nmi_due))
		return NMI_DONE;
	WRITE_ONCE(c->crash_nmi_due, false);
	return NMI_HANDLED;
}

/*
 * An NMI that interrupted @ip. Is it a PMI of ours, and what is there to do?
 * Context: as ds_bts_nmi(), on @c's CPU.
 */
static int ds_pmi(struct ds_bts_cpu *c, unsigned long ip)
{
	struct ds_bts_bounds way = { .how = DS_INTERRUPTED, .resume = ip };
	struct debug_store *ds = READ_ONCE(c->ds);
	bool due = READ_ONCE(c->pmi_due);
	bool over;

	over = ds && READ_ONCE(ds->bts_index) >=
		     READ_ONCE(ds->bts_interrupt_threshold);
	WRITE_ONCE(c->pmi_due, false);

	if (over && ds_may_drain(c)) {
		if (ds_is_crashing()) {
			ds_update(c, DS_BTS_OFF, DS_DRAIN_CRASH, &way);
			return NMI_HANDLED;
		}
		ds_halt(c, DS_DRAIN_INTERRUPT, &way);
		c->amid_nmi = true;
		return NMI_HANDLED;
	}
	if (due)
		return NMI_HANDLED;
	if (!over)
		return ds_crash_nmi(c);

	/*
	 * In front of or amid a drain. If the kernel's branches are stored, so
	 * are those of this NMI, and each may raise the next PMI until the
	 * buffer is full. The drain writes DEBUGCTL in any case then.
	 */
	if (!(c->ctl & DEBUGCTLMSR_BTS_OFF_OS))
		ds_write_ctl(0);
	WRITE_ONCE(c->pmi_seen, true);
	return NMI_HANDLED;
}

/*
 * The PMI, one of several sources behind one NMI. Runs before perf's handler,
 * so that BTS is off early, and leaves it off for ds_bts_nmi_end().
 * Context: NMI. Bounded by the size of the buffer.
 */
static int ds_bts_nmi(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_bounds way = { .how = DS_INTERRUPTED, .resume = regs->ip };
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	if (READ_ONCE(c->crash_asked)) {
		if (ds_may_drain(c))
			ds_update(c, DS_BTS_OFF, DS_DRAIN_CRASH, &way);
		/* Who asks closes the ring buffer then: see ds_crash_is_awaited(). */
		smp_store_release(&c->crash_asked, false);
	}
	return ds_pmi(c, regs->ip);
}

/*
 * Behind perf's handler, which has unmasked the LVT entry: an earlier PMI would be
 * lost where it does so late, and all branches of that handler, which are the way
 * out of our interrupt, would be stored for nothing.
 * Context: NMI, the same as ds_bts_nmi().
 */
static int ds_bts_nmi_end(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_bounds way = { .how = DS_INTERRUPTED, .resume = regs->ip };
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	if (c->amid_nmi) {
		c->amid_nmi = false;
		ds_go(c, c->mode, DS_DRAIN_INTERRUPT, &way);
	}
	return NMI_DONE;
}

/**
 * ds_bts_switch - this CPU turns to another task
 * @task:	the one that comes
 * @resume:	the return address of @client.entries[0], which calls this, where
 *		traced code goes on
 *
 * Drains the buffer, then records what the client wants of @task. Does nothing,
 * and costs next to nothing, if BTS is off and stays off. It stays off on a CPU
 * that is going offline.
 *
 * Context: Interrupts off, not NMI. @client.records and @client.mode are called
 * from here.
 */
void ds_bts_switch(struct task_struct *task, unsigned long resume)
{
	struct ds_bts_bounds way = {
		.entry	= ds_bts_client->entries[0],
		.resume	= resume,
	};

	lockdep_assert_irqs_disabled();
	ds_turn_to(task, DS_DRAIN_SWITCH, &way);
}

/**
 * ds_bts_pause - drain this CPU's buffer, and record nothing
 * @entry:	the caller: one of @client.entries, or what an interrupt calls
 * @resume:	its return address
 *
 * For what the client has to do in the midst of a task, and is not to be shown.
 * BTS need not be claimed.
 *
 * Context: Interrupts off, until ds_bts_resume() and beyond; not NMI.
 */
void ds_bts_pause(unsigned long entry, unsigned long resume)
{
	struct ds_bts_bounds way = {
		.entry	= entry,
		.resume	= resume,
	};

	ds_halt(this_cpu_ptr(&ds_bts_cpu), DS_DRAIN_FLUSH, &way);
}

/**
 * ds_bts_resume - go on to record what the client wants of the current task
 * @resume:	as for ds_bts_pause()
 *
 * Context: As ds_bts_pause(), after it.
 */
void ds_bts_resume(unsigned long resume)
{
	const struct ds_bts_client *client = READ_ONCE(ds_bts_client);
	struct ds_bts_bounds way = { .resume = resume };

	if (client)
		ds_go(this_cpu_ptr(&ds_bts_cpu), client->mode(current),
		      DS_DRAIN_FLUSH, &way);
}

/*
 * The way through a function call from another CPU: through an interrupt; or
 * called directly, by the CPU that asked or by one that was idle.
 */
static struct ds_bts_bounds ds_ipi_way(unsigned long entry, unsigned long resume)
{
	return (struct ds_bts_bounds){
		.how	= in_hardirq() ? DS_IPI : DS_CALLED,
		.entry	= entry,
		.resume	= resume,
	};
}

static void ds_ipi_set(void *cause)
{
	struct ds_bts_bounds way = ds_ipi_way((unsigned long)ds_ipi_set,
					      _RET_IP_);

	ds_turn_to(current, (uintptr_t)cause, &way);
	atomic_dec(this_cpu_ptr(&ds_bts_coming));
}

static void ds_ipi_flush(void *unused)
{
	struct ds_bts_bounds way = ds_ipi_way((unsigned long)ds_ipi_flush,
					      _RET_IP_);
	struct ds_bts_batch none = { .cause = DS_DRAIN_FLUSH };
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	if (c->ctl)
		ds_update(c, c->mode, DS_DRAIN_FLUSH, &way);
	else
		ds_bts_client->records(&none);
	atomic_dec(this_cpu_ptr(&ds_bts_coming));
}

/* Context: on behalf of @cpu, whose function call is sent next. */
static bool ds_announce(int cpu, void *unused)
{
	atomic_inc(per_cpu_ptr(&ds_bts_coming, cpu));
	return true;
}

/**
 * ds_bts_update_all - have every CPU ask the client anew what to record
 * @cause:	why the buffers are drained on the way
 *
 * When this returns, each CPU has handed over what it had recorded and records
 * what client.mode() told it, or nothing.
 *
 * Context: Process context, interrupts on. BTS is claimed.
 */
void ds_bts_update_all(enum ds_drain_cause cause)
{
	on_each_cpu_cond(ds_announce, ds_ipi_set, (void *)(uintptr_t)cause, true);
}

static bool ds_has_records(int cpu)
{
	struct ds_bts_cpu *c = per_cpu_ptr(&ds_bts_cpu, cpu);
	struct debug_store *ds = READ_ONCE(c->ds);
	u64 ctl = READ_ONCE(c->ctl);

	if (ds_bts_client->pending && ds_bts_client->pending(cpu))
		return true;
	/* perf's buffers stay while BTS is claimed, and so does @ds. */
	if (!ds || !ctl)
		return false;
	if (!(ctl & DEBUGCTLMSR_BTINT) && ds_has_wrapped(ds))
		return true;
	return READ_ONCE(ds->bts_index) != ds->bts_buffer_base;
}

static bool ds_announce_flush(int cpu, void *unused)
{
	return ds_has_records(cpu) && ds_announce(cpu, NULL);
}

/**
 * ds_bts_flush_all - have the client given what the CPUs have recorded so far
 *
 * CPUs that have nothing to give are not disturbed.
 *
 * Context: Process context, interrupts on. BTS is claimed.
 */
void ds_bts_flush_all(void)
{
	on_each_cpu_cond(ds_announce_flush, ds_ipi_flush, NULL, true);
}

/**
 * ds_bts_flush_cpu - have the client given what this CPU has recorded so far
 * @entry:	the caller, whose branches are not shown
 * @resume:	its return address
 *
 * Does nothing amid a drain of this CPU's buffer, or if BTS is not claimed.
 *
 * Context: Any, up to NMI.
 */
void ds_bts_flush_cpu(unsigned long entry, unsigned long resume)
{
	struct ds_bts_bounds way = { .entry = entry, .resume = resume };
	struct ds_bts_cpu *c;
	unsigned long flags;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(&ds_bts_cpu);
	if (ds_may_drain(c)) {
		ds_bts_enter();
		ds_update(c, c->mode, DS_DRAIN_FLUSH, &way);
	}
	raw_local_irq_restore(flags);
}

/* How long a crash waits for the other CPUs' records, in ms. */
#define DS_CRASH_WAIT_MS	10

/* Context: as ds_bts_crash(). */
static bool ds_crash_is_awaited(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu == smp_processor_id())
			continue;
		/* Who has answered has written its records: see ds_bts_nmi(). */
		if (smp_load_acquire(&per_cpu(ds_bts_cpu, cpu).crash_asked))
			return true;
	}
	return false;
}

/*
 * Two CPUs may crash at once, and then ask each other. One that does not answer
 * in time still will, with the next NMI it takes.
 * Context: as ds_bts_crash().
 */
static void ds_crash_others(void)
{
	int this_cpu = smp_processor_id();
	unsigned int i;
	int cpu;

	for_each_online_cpu(cpu) {
		struct ds_bts_cpu *c = per_cpu_ptr(&ds_bts_cpu, cpu);

		if (cpu == this_cpu)
			continue;
		WRITE_ONCE(c->crash_nmi_due, true);
		WRITE_ONCE(c->crash_asked, true);
	}
	apic_send_IPI_allbutself(NMI_VECTOR);
	for (i = 0; i < DS_CRASH_WAIT_MS && ds_crash_is_awaited(); i++)
		mdelay(1);
}

/**
 * ds_bts_crash - the kernel oopses or panics: drain everything and stop
 *
 * What this CPU did after the branch out of the code that crashed is left out.
 * A CPU that crashed in the middle of a drain keeps its records. Nothing is
 * recorded any more until client.mode() is asked again.
 *
 * Context: Any, NMI and a stack overflow's exception among them. No lock, no
 * allocation; waits up to 10 ms for the others.
 */
void ds_bts_crash(void)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_bts_bounds way = { .how = DS_CRASHED };
	unsigned long flags;

	if (!READ_ONCE(ds_bts_client))
		return;

	raw_local_irq_save(flags);
	if (ds_may_drain(c))
		ds_update(c, DS_BTS_OFF, DS_DRAIN_CRASH, &way);
	ds_crash_others();
	raw_local_irq_restore(flags);
}

/**
 * ds_bts_running - is a CPU recording right now?
 * @cpu:	the CPU
 *
 * Context: Any. The answer may be stale when it arrives.
 */
bool ds_bts_running(int cpu)
{
	return READ_ONCE(per_cpu(ds_bts_cpu, cpu).ctl);
}

/* Did perf set this CPU up? Context: the CPU in question, interrupts off. */
static struct debug_store *ds_of_this_cpu(void)
{
	struct debug_store *ds;
	u64 area;

	ds = &get_cpu_entry_area(smp_processor_id())->cpu_debug_store;
	rdmsrl(MSR_IA32_DS_AREA, area);
	if (area != (unsigned long)ds || !ds->bts_buffer_base)
		return NULL;
	return ds;
}

static void ds_check_cpu(void *failed)
{
	if (!ds_of_this_cpu())
		atomic_inc(failed);
}

/* Context: hotplug's STARTING section, interrupts off, on @cpu. */
static int ds_cpu_starting(unsigned int cpu)
{
	struct ds_bts_bounds way = {
		.entry	= (unsigned long)ds_cpu_starting,
		.resume	= _RET_IP_,
	};
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct debug_store *ds = ds_of_this_cpu();

	if (!ds) {
		pr_warn_once("CPU %u has no DS area, its branches are not recorded\n",
			     cpu);
		return 0;
	}

	this_cpu_write(ds_bts_slack, 0);
	c->threshold = ds->bts_interrupt_threshold;
	WRITE_ONCE(c->pmi_due, false);
	WRITE_ONCE(c->ds, ds);

	/*
	 * A CPU that is not online throws its NMIs away, and the PMI's entry would
	 * stay masked: such a one begins with its first switch to a task.
	 */
	if (cpu_online(cpu))
		ds_turn_to(current, DS_DRAIN_FLUSH, &way);
	return 0;
}

/*
 * The last of BTS on this CPU. Whatever else may have put our bits back into
 * DEBUGCTL, a hypervisor that restores what it saved for instance: from here
 * on nothing is stored, because the buffer may go away.
 * Context: hotplug's STARTING section, interrupts off, on @cpu.
 */
static int ds_cpu_dying(unsigned int cpu)
{
	struct ds_bts_bounds way = {
		.entry	= (unsigned long)ds_cpu_dying,
		.resume	= _RET_IP_,
	};
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	if (!c->ds)
		return 0;

	ds_update(c, DS_BTS_OFF, DS_DRAIN_OFFLINE, &way);
	ds_write_ctl(0);
	c->ds->bts_interrupt_threshold = c->threshold;
	WRITE_ONCE(c->ds, NULL);

	/* A PMI that came after perf's last event has left the entry masked. */
	if (apic_read(APIC_LVTPC) & APIC_LVT_MASKED)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	return 0;
}

/*
 * Suspend and hibernation: the CPU forgets DEBUGCTL.
 * Context: the last CPU, interrupts off.
 */
static int ds_suspend(void *unused)
{
	struct ds_bts_bounds way = {
		.entry	= (unsigned long)ds_suspend,
		.resume	= _RET_IP_,
	};

	ds_update(this_cpu_ptr(&ds_bts_cpu), DS_BTS_OFF, DS_DRAIN_OFFLINE, &way);
	ds_write_ctl(0);
	return 0;
}

static void ds_shutdown_cpu(void *unused)
{
	ds_cpu_dying(smp_processor_id());
}

/*
 * The end. CPUs that wait for it, or for the next kernel, still take an NMI, and
 * that kernel has something else where the buffers are.
 * Context: interrupts on.
 */
static void ds_shutdown(void *unused)
{
	on_each_cpu(ds_shutdown_cpu, NULL, 1);
}

/* perf has restored DS_AREA. Context: the only CPU, interrupts off. */
static void ds_resume(void *unused)
{
	struct ds_bts_bounds way = {
		.entry	= (unsigned long)ds_resume,
		.resume	= _RET_IP_,
	};

	ds_turn_to(current, DS_DRAIN_FLUSH, &way);
}

static const struct syscore_ops ds_syscore_ops = {
	.suspend	= ds_suspend,
	.resume		= ds_resume,
	.shutdown	= ds_shutdown,
};

static struct syscore ds_syscore = {
	.ops = &ds_syscore_ops,
};

/*
 * AAJ122 and its like on the models that follow: after a change of the power
 * state the first record's "from" may be wrong.
 */
static const struct x86_cpu_id ds_erratum_aaj122[] = {
	X86_MATCH_VFM(INTEL_NEHALEM, NULL),
	X86_MATCH_VFM(INTEL_NEHALEM_G, NULL),
	X86_MATCH_VFM(INTEL_NEHALEM_EP, NULL),
	X86_MATCH_VFM(INTEL_NEHALEM_EX, NULL),
	X86_MATCH_VFM(INTEL_WESTMERE, NULL),
	X86_MATCH_VFM(INTEL_WESTMERE_EP, NULL),
	X86_MATCH_VFM(INTEL_WESTMERE_EX, NULL),
	X86_MATCH_VFM(INTEL_SANDYBRIDGE, NULL),
	X86_MATCH_VFM(INTEL_SANDYBRIDGE_X, NULL),
	X86_MATCH_VFM(INTEL_IVYBRIDGE, NULL),
	X86_MATCH_VFM(INTEL_IVYBRIDGE_X, NULL),
	{ }
};

static void ds_tell_erratum(void)
{
	if (x86_match_cpu(ds_erratum_aaj122))
		pr_info_once("erratum AAJ122: the first branch after a change of the power state may have a wrong origin\n");
}

/* One in front of perf's handler, one behind it. */
static int ds_register_nmi_handlers(void)
{
	int ret;

	ret = register_nmi_handler(NMI_LOCAL, ds_bts_nmi_end, 0, "bts_end");
	if (ret)
		return ret;
	ret = register_nmi_handler(NMI_LOCAL, ds_bts_nmi, NMI_FLAG_FIRST, "bts");
	if (ret)
		unregister_nmi_handler(NMI_LOCAL, "bts_end");
	return ret;
}

/* No CPU records any more. */
static void ds_unregister_nmi_handlers(void)
{
	unregister_nmi_handler(NMI_LOCAL, "bts");
	unregister_nmi_handler(NMI_LOCAL, "bts_end");
}

/* Context: process context, ds_bts_mutex held; BTS is granted by perf. */
static int ds_start_cpus(void)
{
	atomic_t failed = ATOMIC_INIT(0);
	int ret;

	ret = ds_register_nmi_handlers();
	if (ret)
		return ret;

	cpus_read_lock();
	on_each_cpu(ds_check_cpu, &failed, 1);
	if (atomic_read(&failed))
		ret = -EIO;
	else
		ret = cpuhp_setup_state_cpuslocked(CPUHP_AP_X86_DS_STARTING,
						   "x86/ds:starting",
						   ds_cpu_starting, ds_cpu_dying);
	cpus_read_unlock();

	if (ret)
		ds_unregister_nmi_handlers();
	return ret;
}

/**
 * ds_bts_set_threshold - how many records are there to be for an interrupt?
 * @records:	how many, 1 to DS_BTS_MAX_THRESHOLD
 *
 * Those of the tracer's own way out of the last interrupt come on top, where the
 * kernel is recorded. Holds on all CPUs when this returns, also for later claims.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -EINVAL.
 */
int ds_bts_set_threshold(unsigned int records)
{
	if (!records || records > DS_BTS_MAX_THRESHOLD)
		return -EINVAL;

	guard(mutex)(&ds_bts_mutex);

	WRITE_ONCE(ds_bts_threshold, records);
	if (ds_bts_client)
		ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;
}

/**
 * ds_bts_get_threshold - how many records are there for an interrupt?
 *
 * Context: Any.
 * Return: what ds_bts_set_threshold() has set.
 */
unsigned int ds_bts_get_threshold(void)
{
	return READ_ONCE(ds_bts_threshold);
}

/**
 * ds_bts_available - does this machine have BTS, in the form that we know?
 *
 * With FRED, interrupts come another way than the one by which the tracer's own
 * branches are told from the others.
 *
 * Context: Any, once perf has looked at the CPU (early_initcall()).
 * Return: true if ds_bts_claim() may succeed.
 */
bool ds_bts_available(void)
{
	return intel_ds_has_bts() && !cpu_feature_enabled(X86_FEATURE_FRED);
}

/**
 * ds_bts_claim - take BTS on all CPUs, those that come online later included
 * @client:	whom to ask and whom to tell; must stay until the release
 *
 * client.mode() is asked on each CPU before this returns.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EBUSY if somebody has it, perf with BTS or LBR events among them;
 * -ENODEV if there is no BTS; -ENOMEM if perf could not allocate the buffers;
 * -EIO if a CPU is not set up. On error nothing is left on.
 */
int ds_bts_claim(const struct ds_bts_client *client)
{
	int ret;

	if (!ds_bts_available())
		return -ENODEV;

	guard(mutex)(&ds_bts_mutex);

	if (ds_bts_client)
		return -EBUSY;

	ret = intel_ds_claim_bts();
	if (ret)
		return ret;

	ds_bts_client = client;
	ret = ds_start_cpus();
	if (ret) {
		ds_bts_client = NULL;
		intel_ds_release_bts();
		return ret;
	}

	register_syscore(&ds_syscore);
	ds_tell_erratum();
	return 0;
}

/**
 * ds_bts_release - stop BTS on all CPUs and give it back to perf
 *
 * What the CPUs have recorded is handed over first.
 *
 * Context: Process context, may sleep. Nobody calls ds_bts_switch() any more.
 */
void ds_bts_release(void)
{
	guard(mutex)(&ds_bts_mutex);

	unregister_syscore(&ds_syscore);
	cpuhp_remove_state(CPUHP_AP_X86_DS_STARTING);
	ds_unregister_nmi_handlers();
	ds_bts_client = NULL;
	intel_ds_release_bts();
}

#ifdef CONFIG_BTS_TRACER_KUNIT_TEST
#include "ds_kunit.c"
#endif
