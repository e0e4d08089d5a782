// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: record every taken branch through the Debug Store
 *
 * The CPU writes a record of 24 bytes (from, to, flags) for each taken branch
 * into a buffer of its own, and raises the performance-monitoring interrupt
 * (PMI, an NMI in Linux) when the index reaches a threshold:
 *
 *	base                  index       threshold           maximum
 *	 | rec | rec | ... | rec |            |    (room)        |
 *	                         ^ the CPU writes here
 *
 * A flight recorder (DS_BTS_CIRCULAR) wraps in the buffer without interrupts instead,
 * see ds_records.c. A drain hands the records to the tracer, overwrites them with zeroes
 * and puts the index back to base:
 *
 *	ds_bts_off()			in .text..ds, clears TR
 *	  ds_bts_drain(cause)		records -> bts_records()
 *	  ds_bts_ask(task)		the next mode <- bts_turn()
 *	ds_bts_on()			in .text..ds, sets TR
 *
 * A CPU drains when it switches to another task, for a reader or a change of options
 * or targets (by IPI), when a mapping is shown, when it goes offline, when the kernel
 * crashes, and in the PMI. Perf's handler is not recorded then; what is stored of such
 * an NMI is a dozen branches at each end, on any kernel:
 *
 *	exc_nmi()
 *	  ds_bts_nmi_enter()		BTS goes off; mostly nothing is to be done
 *	    ds_bts_nmi_first()		drains
 *	    perf's handler		unmasks the PMI's entry of the local APIC
 *	    ds_bts_nmi_last()		looks at the index once more
 *	  ds_bts_nmi_leave()		BTS goes on
 *
 * The hardware is perf's, see ds.c. Of MSR_IA32_DEBUGCTLMSR, which is shared with
 * block stepping and perf, only TR, BTS, BTINT and BTS_OFF_* are changed. The APIC
 * masks the PMI's entry when it delivers. If another PMI is lost until perf unmasks, the
 * index is above the threshold when ds_bts_nmi_last() looks, or the buffer is full at
 * another drain, which then unmasks the entry.
 *
 * The hardware may raise the PMI for each record above the threshold, or late; store
 * records after TR was cleared (the driver's own, left out); read the index while TR is
 * clear only; clear TR by itself, as a machine check does (the next drain notices).
 *
 * Concurrency. A CPU's struct ds_bts_cpu, DS area and DEBUGCTL are touched by that
 * CPU alone, with interrupts off. Another CPU sets @crash and @nmi_due, and reads
 * @ctl and the index as a hint. The rest is about NMIs:
 *
 *	- @busy is set from the beginning of ds_bts_off() until the index is back at
 *	  base in ds_bts_on(). An NMI that finds it set leaves the buffer alone. It
 *	  switches BTS off if the interrupted drain has not done so yet: else all
 *	  branches of the NMI would be stored.
 *	- @off is true while DEBUGCTL need not be what @ctl says.
 *	- A drain outside the NMI that finds the index above the threshold knows that
 *	  a PMI is on its way. With @nmi_due the NMI handler claims it, so that it does
 *	  not become an unknown NMI. @pmi_seen: it came before.
 *
 * What BTS cannot see: SMM; a VMX guest, which has a DEBUGCTL of its own; what a
 * full buffer has no room for, which is reported, though it cannot be counted.
 *
 * SDM vol. 3: "Branch Trace Store (BTS)", "BTS and DS Save Area", "DS Save
 * Area", "Writing the DS Interrupt Service Routine".
 */

#define pr_fmt(fmt) "x86/ds: " fmt

#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/nmi.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/apic.h>
#include <asm/cpu_entry_area.h>
#include <asm/debugreg.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <kunit/visibility.h>

#include "ds_internal.h"

DEFINE_PER_CPU(struct ds_bts_cpu, ds_bts_cpu) = { .back = DS_NOWHERE };
DEFINE_STATIC_KEY_FALSE(ds_bts_key);

/*
 * What is in .text..ds before BTS is off, or after it is on, must not branch out of
 * that section. So it uses __rdmsr(), native_wrmsrq() and raw_cpu_ptr(), which are
 * inline in each configuration.
 */

/* With @off set, BTS went off or is about to go on: nothing follows from DEBUGCTL. */
static __always_inline void ds_disable(struct ds_bts_cpu *c)
{
	u64 ctl = __rdmsr(MSR_IA32_DEBUGCTLMSR);
	u64 found = ctl & DS_CTL_MASK;

	c->others = ctl & ~DS_CTL_MASK;
	native_wrmsrq(MSR_IA32_DEBUGCTLMSR, c->others);
	if (found || !c->off)
		c->end = READ_ONCE(c->ds->bts_index);
	if (!c->off)
		c->cleared = found != c->ctl;
	c->off = true;
}

/**
 * ds_bts_off - this CPU records nothing, until ds_bts_on()
 *
 * To be called from .text..ds, first. Costs next to nothing if BTS is off.
 *
 * Context: Interrupts off; up to NMI.
 * Return: true if ds_bts_on() must follow; false in the midst of another drain, which
 * this interrupts or is called by: it has the buffer.
 */
__ds_text bool ds_bts_off(void)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (c->busy)
		return false;
	WRITE_ONCE(c->busy, DS_BUSY);
	/* From here on an NMI on this CPU leaves the buffer alone. */
	barrier();
	if (c->ctl)
		ds_disable(c);
	return true;
}

