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
 * For a flight recorder (DS_BTS_CIRCULAR) it wraps in the buffer without
 * interrupts instead, see ds_records.c.
 *
 * A drain switches BTS off, hands the records to the tracer, overwrites them with
 * zeroes, puts the index back to base and switches BTS on again:
 *
 *	ds_bts_off()			in .text..ds, clears TR
 *	  ds_bts_drain(cause)		records -> bts_records()
 *	  ds_bts_ask(task)		what next? <- bts_mode()
 *	ds_bts_on()			in .text..ds, sets TR
 *
 * It happens when the CPU switches to another task, when a reader or a change of
 * options or targets asks (an IPI), when a mapping is shown, and when the CPU goes
 * offline or the kernel crashes. And in the PMI:
 *
 *	exc_nmi()
 *	  ds_bts_nmi_enter()		BTS goes off; mostly nothing is to be done
 *	  default_do_nmi()
 *	    ds_bts_nmi_first()		drains
 *	    perf's handler		unmasks the PMI's entry of the local APIC
 *	    ds_bts_nmi_last()		looks at the index once more
 *	  ds_bts_nmi_leave()		BTS goes on
 *
 * So perf's handler is not recorded in an NMI that drains, and what is stored of
 * such an NMI is a dozen branches at each end, on any kernel.
 *
 * Whose hardware this is: perf's, see ds.c. Of MSR_IA32_DEBUGCTLMSR, which is shared
 * with block stepping and perf, only TR, BTS, BTINT and BTS_OFF_* are changed. The
 * PMI's entry, which the APIC masks when it delivers, is unmasked by perf's
 * handler. If another PMI was lost by then, the index is above the threshold when
 * ds_bts_nmi_last() looks, or the buffer is full when another drain comes, which
 * then unmasks the entry itself.
 *
 * What the hardware may do differently, and the driver does not rely on: raise the
 * PMI for each record above the threshold, or late; store records after TR was
 * cleared (they are the driver's own, and are left out);
 * read the index while TR is clear only; clear TR by itself (a machine check does:
 * the next drain notices, because it reads DEBUGCTL).
 *
 * Concurrency. A CPU's state (struct ds_bts_cpu, struct ds_bts_nmi), its DS area
 * and its DEBUGCTL are touched by that CPU alone, with interrupts off, but for
 * ds_bts_nmi.crash and ds_bts_cpu.crash_nmi_due, which another CPU sets. What is left is the NMI:
 *
 *	- ds_bts_nmi.busy is true from the beginning of ds_bts_off() until the
 *	  index is back at base in ds_bts_on(). An NMI that finds it leaves the
 *	  buffer alone. It switches BTS off, if that is not done yet: whoever is busy
 *	  is about to, and would else store the branches of the whole NMI.
 *	- ds_bts_cpu.moving is true while DEBUGCTL need not be what @ctl says.
 *	- A drain outside the NMI that finds the index above the threshold knows that
 *	  a PMI is on its way: @pmi_due has the NMI handler own up to it, so that
 *	  it does not become an unknown NMI. @pmi_seen says that it came before.
 *
 * Other CPUs read @ctl and the index as a hint only (ds_bts_flush_all()).
 *
 * What BTS cannot see: SMM; a VMX guest, which has a DEBUGCTL of its own; what a
 * full buffer has no room for, which is reported, though it cannot be counted.
 *
 * SDM vol. 3: "Branch Trace Store (BTS)", "BTS and DS Save Area", "DS Save
 * Area", "Writing the DS Interrupt Service Routine".
 */

#define pr_fmt(fmt) "x86/ds: " fmt

#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/nmi.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/ptrace.h>

#include "ds_internal.h"

/* After so many PMIs in a row with nothing but own records, recording stops. */
#define DS_IDLE_PMIS	16

/* How many branches ds_probe_interrupt() takes, at most: they fit the buffer. */
#define DS_PROBE_BRANCHES	1024
#define DS_PROBE_THRESHOLD	4
#define DS_PROBE_WAIT_US	100
#define DS_PROBE_LATE		64

DEFINE_PER_CPU(struct ds_bts_cpu, ds_bts_cpu) = { .back = DS_NOWHERE };
DEFINE_PER_CPU(struct ds_bts_nmi, ds_bts_nmi);
DEFINE_STATIC_KEY_FALSE(ds_bts_key);

/*
 * What is in .text..ds before BTS is off, or after it is on, must not branch out of
 * that section. So it uses __rdmsr(), __wrmsr() and raw_cpu_ptr(), which are
 * inline in each configuration.
 */

static __always_inline void ds_write_ctl(u64 ctl)
{
	native_wrmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
}

/* Context: this CPU, interrupts off, busy. */
static __always_inline void ds_disable(struct ds_bts_cpu *c, struct debug_store *ds)
{
	u64 ctl = __rdmsr(MSR_IA32_DEBUGCTLMSR);

	c->others = ctl & ~DS_CTL_MASK;
	ds_write_ctl(c->others);
	c->end = READ_ONCE(ds->bts_index);
	/* See ds_disable_amid(), and the end of ds_bts_on(). */
	if (c->moving)
		return;
	c->moving = true;
	c->cleared = (ctl & DS_CTL_MASK) != c->ctl;
}

/*
 * Whoever is busy is about to switch BTS off, and has not come to that. Its check of
 * DEBUGCTL is over, or is skipped.
 * Context: NMI.
 */
static __always_inline void ds_disable_amid(struct ds_bts_cpu *c, struct debug_store *ds)
{
	u64 ctl = __rdmsr(MSR_IA32_DEBUGCTLMSR);

	if (!(ctl & DS_CTL_MASK) || !c->ctl)
		return;
	ds_write_ctl(ctl & ~DS_CTL_MASK);
	c->moving = true;
	c->end = READ_ONCE(ds->bts_index);
	c->amid = true;
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
	struct ds_bts_nmi *n = raw_cpu_ptr(&ds_bts_nmi);
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (n->busy)
		return false;
	WRITE_ONCE(n->busy, true);
	/* From here on an NMI on this CPU leaves the buffer alone. */
	barrier();
	if (c->ctl)
		ds_disable(c, n->ds);
	return true;
}

NOKPROBE_SYMBOL(ds_bts_off);

static void ds_empty(struct ds_bts_cpu *c, struct debug_store *ds);

/* Another CPU has crashed during this drain, whose records are written by now. */
static noinline void ds_answer_crash(struct ds_bts_cpu *c, struct ds_bts_nmi *n)
{
	ds_set_mode(c, n->ds, DS_BTS_OFF);
	/* Pairs with ds_crash_is_awaited(). */
	smp_store_release(&n->crash, false);
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
	struct ds_bts_nmi *n = raw_cpu_ptr(&ds_bts_nmi);
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);
	u64 ctl;

	if (READ_ONCE(n->crash))
		ds_answer_crash(c, n);
	ctl = c->ctl;
	if (ctl) {
		if (!c->moving)
			c->others = __rdmsr(MSR_IA32_DEBUGCTLMSR) & ~DS_CTL_MASK;
		c->moving = true;
		/* Stored late, or while the driver had not set TR. */
		if (READ_ONCE(n->ds->bts_index) != n->ds->bts_buffer_base)
			ds_empty(c, n->ds);
	}
	/* The index is at base before an NMI may look at it. */
	barrier();
	WRITE_ONCE(n->busy, false);
	if (ctl) {
		ds_write_ctl(c->others | ctl);
		/* A crash's NMI in between found nothing to switch off. */
		if (READ_ONCE(c->ctl) != ctl)
			ds_write_ctl(c->others);
	}
	barrier();
	c->moving = false;
}

