// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: record every taken branch through the Debug Store
 *
 * For each taken branch, the CPU writes a record of 24 bytes (from, to, flags) into its own
 * buffer. When the buffer's index reaches a threshold, the CPU raises the
 * performance-monitoring interrupt (PMI, an NMI in Linux):
 *
 *	base                  index       threshold           maximum
 *	 | rec | rec | ... | rec |            |    (room)        |
 *
 * If the buffer is circular (DS_BTS_CIRCULAR), the index wraps around and the CPU raises no
 * interrupts. A drain hands the records to the client, overwrites them with zeroes and resets the
 * index to base. If an NMI must drain the buffer, the NMI's entry code switches BTS off before
 * perf's handler runs. So the CPU stores only about a dozen branches of the NMI's entry code, and
 * about a dozen of the exit code. An ordinary drain (left) and a drain in an NMI (right):
 *
 *	ds_bts_off()			exc_nmi()
 *	  ds_bts_drain(cause)		  ds_bts_nmi_enter()	clears TR
 *	    ds_bts_ops.records()	    perf's handler	unmasks the PMI
 *	  ds_bts_ask(task)		    ds_bts_nmi()	drains
 *	    ds_bts_ops.turn()		  ds_bts_nmi_leave()	sets TR
 *	ds_bts_on()
 *
 * The driver shares MSR_IA32_DEBUGCTLMSR with block stepping and perf, and changes only TR,
 * BTS, BTINT and BTS_OFF_*. When the local APIC delivers a PMI, the APIC masks further PMIs
 * until perf unmasks them. If a PMI is lost because PMIs are masked, the next call of
 * ds_bts_nmi() drains, because the index is above the threshold. If another drain comes first
 * and finds the buffer full, that drain unmasks the PMI.
 *
 * The hardware may raise the PMI late, or raise a PMI for each record above the threshold. After
 * TR is cleared, the hardware may still store a few records, which the driver does not deliver.
 * While TR is set, the hardware may cache the index, so the driver writes the index only while TR
 * is clear. If a machine check clears TR, the next batch has @cleared set.
 *
 * Concurrency. Each CPU changes only its own struct ds_bts_cpu, DS area and DEBUGCTL, with
 * interrupts off. The only exceptions are @crash and @crash_nmi, which a crashing CPU sets for
 * the other CPUs. Other CPUs may read stale values of @ctl, @ds, @traits and @fault. @busy is
 * set from the start of ds_bts_off() until ds_bts_on() has reset the index to base. An NMI that
 * begins while @busy is set does not touch the buffer. If the interrupted drain has not
 * switched BTS off yet, the NMI switches BTS off, because otherwise all branches of the NMI
 * would be stored.
 *
 * BTS does not record branches in SMM, SGX enclaves, or VMX guests. A VMX guest has its own
 * DEBUGCTL. A VM exit clears DEBUGCTL, so BTS does not record the host until KVM restores
 * DEBUGCTL. When the buffer is full, branches are lost. The driver reports the loss, but not the
 * number of lost branches. While KVM lends the PMU to a guest (mediated vPMU), LVTPC contains the
 * guest's vector. So the PMI does not start a drain, and the records stay in the buffer until
 * another drain.
 *
 * SDM vol. 3: "Branch Trace Store (BTS)", "BTS and DS Save Area", "DS Save Area", "Writing
 * the DS Interrupt Service Routine".
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
 * While BTS is on, code in .text..ds must not branch out of that section. So the code uses
 * __rdmsr(), native_wrmsrq() and raw_cpu_ptr(), which are always inline.
 */

/* Switch BTS off. Return: the previous value of DEBUGCTL. */
static __always_inline u64 ds_switch_off(void)
{
	u64 ctl = __rdmsr(MSR_IA32_DEBUGCTLMSR);

	if (ctl & DS_CTL_MASK)
		native_wrmsrq(MSR_IA32_DEBUGCTLMSR, ctl & ~DS_CTL_MASK);
	return ctl;
}

/**
 * ds_bts_off - stop recording on this CPU until ds_bts_on()
 *
 * Except at an NMI's entry, only functions in .text..ds may call this while BTS is on.
 *
 * Context: Interrupts off; may be an NMI.
 * Return: true if ds_bts_on() must follow; false if this CPU is already in a drain.
 */
__ds_text bool ds_bts_off(void)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);

	if (c->busy)
		return false;
	c->interrupted = false;
	barrier();
	WRITE_ONCE(c->busy, DS_BUSY);
	/* From here on, an NMI on this CPU does not touch the buffer. */
	barrier();
	if (c->ds) {
		c->debugctl = ds_switch_off();
		c->end = READ_ONCE(c->ds->bts_index);
	}
	return true;
}

