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
 *
 * A flight recorder (DS_BTS_CIRCULAR) wraps in the buffer without interrupts instead.
 * A drain hands the records to the client, overwrites them with zeroes and puts the
 * index back to base. Of an NMI that drains, a dozen branches are stored at each end,
 * on any kernel, for perf's handler is not recorded:
 *
 *	ds_bts_off()			exc_nmi()
 *	  ds_bts_drain(cause)		  ds_bts_nmi_enter()	clears TR
 *	    ds_bts_ops.records()	    perf's handler	unmasks the PMI
 *	  ds_bts_ask(task)		    ds_bts_nmi()	drains
 *	    ds_bts_ops.turn()		  ds_bts_nmi_leave()	sets TR
 *	ds_bts_on()
 *
 * Of MSR_IA32_DEBUGCTLMSR, which is shared with block stepping and perf, only TR, BTS,
 * BTINT and BTS_OFF_* are changed. The local APIC masks the PMI when it delivers. If
 * another one is lost until perf unmasks, the index is above the threshold when
 * ds_bts_nmi() looks, or the buffer is full at another drain, which then unmasks.
 *
 * The hardware may raise the PMI for each record above the threshold, or late; store
 * records after TR was cleared (the driver's own, left out); read the index while TR is
 * clear only; clear TR by itself, as a machine check does (the next drain notices).
 *
 * Concurrency. A CPU's struct ds_bts_cpu, DS area and DEBUGCTL are touched by that CPU
 * alone, with interrupts off; but a CPU that crashes sets @crash and @crash_nmi of the
 * others, and any reads @ctl as a hint. @busy is set from the beginning of ds_bts_off() until the
 * index is back at base in ds_bts_on(). An NMI that finds it set leaves the buffer alone.
 * It switches BTS off if the interrupted drain has not done so yet: else all branches of
 * the NMI would be stored.
 *
 * BTS does not see SMM, SGX enclaves, or VMX guests, which use their own DEBUGCTL. It does
 * not see the host either from a VM exit, which clears DEBUGCTL, until KVM restores it. A
 * full buffer loses branches, which is reported, though they cannot be counted.
 *
 * While KVM has lent the PMU to a guest (mediated vPMU), LVTPC has the guest's vector, and
 * a PMI of BTS is lost: as beside perf, the next drain finds the buffer.
 *
 * SDM vol. 3: "Branch Trace Store (BTS)", "BTS and DS Save Area", "DS Save
 * Area", "Writing the DS Interrupt Service Routine".
 */

#define pr_fmt(fmt) "x86/ds: " fmt

#include <linux/lockdep.h>
#include <linux/nmi.h>
#include <linux/printk.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include <asm/apic.h>
#include <asm/cpu_entry_area.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <kunit/visibility.h>

#include "ds_internal.h"

DEFINE_PER_CPU(struct ds_bts_cpu, ds_bts_cpu) = { .back = DS_NOWHERE };
DEFINE_STATIC_KEY_FALSE(ds_bts_key);

DEFINE_STATIC_CALL_NULL(ds_client_records, *((struct ds_bts_ops *)NULL)->records);
DEFINE_STATIC_CALL_RET0(ds_client_turn, *((struct ds_bts_ops *)NULL)->turn);
DEFINE_STATIC_CALL_RET0(ds_client_pending, *((struct ds_bts_ops *)NULL)->pending);

static __always_inline bool ds_over(const struct debug_store *ds)
{
	return READ_ONCE(ds->bts_index) >= READ_ONCE(ds->bts_interrupt_threshold);
}

/*
 * What is in .text..ds before BTS is off, or after it is on, must not branch out of
 * that section. So it uses __rdmsr(), native_wrmsrq() and raw_cpu_ptr(), which are
 * inline in each configuration.
 */

/* Return: what DEBUGCTL was. */
static __always_inline u64 ds_switch_off(void)
{
	u64 ctl = __rdmsr(MSR_IA32_DEBUGCTLMSR);

	if (ctl & DS_CTL_MASK)
		native_wrmsrq(MSR_IA32_DEBUGCTLMSR, ctl & ~DS_CTL_MASK);
	return ctl;
}

/**
 * ds_bts_off - this CPU records nothing, until ds_bts_on()
 *
 * To be called from .text..ds, first.
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
	c->interrupted = false;
	barrier();
	WRITE_ONCE(c->busy, DS_BUSY);
	/* From here on an NMI on this CPU leaves the buffer alone. */
	barrier();
	if (c->ds) {
		c->debugctl = ds_switch_off();
		c->end = READ_ONCE(c->ds->bts_index);
	}
	return true;
}