NOKPROBE_SYMBOL(ds_bts_on);

/**
 * __ds_bts_nmi_enter - an NMI that is for a drain, or comes amid one
 *
 * Context: NMI, before anything is told of it: no RCU, no lockdep.
 */
__ds_text void __ds_bts_nmi_enter(void)
{
	struct ds_bts_nmi *n = raw_cpu_ptr(&ds_bts_nmi);
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (c->probing) {
		if (!ds_bts_over(n->ds))
			return;
		WRITE_ONCE(c->probed, c->probed + 1);
		ds_write_ctl(c->others);
		return;
	}
	if (n->busy) {
		ds_disable_amid(c, n->ds);
		return;
	}
	if (!c->ctl)
		return;
	WRITE_ONCE(n->busy, true);
	n->drains = true;
	c->drained = false;
	ds_disable(c, n->ds);
}

NOKPROBE_SYMBOL(__ds_bts_nmi_enter);

/**
 * __ds_bts_nmi_leave - the NMI that has drained ends
 * @ip: where it returns to
 *
 * Context: NMI, after all that was to be told of it.
 */
__ds_text void __ds_bts_nmi_leave(unsigned long ip)
{
	struct ds_bts_nmi *n = raw_cpu_ptr(&ds_bts_nmi);
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	n->drains = false;
	if (c->ctl)
		c->back = ip;
	ds_bts_on();
}