/*
 * Discard the records in the buffer. If @end is the base, the buffer was empty when BTS was
 * switched off, or a drain has emptied it since then. So the CPU stored these records late, and
 * they count as records of own branches. Otherwise, no drain has read these records, for one of two
 * reasons. During a microcode update, NMIs call no handlers, so a PMI does not cause a drain. And
 * while the driver records nothing, drains read no records, but other code may switch BTS on.
 * Context: the same as for ds_bts_on(). This function must not be instrumented.
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
 * ds_bts_on - resume recording on this CPU, if the last ds_bts_ask() chose to record
 *
 * Call this only at an NMI's exit, or as the last step of a function in .text..ds.
 *
 * Context: The same as for ds_bts_off(), which must have returned true.
 */
__ds_text void ds_bts_on(void)
{
	struct ds_bts_cpu *c = raw_cpu_ptr(&ds_bts_cpu);
	u64 others = c->debugctl & ~DS_CTL_MASK;
	u64 ctl;

	if (c->ds)
		ds_discard(c);
	/* The index must be reset before an NMI can use the buffer. */
	barrier();
	WRITE_ONCE(c->busy, DS_FREE);
	/* If ds_bts_crash() sent its NMI while @busy was set, stop recording here. */
	barrier();
	if (READ_ONCE(c->crash)) {
		WRITE_ONCE(c->ctl, 0);
		/* Pairs with ds_bts_crash(). By now, this CPU has delivered its records. */
		smp_store_release(&c->crash, false);
	}
	ctl = READ_ONCE(c->ctl);
	if (ctl) {
		native_wrmsrq(MSR_IA32_DEBUGCTLMSR, others | ctl);
		/* The NMI of a crash may clear @ctl just before this write, so check @ctl again. */
		if (READ_ONCE(c->ctl) != ctl)
			native_wrmsrq(MSR_IA32_DEBUGCTLMSR, others);
	}
}

/*
 * Switch BTS off if this NMI must drain or if a PMI is due. Also switch BTS off if this NMI
 * interrupts a drain, because that drain may not have switched BTS off yet. Otherwise, BTS stays
 * on, and this function's branches are in the middle of a batch. The driver does not remove them,
 * but the trace must contain no branches of .text..ds. So this function must not be in .text..ds.
 * Context: NMI, before RCU watches.
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
 * End an NMI. exc_nmi() then returns to @ip, or runs again if another NMI has come in the meantime.
 * Context: NMI, RCU does not watch.
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
 * ds_run - drain this CPU, and call a job's function while BTS is off
 * @data: a struct ds_job
 *
 * This function does nothing if this CPU is already in a drain. It may be called in an IPI.
 *
 * Context: Interrupts off; may be an NMI.
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

/*
 * Unmask the PMI. But do not change LVTPC while KVM lends the PMU to a guest.
 * Return: true if this function has unmasked the PMI. Context: this CPU, interrupts off.
 */
static bool ds_unmask_pmi(void)
{
	const u32 masked = APIC_LVT_MASKED | APIC_DM_NMI;

	if ((apic_read(APIC_LVTPC) & (APIC_LVT_MASKED | APIC_MODE_MASK)) != masked)
		return false;
	apic_write(APIC_LVTPC, APIC_DM_NMI);
	return true;
}

/*
 * The index has reached the threshold. If the PMI came during this drain, ds_bts_nmi() has set
 * @pmi to DS_PMI_SEEN. Otherwise, a PMI is still to come, so set @pmi to DS_PMI_DUE. But if the
 * buffer is full and the PMI is masked, the PMI was lost and no further PMI can come, so unmask
 * the PMI. In an NMI, a masked PMI is not necessarily lost: if the APIC has already delivered the
 * PMI, the CPU takes the PMI when the NMI ends.
 */
VISIBLE_IF_KUNIT void ds_expect_pmi(struct ds_bts_cpu *c, bool full)
{
	if (full && !in_nmi() && ds_unmask_pmi())
		return;
	cmpxchg_local(&c->pmi, DS_PMI_NONE, DS_PMI_DUE);
}

/*
 * Empty the buffer. Overwrite the records, because the buffer is mapped in the user page
 * tables (KPTI). Context: @busy is set, TR is clear.
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
	/* If the PMI came during this drain, nothing is left to do for the PMI, so clear @pmi. */
	cmpxchg_local(&c->pmi, DS_PMI_SEEN, DS_PMI_NONE);
}