/*
 * Forget what the buffer holds, and count what is above @c->end. Nothing is left in the
 * buffer: it is mapped in the user page tables (KPTI). Context: busy; TR is clear.
 */
static void ds_empty(struct ds_bts_cpu *c)
{
	const u64 size = sizeof(struct ds_bts_record);
	struct debug_store *ds = c->ds;
	u64 base = ds->bts_buffer_base;
	u64 index = READ_ONCE(ds->bts_index);
	u64 late = index - c->end;

	if (index < c->end)
		late += ds_slots(ds) * size;
	c->strays += late / size;
	memset((void *)base, 0, (ds_has_wrapped(ds) ?
				 ds->bts_absolute_maximum : index) - base);
	WRITE_ONCE(ds->bts_index, base);
	c->end = base;
	/* From here on an NMI finds nothing to have seen. */
	barrier();
	WRITE_ONCE(c->pmi_seen, false);
}

/**
 * ds_bts_on - record on this CPU what ds_bts_ask() has last set
 *
 * To be called from .text..ds, last.
 *
 * Context: As ds_bts_off(), after it.
 */
__ds_text void ds_bts_on(void)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);
	u64 ctl;

	if (READ_ONCE(c->crash)) {
		WRITE_ONCE(c->ctl, 0);
		/* Pairs with ds_bts_crash(): this CPU's records are written. */
		smp_store_release(&c->crash, false);
	}
	ctl = c->ctl;
	if (ctl) {
		if (!c->off)
			c->others = __rdmsr(MSR_IA32_DEBUGCTLMSR) & ~DS_CTL_MASK;
		c->off = true;
		/* Stored late, or while the driver had not set TR. */
		if (READ_ONCE(c->ds->bts_index) != c->ds->bts_buffer_base)
			ds_empty(c);
	}
	/* The index is at base before an NMI may look at it. */
	barrier();
	WRITE_ONCE(c->busy, DS_FREE);
	if (ctl) {
		native_wrmsrq(MSR_IA32_DEBUGCTLMSR, c->others | ctl);
		/* A crash's NMI in between found nothing to switch off. */
		if (READ_ONCE(c->ctl) != ctl)
			native_wrmsrq(MSR_IA32_DEBUGCTLMSR, c->others);
	}
	barrier();
	c->off = false;
}

/* An NMI that drains, or interrupts a drain. Context: NMI, RCU does not watch yet. */
__ds_text void __ds_bts_nmi_enter(void)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (ds_bts_off()) {
		WRITE_ONCE(c->busy, DS_BUSY_NMI);
	} else if (__rdmsr(MSR_IA32_DEBUGCTLMSR) & DS_CTL_MASK) {
		/* The interrupted drain was about to do this. */
		ds_disable(c);
		c->interrupted = true;
	} else if (c->ctl && !c->off) {
		/* It has, and reads the index next: late records are this NMI's. */
		c->interrupted = true;
	}
}

/* The NMI that has drained returns to @ip. Context: NMI, RCU watches no more. */
__ds_text void __ds_bts_nmi_leave(unsigned long ip)
{
	raw_cpu_write(ds_bts_cpu.back, ip);
	ds_bts_on();
}

/**
 * ds_run - drain, and do something more while BTS is off
 * @data: a struct ds_job
 *
 * Does nothing in the midst of another drain. An IPI's function.
 *
 * Context: Interrupts off; up to NMI.
 */
__ds_text void ds_run(void *data)
{
	struct ds_job *job = data;

	if (!ds_bts_off())
		return;
	ds_bts_drain(job->cause);
	if (job->then)
		job->then(raw_cpu_ptr(&ds_bts_cpu));
	ds_bts_on();
}