NOKPROBE_SYMBOL(__ds_bts_nmi_leave);

/*
 * Forget what the buffer holds. What is above @c->end was not handed over. The
 * buffer is mapped in the user page tables (KPTI), so nothing is left there.
 * Context: the buffer's CPU, interrupts off, busy; TR is clear.
 */
static void ds_empty(struct ds_bts_cpu *c, struct debug_store *ds)
{
	const u64 size = sizeof(struct ds_bts_record);
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

/*
 * The buffer is empty. Tell the hardware how to fill it: up to a threshold, or again
 * and again.
 */
static void ds_prepare(struct debug_store *ds, unsigned int mode)
{
	const u64 size = sizeof(struct ds_bts_record);
	u64 threshold = ds->bts_absolute_maximum + size;

	if (!(mode & DS_BTS_CIRCULAR))
		threshold = ds->bts_buffer_base + size * READ_ONCE(ds_bts_threshold);
	WRITE_ONCE(ds->bts_interrupt_threshold, threshold);
}

/* Context: this CPU, interrupts off, busy; the buffer is empty. */
void ds_set_mode(struct ds_bts_cpu *c, struct debug_store *ds, unsigned int mode)
{
	bool has_cpl = boot_cpu_has(X86_FEATURE_DSCPL);

	c->mode = mode;
	WRITE_ONCE(c->ctl, ds && !c->stopped ? ds_ctl(mode, has_cpl) : 0);
	if (c->ctl)
		ds_prepare(ds, mode);
}

/*
 * A PMI is on its way if the index has reached the threshold, unless it was taken
 * since the drain is busy. The NMI handler does the counterpart:
 *
 *	drain				NMI
 *	pmi_due = true			if pmi_due: pmi_due = false, else
 *	if pmi_seen: pmi_due = false	if over the threshold: pmi_seen = true
 *
 * Whenever the NMI comes, one of the two sees the other's store. If the buffer is
 * full and the entry masked, the PMI was lost, and no other can come: unmask. In an NMI
 * a masked entry means that the PMI was delivered: it waits for that NMI to end.
 */
static void ds_expect_pmi(struct ds_bts_cpu *c, bool full)
{
	struct ds_bts_nmi *n = this_cpu_ptr(&ds_bts_nmi);

	if (full && !in_nmi() && (apic_read(APIC_LVTPC) & APIC_LVT_MASKED)) {
		apic_write(APIC_LVTPC, APIC_DM_NMI);
		return;
	}
	WRITE_ONCE(n->pmi_due, true);
	/* An NMI on this CPU sees the store before the load below. */
	barrier();
	if (READ_ONCE(c->pmi_seen))
		WRITE_ONCE(n->pmi_due, false);
}

/*
 * Interrupt after interrupt has found nothing but own records, so something raises
 * them that this driver does not know: better no record than no progress.
 */
static bool ds_must_stop(struct ds_bts_cpu *c, const struct ds_bts_batch *batch)
{
	if (batch->cause != DS_DRAIN_INTERRUPT)
		return false;
	c->idle_pmis = ds_bts_nr(batch) ? 0 : c->idle_pmis + 1;
	return c->idle_pmis >= DS_IDLE_PMIS;
}

static void ds_stop(struct ds_bts_cpu *c, struct debug_store *ds)
{
	c->stopped = true;
	ds_set_mode(c, ds, DS_BTS_OFF);
	pr_warn("CPU %d: interrupts without records, recording stops there\n",
		raw_smp_processor_id());
}

/* What the next batch begins with. */
static void ds_begin_batch(struct ds_bts_cpu *c)
{
	c->strays = 0;
	c->cleared = false;
	c->amid = false;
	c->back = DS_NOWHERE;
}

/*
 * Hand over what the buffer holds and empty it.
 * Context: busy; in the NMI that interrupted @ip, or elsewhere (DS_NOWHERE). Bounded by
 * the size of the buffer.
 */
static void ds_hand_over(struct ds_bts_cpu *c, struct debug_store *ds,
			 enum ds_drain_cause cause, unsigned long ip)
{
	struct ds_bts_batch batch = {
		.own		= c->strays,
		.cause		= cause,
		.cleared	= c->cleared,
	};
	struct ds_ways ways = {
		.back		= c->back,
		.ip		= ip,
		.amid		= c->amid,
		.kernel		= !(c->ctl & DEBUGCTLMSR_BTS_OFF_OS),
	};

	ds_slice(ds, c->end, c->mode & DS_BTS_CIRCULAR, &batch);
	if (ip == DS_NOWHERE && ds_bts_over(ds))
		ds_expect_pmi(c, batch.full);
	if (!ways.kernel && !(c->traits & DS_TRAIT_CPL))
		c->traits |= ds_cpl_trait(&batch);

	ds_begin_batch(c);
	ds_cut_own(&batch, &ways);
	batch.stopped = ds_must_stop(c, &batch);
	bts_records(&batch);

	ds_empty(c, ds);
	if (batch.stopped)
		ds_stop(c, ds);
	else
		ds_prepare(ds, c->mode);
}

/**
 * ds_bts_drain - hand over what this CPU has recorded
 * @cause: why
 *
 * A flush calls bts_records() also if nothing is recorded: the tracer may hold
 * something.
 *
 * Context: Between ds_bts_off() and ds_bts_on(); bts_records() is called from here.
 */
void ds_bts_drain(enum ds_drain_cause cause)
{
	struct ds_bts_batch none = { .cause = cause };
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	if (c->ctl) {
		ds_hand_over(c, this_cpu_read(ds_bts_nmi.ds), cause, DS_NOWHERE);
		return;
	}
	if (cause != DS_DRAIN_FLUSH)
		return;
	none.own = c->strays;
	c->strays = 0;
	bts_records(&none);
}

/**
 * ds_bts_ask - have this CPU record what the tracer wants of a task
 * @task: the current one, or the one that comes next
 *
 * On a CPU that is going offline nothing is recorded, whatever the tracer says.
 *
 * Context: As ds_bts_drain(), after it; not NMI. bts_mode() is called from here.
 */
void ds_bts_ask(struct task_struct *task)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	lockdep_assert_irqs_disabled();
	ds_set_mode(c, this_cpu_read(ds_bts_nmi.ds), bts_mode(task));
}