/* Move the CPU's @strays and @discarded to @batch, which reports them to the client. */
static void ds_move_counts(struct ds_bts_cpu *c, struct ds_bts_batch *batch)
{
	batch->own = c->strays;
	batch->discarded = c->discarded;
	c->strays = 0;
	c->discarded = 0;
}

/*
 * Hand over the records and empty the buffer. If this drain is in an NMI whose entry code switched
 * BTS off, @ip is the address that the NMI interrupted. Otherwise, @ip is DS_NOWHERE. If BTS was
 * already off before this drain, branches were lost (@cleared). But if an NMI interrupted code in
 * .text..ds, only own branches were lost. The run time is bounded by the size of the buffer.
 * Context: @busy is set.
 */
VISIBLE_IF_KUNIT void ds_hand_over(struct ds_bts_cpu *c, enum ds_drain_cause cause,
				   unsigned long ip)
{
	struct ds_bts_batch batch = { .cause = cause };

	ds_move_counts(c, &batch);
	batch.cleared = (c->debugctl & DS_CTL_MASK) != c->ctl &&
			!c->interrupted && !ds_in_section(ip);
	ds_slice(c, &batch);
	if (ip == DS_NOWHERE && ds_over(c->ds))
		ds_expect_pmi(c, batch.full);
	if ((c->ctl & DEBUGCTLMSR_BTS_OFF_OS) && !(c->traits & DS_TRAIT_CPL))
		c->traits |= ds_cpl_trait(&batch);
	ds_cut_own(&batch, c, ip);
	c->back = DS_NOWHERE;
	if (cause == DS_DRAIN_INTERRUPT)
		c->idle_pmis = ds_bts_nr(&batch) ? 0 : c->idle_pmis + 1;
	batch.stopped = c->idle_pmis >= DS_IDLE_PMIS;
	static_call_cond(ds_client_records)(&batch);

	ds_empty(c);
	/*
	 * At each of the last DS_IDLE_PMIS interrupts, the buffer contained no records of traced
	 * code. So the interrupts leave traced code no time to run. Stop recording.
	 */
	if (batch.stopped) {
		WRITE_ONCE(c->ctl, 0);
		pr_warn("CPU %d: recording stops, because BTS interrupts take all the CPU time\n",
			raw_smp_processor_id());
	}
}

/**
 * ds_bts_drain - hand over this CPU's records
 * @cause: why the buffer is drained. If @cause is DS_DRAIN_FLUSH, this function calls records()
 *	   even if this CPU is not recording
 *
 * Context: Between ds_bts_off() and ds_bts_on(). This function calls the client's records().
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
	/* In a flush, report no counts, because the client may not be ready for counts yet. */
	if (cause != DS_DRAIN_FLUSH)
		ds_move_counts(c, &none);
	if (cause == DS_DRAIN_FLUSH || none.own || none.discarded)
		static_call_cond(ds_client_records)(&none);
}

/**
 * ds_bts_ask - ask the client what to record of a task
 * @task: the current or the next task
 *
 * Nothing is recorded if this CPU's BTS is not used, or if recording has stopped (DS_IDLE_PMIS).
 *
 * Context: The same as for ds_bts_drain(), but not in an NMI. Call ds_bts_drain() first. This
 * function calls the client's turn().
 */
void ds_bts_ask(struct task_struct *task)
{
	u64 ctl = ds_ctl(static_call(ds_client_turn)(task), boot_cpu_has(X86_FEATURE_DSCPL));
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	const u64 size = sizeof(struct ds_bts_record);
	struct debug_store *ds = c->ds;

	lockdep_assert_irqs_disabled();
	/* If an NMI ended while nothing was recorded, do not search the next batch for its exit. */
	c->back = DS_NOWHERE;
	if (!ds)
		return;
	WRITE_ONCE(c->ctl, c->idle_pmis < DS_IDLE_PMIS ? ctl : 0);
	/* If the CPU must not raise interrupts, put the threshold beyond the maximum. */
	WRITE_ONCE(ds->bts_interrupt_threshold, ctl & DEBUGCTLMSR_BTINT ?
		   ds->bts_buffer_base + size * ds_bts_get_threshold() :
		   ds->bts_absolute_maximum + size);
}