/* Context: this CPU, interrupts off. */
static bool ds_unmask_pmi(void)
{
	if (!(apic_read(APIC_LVTPC) & APIC_LVT_MASKED))
		return false;
	apic_write(APIC_LVTPC, APIC_DM_NMI);
	return true;
}

/*
 * A PMI is on its way if the index has reached the threshold, unless it was taken
 * since the drain is busy. The NMI handler does the counterpart:
 *
 *	drain				NMI
 *	nmi_due = true			if nmi_due: nmi_due = false, else
 *	if pmi_seen: nmi_due = false	if over the threshold: pmi_seen = true
 *
 * Whenever the NMI comes, one of the two sees the other's store. If the buffer is
 * full and the entry masked, the PMI was lost, and no other can come: unmask. In an NMI
 * a masked entry means that the PMI was delivered: it waits for that NMI to end.
 */
VISIBLE_IF_KUNIT void ds_expect_pmi(struct ds_bts_cpu *c, bool full)
{
	if (full && !in_nmi() && ds_unmask_pmi())
		return;
	WRITE_ONCE(c->nmi_due, true);
	/* An NMI on this CPU sees the store before the load below. */
	barrier();
	if (READ_ONCE(c->pmi_seen))
		WRITE_ONCE(c->nmi_due, false);
}

/* Interrupt after interrupt has found own records only: better no record than no progress. */
static bool ds_must_stop(struct ds_bts_cpu *c, const struct ds_bts_batch *batch)
{
	if (batch->cause != DS_DRAIN_INTERRUPT)
		return false;
	c->idle_pmis = ds_bts_nr(batch) ? 0 : c->idle_pmis + 1;
	if (c->idle_pmis < DS_IDLE_PMIS)
		return false;
	pr_warn("CPU %d: interrupts without records, recording stops there\n",
		raw_smp_processor_id());
	return true;
}

/*
 * Hand over what the buffer holds and empty it. Context: busy; in the NMI that
 * interrupted @ip, or elsewhere (DS_NOWHERE). Bounded by the size of the buffer.
 */
VISIBLE_IF_KUNIT void ds_hand_over(struct ds_bts_cpu *c, enum ds_drain_cause cause,
				   unsigned long ip)
{
	struct ds_bts_batch batch = {
		.own		= c->strays,
		.cause		= cause,
		.cleared	= c->cleared,
	};

	ds_slice(c, &batch);
	if (ip == DS_NOWHERE && ds_bts_over(c->ds))
		ds_expect_pmi(c, batch.full);
	if ((c->ctl & DEBUGCTLMSR_BTS_OFF_OS) && !(c->traits & DS_TRAIT_CPL))
		c->traits |= ds_cpl_trait(&batch);
	ds_cut_own(&batch, c, ip);

	c->strays = 0;
	c->cleared = false;
	c->interrupted = false;
	c->back = DS_NOWHERE;
	batch.stopped = ds_must_stop(c, &batch);
	bts_records(&batch);

	ds_empty(c);
	if (batch.stopped) {
		c->stopped = true;
		WRITE_ONCE(c->ctl, 0);
	}
}

/**
 * ds_bts_drain - hand over what this CPU has recorded
 * @cause: why; in a flush the tracer gets an empty batch as well, because it may hold
 *	   something
 *
 * Context: Between ds_bts_off() and ds_bts_on(); bts_records() is called from here.
 */
void ds_bts_drain(enum ds_drain_cause cause)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_bts_batch none = { .cause = cause };

	if (c->ctl) {
		ds_hand_over(c, cause, DS_NOWHERE);
	} else if (cause == DS_DRAIN_FLUSH) {
		none.own = c->strays;
		c->strays = 0;
		bts_records(&none);
	}
}

/**
 * ds_bts_ask - have this CPU record what the tracer wants of a task
 * @task: the current one, or the one that comes next
 *
 * Where BTS is not the driver's, or has stopped, nothing is recorded, whatever the
 * tracer says.
 *
 * Context: As ds_bts_drain(), after it; not NMI. bts_turn() is called from here.
 */
void ds_bts_ask(struct task_struct *task)
{
	u64 ctl = ds_ctl(bts_turn(task), boot_cpu_has(X86_FEATURE_DSCPL));
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	const u64 size = sizeof(struct ds_bts_record);
	struct debug_store *ds = c->ds;

	lockdep_assert_irqs_disabled();
	/* An NMI may have set it while nothing was recorded. */
	c->back = DS_NOWHERE;
	WRITE_ONCE(c->ctl, ds && !c->stopped ? ctl : 0);
	if (!c->ctl)
		return;
	/* Where there is to be no interrupt, beyond the maximum. */
	WRITE_ONCE(ds->bts_interrupt_threshold, ctl & DEBUGCTLMSR_BTINT ?
		   ds->bts_buffer_base + size * READ_ONCE(ds_bts_threshold) :
		   ds->bts_absolute_maximum + size);
}