/*
 * Forget what is in the buffer. After a drain these are own records, stored late. Else
 * an NMI had to drain and its handlers were skipped (a microcode update), or something
 * else had set TR. Context: as ds_bts_on(), where nothing may be instrumented.
 */
static __always_inline void ds_discard(struct ds_bts_cpu *c)
{
	u64 base = c->ds->bts_buffer_base;
	u64 end = READ_ONCE(c->ds->bts_index);

	if (end == base)
		return;
	if (c->end == base) {
		c->strays += (end - base) / sizeof(struct ds_bts_record);
	} else {
		c->discarded += (end - base) / sizeof(struct ds_bts_record);
		end = c->ds->bts_absolute_maximum;
		c->pmi = DS_PMI_NONE;
	}
	__memset((void *)base, 0, end - base);
	WRITE_ONCE(c->ds->bts_index, base);
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
	u64 others = c->debugctl & ~DS_CTL_MASK;
	u64 ctl;

	if (READ_ONCE(c->crash)) {
		WRITE_ONCE(c->ctl, 0);
		/* Pairs with ds_bts_crash(): this CPU's records are written. */
		smp_store_release(&c->crash, false);
	}
	ctl = c->ctl;
	if (c->ds)
		ds_discard(c);
	/* The index is at base before an NMI may look at it. */
	barrier();
	WRITE_ONCE(c->busy, DS_FREE);
	if (ctl) {
		native_wrmsrq(MSR_IA32_DEBUGCTLMSR, others | ctl);
		/* A crash's NMI in between found nothing to switch off. */
		if (READ_ONCE(c->ctl) != ctl)
			native_wrmsrq(MSR_IA32_DEBUGCTLMSR, others);
	}
}

/*
 * An NMI that drains, or that interrupts a drain, which may not have switched BTS off yet.
 * This function is not in .text..ds: code there is entered only where BTS goes off, for the
 * tracer's own records are found only at the end. Context: NMI, RCU does not watch yet.
 */
noinstr void __ds_bts_nmi_enter(void)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (!c->busy && !READ_ONCE(c->crash) && !READ_ONCE(c->pmi) &&
	    !(c->ds && ds_over(c->ds)))
		return;
	if (ds_bts_off())
		WRITE_ONCE(c->busy, DS_BUSY_NMI);
	else
		ds_switch_off();
}

/*
 * The NMI returns to @ip, or exc_nmi() restarts for a nested one. Context: NMI, RCU watches
 * no more.
 */
noinstr void __ds_bts_nmi_leave(unsigned long ip)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (c->busy != DS_BUSY_NMI)
		return;
	c->back = ip;
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

	if (!ds_bts_pause())
		return;
	ds_bts_drain(job->cause);
	if (job->then)
		job->then(raw_cpu_ptr(&ds_bts_cpu));
	ds_bts_resume();
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
 * A PMI is on its way if the index has reached the threshold, unless it came since
 * the drain is busy: see ds_bts_nmi(). If the buffer is full and the entry masked, the
 * PMI was lost, and no other can come: unmask. In an NMI a masked entry means that the
 * PMI was delivered: it waits for that NMI to end.
 */
VISIBLE_IF_KUNIT void ds_expect_pmi(struct ds_bts_cpu *c, bool full)
{
	if (full && !in_nmi() && ds_unmask_pmi())
		return;
	cmpxchg_local(&c->pmi, DS_PMI_NONE, DS_PMI_DUE);
}

/*
 * Forget what the buffer holds. Nothing is left there: it is mapped in the user page
 * tables (KPTI). Context: busy; TR is clear.
 */