/* Context: NMI. Is it the one by which another CPU asked, because it crashes? */
static int ds_crash_nmi(struct ds_bts_cpu *c)
{
	if (!READ_ONCE(c->crash_nmi_due))
		return NMI_DONE;
	WRITE_ONCE(c->crash_nmi_due, false);
	return NMI_HANDLED;
}

/* Context: NMI that drains, once. */
static void ds_nmi_drain(struct ds_bts_cpu *c, struct ds_bts_nmi *n, unsigned long ip)
{
	bool crash = READ_ONCE(n->crash);

	c->drained = true;
	ds_hand_over(c, n->ds, crash ? DS_DRAIN_CRASH : DS_DRAIN_INTERRUPT, ip);
	if (crash)
		ds_set_mode(c, n->ds, DS_BTS_OFF);
}

/**
 * ds_bts_nmi_first - the PMI, one of several sources of one NMI
 * @type: NMI_LOCAL
 * @regs: what the NMI interrupted
 *
 * Context: NMI. Runs before perf's handler.
 * Return: NMI_HANDLED if the NMI is one of this driver's.
 */
int ds_bts_nmi_first(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_nmi *n = this_cpu_ptr(&ds_bts_nmi);
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	bool over = n->ds && ds_bts_over(n->ds);
	bool due = READ_ONCE(n->pmi_due);

	if (READ_ONCE(c->probing))
		return over ? NMI_HANDLED : NMI_DONE;

	if (over || due)
		WRITE_ONCE(n->pmi_due, false);
	if (n->drains && !c->drained)
		ds_nmi_drain(c, n, regs->ip);
	else if (over && !due)
		WRITE_ONCE(c->pmi_seen, true);
	/*
	 * The records are written. A drain that this NMI has interrupted answers in
	 * ds_bts_on().
	 */
	if (READ_ONCE(n->crash) && (n->drains || !n->busy || !c->ctl))
		/* Pairs with ds_crash_is_awaited(). */
		smp_store_release(&n->crash, false);
	return over || due ? NMI_HANDLED : ds_crash_nmi(c);
}