/* The PMI is one of several sources of an NMI. Context: NMI, before perf's handler. */
static int ds_bts_nmi_first(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	bool over = c->ds && ds_bts_over(c->ds);
	bool due = READ_ONCE(c->nmi_due);

	if (over || due)
		WRITE_ONCE(c->nmi_due, false);
	/* An NMI that exc_nmi() has latched comes here twice. */
	if (c->busy == DS_BUSY_NMI && c->ctl && ds_has_records(c->ds))
		ds_hand_over(c, READ_ONCE(c->crash) ? DS_DRAIN_CRASH :
			     DS_DRAIN_INTERRUPT, regs->ip);
	else if (over && !due)
		WRITE_ONCE(c->pmi_seen, true);
	return over || due ? NMI_HANDLED : NMI_DONE;
}

/*
 * What perf's handler did was recorded, and may have reached the threshold. Perf may
 * unmask the PMI's entry late: an interrupt that fell due before is lost.
 * Context: NMI, after perf's handler.
 */
static int ds_bts_nmi_last(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_job job = { DS_DRAIN_INTERRUPT };

	if (!c->busy && c->ctl && ds_bts_over(c->ds))
		ds_run(&job);
	return NMI_DONE;
}

/* Context: process context. */
int ds_register_nmi_handlers(void)
{
	int ret;

	ret = register_nmi_handler(NMI_LOCAL, ds_bts_nmi_last, 0, "bts_last");
	if (ret)
		return ret;
	ret = register_nmi_handler(NMI_LOCAL, ds_bts_nmi_first, NMI_FLAG_FIRST, "bts");
	if (ret) {
		unregister_nmi_handler(NMI_LOCAL, "bts_last");
		return ret;
	}
	static_branch_enable(&ds_bts_key);
	return 0;
}

/* Context: process context; no CPU records any more. */
void ds_unregister_nmi_handlers(void)
{
	static_branch_disable(&ds_bts_key);
	unregister_nmi_handler(NMI_LOCAL, "bts");
	unregister_nmi_handler(NMI_LOCAL, "bts_last");
}

/* --- Trust is checked: does the hardware do what it says? -------------------------- */

/* An NMI may add records, and the first after a C-state may be wrong (AAJ122). */
#define DS_PROBE_TRIES		8

/* How many branches ds_probe_loop() takes, at most: they fit the buffer. */
#define DS_PROBE_BRANCHES	1024
#define DS_PROBE_THRESHOLD	4
#define DS_PROBE_WAIT_US	100
#define DS_PROBE_LATE		64

/* Only the jump branches between the two writes of DEBUGCTL, and an NMI. */
static __ds_text bool ds_probe_jump(struct ds_bts_cpu *c, u64 on)
{
	const struct ds_bts_record *rec = (void *)c->ds->bts_buffer_base;
	u32 low = on, high = on >> 32;
	u64 from, to;

	asm volatile("wrmsr\n"
		     "1:	jmp	2f\n"
		     "2:	mov	%[low], %%eax\n"
		     "	mov	%[high], %%edx\n"
		     "	wrmsr\n"
		     "	lea	1b(%%rip), %[from]\n"
		     "	lea	2b(%%rip), %[to]\n"
		     : "+a" (low), "+d" (high), [from] "=&r" (from), [to] "=&r" (to)
		     : "c" (MSR_IA32_DEBUGCTLMSR), [low] "r" ((u32)c->others),
		       [high] "r" ((u32)(c->others >> 32))
		     : "memory");
	return READ_ONCE(c->ds->bts_index) == (unsigned long)(rec + 1) &&
	       rec->from == from && rec->to == to;
}

/* What comes late comes now: each round is a branch. */
static void ds_settle(struct ds_bts_cpu *c)
{
	unsigned int i;

	for (i = 0; i < DS_PROBE_LATE; i++)
		barrier();
	c->end = c->ds->bts_buffer_base;
	ds_empty(c);
}

static void ds_zero(struct debug_store *ds)
{
	u64 base = ds->bts_buffer_base;

	memset((void *)base, 0, ds->bts_absolute_maximum - base);
	WRITE_ONCE(ds->bts_index, base);
}