static void ds_empty(struct ds_bts_cpu *c)
{
	struct debug_store *ds = c->ds;
	u64 base = ds->bts_buffer_base;
	u64 end = ds_has_wrapped(ds) || !c->ctl ? ds->bts_absolute_maximum :
						  READ_ONCE(ds->bts_index);

	c->strays += ds_late(c);
	memset((void *)base, 0, end - base);
	WRITE_ONCE(ds->bts_index, base);
	c->end = base;
	/* An NMI that was on its way has come, or is waited for. */
	cmpxchg_local(&c->pmi, DS_PMI_SEEN, DS_PMI_NONE);
}

/* Move what a CPU has counted since its last batch into a batch. */
static void ds_move_counts(struct ds_bts_cpu *c, struct ds_bts_batch *batch)
{
	batch->own = c->strays;
	batch->discarded = c->discarded;
	c->strays = 0;
	c->discarded = 0;
}

/*
 * Hand over what the buffer holds and empty it. Context: busy; in the NMI that
 * interrupted @ip, or elsewhere (DS_NOWHERE). Bounded by the size of the buffer.
 */
VISIBLE_IF_KUNIT void ds_hand_over(struct ds_bts_cpu *c, enum ds_drain_cause cause,
				   unsigned long ip)
{
	struct ds_bts_batch batch = { .cause = cause };

	ds_move_counts(c, &batch);
	/* An NMI may come when BTS was about to go off, or on. */
	batch.cleared = (c->debugctl & DS_CTL_MASK) != c->ctl &&
			!c->interrupted && !ds_in_section(ip);
	ds_slice(c, &batch);
	if (ip == DS_NOWHERE && ds_over(c->ds))
		ds_expect_pmi(c, batch.full);
	if ((c->ctl & DEBUGCTLMSR_BTS_OFF_OS) && !(c->traits & DS_TRAIT_CPL))
		c->traits |= ds_cpl_trait(&batch);
	ds_cut_own(&batch, c, ip != DS_NOWHERE);
	c->back = DS_NOWHERE;
	if (cause == DS_DRAIN_INTERRUPT)
		c->idle_pmis = ds_bts_nr(&batch) ? 0 : c->idle_pmis + 1;
	batch.stopped = c->idle_pmis >= DS_IDLE_PMIS;
	static_call_cond(ds_client_records)(&batch);

	ds_empty(c);
	/* Better no record than no progress. */
	if (batch.stopped) {
		WRITE_ONCE(c->ctl, 0);
		pr_warn("CPU %d: interrupts without records, recording stops there\n",
			raw_smp_processor_id());
	}
}

/**
 * ds_bts_drain - hand over what this CPU has recorded
 * @cause: why; in a flush the client gets an empty batch as well
 *
 * Context: Between ds_bts_off() and ds_bts_on(); the client's records() is called here.
 */
void ds_bts_drain(enum ds_drain_cause cause)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_bts_batch none = { .cause = cause };

	if (c->ctl) {
		ds_hand_over(c, cause, DS_NOWHERE);
		return;
	}
	none.dead = cause == DS_DRAIN_FLUSH && c->fault;
	/* A flush may come before the client takes batches. */
	if (cause != DS_DRAIN_FLUSH)
		ds_move_counts(c, &none);
	if (cause == DS_DRAIN_FLUSH || none.own || none.discarded)
		static_call_cond(ds_client_records)(&none);
}

/**
 * ds_bts_ask - have this CPU record what the client wants of a task
 * @task: the current one, or the one that comes next
 *
 * Where BTS is not the driver's, or has stopped, nothing is recorded, whatever the
 * client says.
 *
 * Context: As ds_bts_drain(), after it; not NMI. The client's turn() is called here.
 */