/* What perf's handler did was recorded, and has filled the buffer. */
static __ds_text void ds_drain_again(void)
{
	if (ds_bts_off()) {
		ds_bts_drain(DS_DRAIN_INTERRUPT);
		ds_bts_on();
	}
}

NOKPROBE_SYMBOL(ds_drain_again);

/**
 * ds_bts_nmi_last - has an interrupt been missed?
 * @type: NMI_LOCAL
 * @regs: what the NMI interrupted
 *
 * Perf may unmask the PMI's entry late: an interrupt that fell due before is lost.
 *
 * Context: NMI. Runs after perf's handler.
 * Return: NMI_DONE.
 */
int ds_bts_nmi_last(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_nmi *n = this_cpu_ptr(&ds_bts_nmi);

	if (!n->busy && this_cpu_read(ds_bts_cpu.ctl) && ds_bts_over(n->ds))
		ds_drain_again();
	return NMI_DONE;
}

/* --- Trust is checked: does the hardware do what it says? -------------------------- */

/*
 * Store one jump, whose ends are returned. Nothing else branches between the two
 * writes of DEBUGCTL, but an NMI.
 */
static __ds_text unsigned int ds_probe_jump(struct debug_store *ds, u64 on, u64 off,
					    u64 *from, u64 *to)
{
	u32 low = on, high = on >> 32;

	asm volatile("wrmsr\n"
		     "1:	jmp	2f\n"
		     "2:	mov	%[low], %%eax\n"
		     "	mov	%[high], %%edx\n"
		     "	wrmsr\n"
		     "	lea	1b(%%rip), %[from]\n"
		     "	lea	2b(%%rip), %[to]\n"
		     : "+a" (low), "+d" (high), [from] "=&r" (*from), [to] "=&r" (*to)
		     : "c" (MSR_IA32_DEBUGCTLMSR),
		       [low] "r" ((u32)off), [high] "r" ((u32)(off >> 32))
		     : "memory");
	return (READ_ONCE(ds->bts_index) - ds->bts_buffer_base) /
	       sizeof(struct ds_bts_record);
}

NOKPROBE_SYMBOL(ds_probe_jump);

/* What comes late comes now: each round is a branch. */
static void ds_settle(struct ds_bts_cpu *c, struct debug_store *ds)
{
	unsigned int i;

	for (i = 0; i < DS_PROBE_LATE; i++)
		barrier();
	ds_empty(c, ds);
}

/*
 * A few times: an NMI may add records, and the first record after a C-state may be
 * wrong (erratum AAJ122).
 */
#define DS_PROBE_TRIES	8

/**
 * ds_probe_record - does this CPU store a known branch, and nothing else?
 * @ds: its DS area
 *
 * Context: This CPU, interrupts off; BTS is the driver's and off.
 * Return: DS_FAULT_NONE, _REFUSED or _NO_RECORD.
 */