/* Does this CPU store a known branch, and nothing else? */
static bool ds_probe_record(struct ds_bts_cpu *c, u64 on)
{
	bool exact = false;
	unsigned int i;

	for (i = 0; i < DS_PROBE_TRIES && !exact; i++) {
		exact = ds_probe_jump(c, on);
		ds_settle(c);
	}
	return exact;
}

/* Take branches until there is a PMI: with BTS on, the loop's jump back is one. */
static __ds_text void ds_probe_loop(struct ds_bts_cpu *c, u64 on)
{
	unsigned int i;

	native_wrmsrq(MSR_IA32_DEBUGCTLMSR, on);
	for (i = 0; i < DS_PROBE_BRANCHES && !READ_ONCE(c->pmi_seen); i++)
		barrier();
	native_wrmsrq(MSR_IA32_DEBUGCTLMSR, c->others);
}

/* Again and again, because an NMI of another kind switches BTS off. */
static bool ds_probe_interrupt(struct ds_bts_cpu *c, u64 on)
{
	unsigned int us;

	WRITE_ONCE(c->pmi_seen, false);
	for (us = 0; us < DS_PROBE_WAIT_US && !READ_ONCE(c->pmi_seen); us++) {
		ds_probe_loop(c, on | DEBUGCTLMSR_BTINT);
		udelay(1);
	}
	return READ_ONCE(c->pmi_seen);
}

/**
 * ds_probe - does this CPU's BTS work?
 * @c: the CPU's
 *
 * A known branch must give just its record, and crossing the threshold a PMI. Whether
 * the CPU raises another PMI for a record above the threshold goes into @traits.
 *
 * Context: This CPU, which is online, busy; the NMI handlers are registered.
 * Return: DS_FAULT_*. The driver has BTS if that is _NONE, until ds_put_back().
 */
enum ds_fault ds_probe(struct ds_bts_cpu *c)
{
	struct debug_store *ds = &get_cpu_entry_area(smp_processor_id())->cpu_debug_store;
	enum ds_fault fault = DS_FAULT_REFUSED;
	u64 area, ctl, on, all;

	rdmsrq(MSR_IA32_DS_AREA, area);
	if (area != (unsigned long)ds || !ds->bts_buffer_base)
		return DS_FAULT_NO_AREA;
	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &ctl))
		return DS_FAULT_REFUSED;
	/* In ds_bts_nmi_enter() and _first(), this is a drain. */
	c->others = ctl & ~DS_CTL_MASK;
	c->off = true;
	c->nmi_due = false;
	c->threshold = ds->bts_interrupt_threshold;
	WRITE_ONCE(ds->bts_interrupt_threshold, ds->bts_buffer_base +
		   DS_PROBE_THRESHOLD * sizeof(struct ds_bts_record));
	WRITE_ONCE(c->ds, ds);
	ds_unmask_pmi();

	on = c->others | DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;
	all = boot_cpu_has(X86_FEATURE_DSCPL) ? DS_CTL_MASK :
	      DS_CTL_MASK & ~(DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR);
	if (wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, c->others | all))
		goto out;
	wrmsrq(MSR_IA32_DEBUGCTLMSR, c->others);

	ds_zero(ds);
	fault = DS_FAULT_NO_RECORD;
	if (!ds_probe_record(c, on))
		goto out;
	fault = DS_FAULT_NO_INTERRUPT;
	if (!ds_probe_interrupt(c, on))
		goto out;
	fault = DS_FAULT_NONE;
	c->traits &= DS_TRAIT_CPL;
	c->traits |= ds_probe_interrupt(c, on) ? DS_TRAIT_PMI_REPEATS : DS_TRAIT_PMI_ONCE;
out:
	ds_settle(c);
	c->interrupted = false;
	c->cleared = false;
	if (fault)
		ds_put_back(c);
	return fault;
}

/**
 * ds_put_back - leave this CPU's BTS to perf as it was
 * @c: the CPU's
 *
 * Whatever else may have put the driver's bits back into DEBUGCTL, a hypervisor that
 * restores what it saved for instance: from here on nothing is stored, because the
 * buffer may go away.
 *
 * Context: This CPU, busy.
 */
void ds_put_back(struct ds_bts_cpu *c)
{
	struct debug_store *ds = c->ds;

	WRITE_ONCE(c->ctl, 0);
	update_debugctlmsr(get_debugctlmsr() & ~DS_CTL_MASK);
	ds_zero(ds);
	WRITE_ONCE(ds->bts_interrupt_threshold, c->threshold);
	WRITE_ONCE(c->ds, NULL);
	/* A PMI that came after perf's last event has left the entry masked. */
	ds_unmask_pmi();
}