void ds_bts_ask(struct task_struct *task)
{
	u64 ctl = ds_ctl(static_call(ds_client_turn)(task), boot_cpu_has(X86_FEATURE_DSCPL));
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	const u64 size = sizeof(struct ds_bts_record);
	struct debug_store *ds = c->ds;

	lockdep_assert_irqs_disabled();
	/* An NMI may have set it while nothing was recorded. */
	c->back = DS_NOWHERE;
	if (!ds)
		return;
	WRITE_ONCE(c->ctl, c->idle_pmis < DS_IDLE_PMIS ? ctl : 0);
	/* Where there is to be no interrupt, beyond the maximum. */
	WRITE_ONCE(ds->bts_interrupt_threshold, ctl & DEBUGCTLMSR_BTINT ?
		   ds->bts_buffer_base + size * ds_bts_get_threshold() :
		   ds->bts_absolute_maximum + size);
}

/*
 * The PMI is one of several sources of an NMI, and only a CPU that stores branches raises it;
 * something else may have set TR. @pmi is how a drain and an NMI in its
 * midst agree on it: the first of the two to come sets it, the second takes it back.
 * The branches of another NMI were recorded, and may have reached the threshold. Perf may
 * unmask the PMI's entry late: an interrupt that fell due before is lost.
 * Context: NMI, after perf's handler, which has unmasked the entry.
 */
int ds_bts_nmi(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_job job = { DS_DRAIN_INTERRUPT };
	bool stores = c->ctl || (c->busy && (c->debugctl & DEBUGCTLMSR_TR));
	bool over = c->ds && stores && ds_over(c->ds);
	bool crash = xchg(&c->crash_nmi, false);
	bool due = !crash && READ_ONCE(c->pmi) == DS_PMI_DUE;

	if (!c->busy) {
		if (over)
			ds_run(&job);
		return crash ? NMI_HANDLED : NMI_DONE;
	}
	if (c->busy == DS_BUSY) {
		c->interrupted |= ds_in_section(regs->ip);
		if (over && !due)
			WRITE_ONCE(c->pmi, DS_PMI_SEEN);
	}
	if (due)
		WRITE_ONCE(c->pmi, DS_PMI_NONE);
	if (c->busy == DS_BUSY_NMI && c->ctl && ds_has_records(c->ds))
		ds_hand_over(c, READ_ONCE(c->crash) ? DS_DRAIN_CRASH :
			     DS_DRAIN_INTERRUPT, regs->ip);
	return over || due || crash ? NMI_HANDLED : NMI_DONE;
}

/* --- Trust is checked: does the hardware do what it says? -------------------------- */

/* An NMI of another kind spoils a try, and the first record may be wrong (AAJ122). */
#define DS_PROBE_TRIES		8
/* How many branches a try takes until there is a PMI, at most: they fit the buffer. */
#define DS_PROBE_BRANCHES	1024
#define DS_PROBE_THRESHOLD	4
#define DS_PROBE_LATE		64

/*
 * Go back @branches times, or until there is a PMI, with no other branch but those of
 * an NMI. Return: does the buffer hold the record of just one?
 */
static __ds_text bool ds_probe_loop(struct ds_bts_cpu *c, u64 ctl, unsigned int branches)
{
	const struct ds_bts_record *rec = (void *)c->ds->bts_buffer_base;
	u64 from, to;

	native_wrmsrq(MSR_IA32_DEBUGCTLMSR, c->debugctl | ctl);
	asm volatile("1:	cmpl	%[seen], %[pmi]\n"
		     "	je	3f\n"
		     "	sub	$1, %[branches]\n"
		     "2:	jnc	1b\n"
		     "3:	lea	2b(%%rip), %[from]\n"
		     "	lea	1b(%%rip), %[to]\n"
		     : [branches] "+r" (branches), [from] "=&r" (from), [to] "=&r" (to)
		     : [pmi] "m" (c->pmi), [seen] "i" (DS_PMI_SEEN)
		     : "cc", "memory");
	native_wrmsrq(MSR_IA32_DEBUGCTLMSR, c->debugctl);
	return READ_ONCE(c->ds->bts_index) == (unsigned long)(rec + 1) &&
	       rec->from == from && rec->to == to;
}