/*
 * Handle the PMI, which is one of several sources of NMIs. A CPU raises the PMI only while it
 * stores branches, either for this driver or because something else has set TR. Usually, this
 * function drains the buffer, but another drain may come first. If the PMI comes during the other
 * drain, this function sets @pmi to DS_PMI_SEEN, and the other drain clears @pmi. If the PMI comes
 * later, the other drain has already set @pmi to DS_PMI_DUE, and this function clears @pmi. If
 * @busy is 0, ds_bts_nmi_enter() found the index below the threshold and left BTS on. Since then,
 * the branches of this NMI may have raised the index to the threshold. If PMIs were masked at that
 * time, no PMI will come. So drain here if the index has reached the threshold.
 * Context: NMI, after perf's handler, which has unmasked the PMI.
 */
int ds_bts_nmi(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_job job = { DS_DRAIN_INTERRUPT };
	bool stores = c->ctl || (c->busy && (c->debugctl & DEBUGCTLMSR_TR));
	bool over = c->ds && stores && ds_over(c->ds);
	bool due = !READ_ONCE(c->crash_nmi) && READ_ONCE(c->pmi) == DS_PMI_DUE;

	if (!c->busy) {
		if (over)
			ds_run(&job);
		return NMI_DONE;
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
	return over || due ? NMI_HANDLED : NMI_DONE;
}

/*
 * Claim the NMI by which a crashing CPU makes this CPU drain. If another NMI comes first, this CPU
 * already drains in the other NMI. The driver cannot tell the two NMIs apart, so claim only an NMI
 * that no other handler has claimed. Context: NMI.
 */
int ds_bts_unknown_nmi(unsigned int type, struct pt_regs *regs)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	return xchg(&c->crash_nmi, false) ? NMI_HANDLED : NMI_DONE;
}

/**
 * ds_bts_emergency_stop - switch BTS off on this CPU before a crash kernel starts
 *
 * A crash kernel may start without an oops or a panic, for example after an NMI on a UV system. The
 * first page tables of a crash kernel do not map the DS area, so BTS must be off.
 *
 * Context: Any, with interrupts off. This CPU never resumes the interrupted code.
 */
void ds_bts_emergency_stop(void)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	/* From now on, no NMI may switch BTS on when it returns. */
	WRITE_ONCE(c->ctl, 0);
	if (c->ds)
		ds_switch_off();
}

/* --- The probe: does the hardware work as documented? ------------------------------ */

/* A try may fail because of an unrelated NMI or an incorrect record (erratum AAJ122). */
#define DS_PROBE_TRIES		8
/* ds_probe_loop() takes at most this many branches. The buffer has room for twice as many. */
#define DS_PROBE_BRANCHES	1024
#define DS_PROBE_THRESHOLD	4
#define DS_PROBE_LATE		64

/*
 * Take a known branch @branches times, or until a PMI comes. While BTS is on, only NMIs take
 * other branches. Return: true if the buffer contains exactly one record, and this record shows
 * the known branch.
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

/*
 * Discard the probe's records. The CPU may still store records during the first few branches after
 * TR is cleared, so take DS_PROBE_LATE branches before discarding.
 */
static void ds_settle(struct ds_bts_cpu *c)
{
	unsigned int i;

	for (i = 0; i < DS_PROBE_LATE; i++)
		barrier();
	c->end = c->ds->bts_buffer_base;
	ds_empty(c);
}

/* Test that a branch is stored exactly once, and that reaching the threshold raises a PMI. */
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
 * ds_probe - test this CPU's BTS
 * @c: the CPU's state
 *
 * Context: On the CPU of @c, which is online. @busy is set, and the NMI handler is registered.
 * Return: DS_FAULT_*. If this is DS_FAULT_NONE, the driver uses this CPU's BTS until it calls
 * ds_put_back().
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
	/* Set @ds and @ctl, so that ds_bts_nmi() treats the probe like a drain. */
	WRITE_ONCE(c->ds, ds);
	c->end = ds->bts_buffer_base;
	ds_empty(c);
	WRITE_ONCE(c->ctl, DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT);
	apic_write(APIC_LVTPC, APIC_DM_NMI);
	for (i = 0; fault && i < DS_PROBE_TRIES; i++)
		fault = ds_try(c);
	ds_settle(c);
	WRITE_ONCE(c->ctl, 0);
	if (fault)
		ds_put_back(c);
	return fault;
}

/**
 * ds_put_back - restore perf's BTS settings on this CPU
 * @c: the CPU's state
 *
 * Once this function has returned, perf may free the buffer. So this function clears TR even if
 * something other than this driver, for example a hypervisor, has set TR again.
 *
 * Context: On the CPU of @c. @c->busy is set.
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
	/* The APIC masks LVTPC at each PMI. During a microcode update, no handler unmasks LVTPC. */
	ds_unmask_pmi();
}