enum ds_fault ds_probe_record(struct debug_store *ds)
{
	const struct ds_bts_record *rec = (void *)ds->bts_buffer_base;
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	u64 off, on, all, from, to;
	unsigned int nr, i;
	bool exact = false;

	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &off))
		return DS_FAULT_REFUSED;
	off &= ~DS_CTL_MASK;
	on = off | DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;
	all = on | DEBUGCTLMSR_BTINT;
	if (boot_cpu_has(X86_FEATURE_DSCPL))
		all |= DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR;
	if (wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, all))
		return DS_FAULT_REFUSED;
	wrmsrq(MSR_IA32_DEBUGCTLMSR, off);
	c->end = ds->bts_buffer_base;
	memset((void *)c->end, 0, ds->bts_absolute_maximum - c->end);

	for (i = 0; i < DS_PROBE_TRIES && !exact; i++) {
		ds_settle(c, ds);
		nr = ds_probe_jump(ds, on, off, &from, &to);
		exact = nr == 1 && rec->from == from && rec->to == to;
	}
	ds_settle(c, ds);
	return exact ? DS_FAULT_NONE : DS_FAULT_NO_RECORD;
}

/* Take branches until there is a PMI: with BTS on, the loop's jump back is one. */
static __ds_text void ds_probe_loop(struct ds_bts_cpu *c, u64 ctl)
{
	unsigned int i;

	ds_write_ctl(ctl);
	for (i = 0; i < DS_PROBE_BRANCHES && !READ_ONCE(c->probed); i++)
		barrier();
	ds_write_ctl(c->others);
}

NOKPROBE_SYMBOL(ds_probe_loop);

static bool ds_probe_pmi(struct ds_bts_cpu *c)
{
	unsigned int us;

	WRITE_ONCE(c->probed, 0);
	ds_probe_loop(c, c->others | DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS |
			 DEBUGCTLMSR_BTINT);
	for (us = 0; us < DS_PROBE_WAIT_US && !READ_ONCE(c->probed); us++)
		udelay(1);
	return READ_ONCE(c->probed);
}

/**
 * ds_probe_interrupt - does this CPU raise a PMI at the threshold?
 * @ds: its DS area
 *
 * Notes whether it raises another one for a record above the threshold.
 *
 * Context: This CPU, which is online, interrupts off; BTS is the driver's and off,
 * and the NMI handlers are registered.
 * Return: DS_FAULT_NONE or _NO_INTERRUPT.
 */
enum ds_fault ds_probe_interrupt(struct debug_store *ds)
{
	struct ds_bts_nmi *n = this_cpu_ptr(&ds_bts_nmi);
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	u64 threshold = ds->bts_interrupt_threshold;
	struct debug_store *before = n->ds;
	bool pmi;

	c->others = __rdmsr(MSR_IA32_DEBUGCTLMSR) & ~DS_CTL_MASK;
	ds_settle(c, ds);
	/* A PMI that came after perf's last event has left the entry masked. */
	if (apic_read(APIC_LVTPC) & APIC_LVT_MASKED)
		apic_write(APIC_LVTPC, APIC_DM_NMI);
	WRITE_ONCE(n->ds, ds);
	WRITE_ONCE(ds->bts_interrupt_threshold, ds->bts_buffer_base +
		   DS_PROBE_THRESHOLD * sizeof(struct ds_bts_record));
	WRITE_ONCE(c->probing, true);

	pmi = ds_probe_pmi(c);
	if (pmi)
		c->traits |= ds_probe_pmi(c) ? DS_TRAIT_PMI_REPEATS :
					       DS_TRAIT_PMI_ONCE;

	ds_settle(c, ds);
	WRITE_ONCE(ds->bts_interrupt_threshold, threshold);
	WRITE_ONCE(c->probing, false);
	WRITE_ONCE(n->ds, before);
	return pmi ? DS_FAULT_NONE : DS_FAULT_NO_INTERRUPT;
}