static bool ds_probe_pmi(struct ds_bts_cpu *c, u64 on)
{
	WRITE_ONCE(c->pmi, DS_PMI_NONE);
	ds_probe_loop(c, on | DEBUGCTLMSR_BTINT, DS_PROBE_BRANCHES);
	return READ_ONCE(c->pmi) == DS_PMI_SEEN;
}

/* Take the probe's records away. What comes late comes now: each round is a branch. */
static void ds_settle(struct ds_bts_cpu *c)
{
	unsigned int i;

	for (i = 0; i < DS_PROBE_LATE; i++)
		barrier();
	c->end = c->ds->bts_buffer_base;
	ds_empty(c);
}

/* A known branch must give just its record, and crossing the threshold a PMI. */
static enum ds_fault ds_try(struct ds_bts_cpu *c)
{
	const u64 on = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;

	ds_settle(c);
	if (!ds_probe_loop(c, on, 1))
		return DS_FAULT_NO_RECORD;
	ds_settle(c);
	if (!ds_probe_pmi(c, on))
		return DS_FAULT_NO_INTERRUPT;
	c->traits &= DS_TRAIT_CPL;
	c->traits |= ds_probe_pmi(c, on) ? DS_TRAIT_PMI_REPEATS : DS_TRAIT_PMI_ONCE;
	return DS_FAULT_NONE;
}

/**
 * ds_probe - does this CPU's BTS work?
 * @c: the CPU's
 *
 * Context: This CPU, which is online, busy; the NMI handler is registered.
 * Return: DS_FAULT_*. The driver has BTS if that is _NONE, until ds_put_back().
 */
enum ds_fault ds_probe(struct ds_bts_cpu *c)
{
	struct debug_store *ds = &get_cpu_entry_area(smp_processor_id())->cpu_debug_store;
	enum ds_fault fault = DS_FAULT_NO_RECORD;
	u64 area, others, all = DS_CTL_MASK;
	unsigned int i;

	if (!boot_cpu_has(X86_FEATURE_DSCPL))
		all &= ~(DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR);
	rdmsrq(MSR_IA32_DS_AREA, area);
	if (area != (unsigned long)ds || !ds->bts_buffer_base)
		return DS_FAULT_NO_AREA;
	if (rdmsrq_safe(MSR_IA32_DEBUGCTLMSR, &others) ||
	    wrmsrq_safe(MSR_IA32_DEBUGCTLMSR, others | all))
		return DS_FAULT_REFUSED;
	c->debugctl = others & ~DS_CTL_MASK;
	wrmsrq(MSR_IA32_DEBUGCTLMSR, c->debugctl);

	WRITE_ONCE(ds->bts_index, ds->bts_buffer_base);
	c->threshold = ds->bts_interrupt_threshold;
	WRITE_ONCE(ds->bts_interrupt_threshold, ds->bts_buffer_base +
		   DS_PROBE_THRESHOLD * sizeof(struct ds_bts_record));
	/* For an NMI, this is a drain of a CPU that stores branches. */
	WRITE_ONCE(c->ds, ds);
	c->end = ds->bts_buffer_base;
	ds_empty(c);
	WRITE_ONCE(c->ctl, DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT);
	ds_unmask_pmi();
	for (i = 0; fault && i < DS_PROBE_TRIES; i++)
		fault = ds_try(c);
	ds_settle(c);
	WRITE_ONCE(c->ctl, 0);
	if (fault)
		ds_put_back(c);
	return fault;
}

/**
 * ds_put_back - leave this CPU's BTS to perf as it was
 * @c: the CPU's
 *
 * From here on nothing is stored, because the buffer may go away, also if something
 * else has put the driver's bits back: a hypervisor that restores what it saved.
 *
 * Context: This CPU, busy.
 */
void ds_put_back(struct ds_bts_cpu *c)
{
	WRITE_ONCE(c->ctl, 0);
	if (!c->ds)
		return;
	ds_switch_off();
	ds_empty(c);
	WRITE_ONCE(c->ds->bts_interrupt_threshold, c->threshold);
	WRITE_ONCE(c->ds, NULL);
	/* A PMI that came after perf's last event has left the entry masked. */
	ds_unmask_pmi();
}
