// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: claim it from perf, and follow the lives of CPUs
 *
 * perf owns the Debug Store (DS): the DS area, of which PEBS uses the other half,
 * the counters, and the PMI's vector. A claim asks perf for the BTS half
 * (intel_ds_claim_bts()); perf and this driver then refuse each other with -EBUSY.
 * perf allocates the buffer, maps it in the cpu_entry_area, where it is present in
 * the user page tables of KPTI as well, and writes MSR_IA32_DS_AREA, also for CPUs
 * that come online later. A claim counts as an active event, so that perf's PMI
 * handler goes on to unmask the PMI's entry of the local APIC.
 *
 *	claim    ds_cpu_online() on each CPU
 *	hotplug  perf sets DS_AREA ... ds_cpu_online(): probe, start
 *	         ds_cpu_dying(): stop -> perf clears DS_AREA
 *	sleep    the same two, on the last CPU
 *	crash    ds_bts_crash(): all CPUs, by NMI on the others
 *	release  ds_cpu_dying() on each CPU, then give BTS back
 *
 * How a CPU records and drains is in ds_cpu.c.
 *
 * Concurrency. Claim, release and the threshold are serialized by ds_bts_mutex. A CPU
 * leaves in the STARTING section of CPU hotplug, after its last task, with interrupts
 * off. It joins in the ONLINE section, before its first task: a CPU throws NMIs away
 * until it is in cpu_online_mask, so its interrupt cannot be probed earlier.
 */

#define pr_fmt(fmt) "x86/ds: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/nmi.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>

#include <asm/apic.h>
#include <asm/cpu_device_id.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>

#include "ds_internal.h"

/*
 * Records per interrupt, unless the user sets another number. The handler's time is
 * this many times what the tracer takes for a record. The more, the less an
 * interrupt costs the program, and the longer perf's interrupts wait: with 256
 * perf loses one sample of a hundred, with 512 four. What remains of perf's 2730
 * records is the room where branches go on arriving until BTS is off.
 */
#define DS_BTS_THRESHOLD	256

/* Written under ds_bts_mutex, read by ds_bts_ask(). */
unsigned int ds_bts_threshold = DS_BTS_THRESHOLD;

static DEFINE_MUTEX(ds_bts_mutex);
static bool ds_bts_claimed;
static enum cpuhp_state ds_online_state;

/* --- Asking the CPUs ---------------------------------------------------------------- */

/* A CPU that has stopped gets another chance. Context: this CPU, BTS off. */
static void ds_ask(struct ds_bts_cpu *c)
{
	c->idle_pmis = 0;
	ds_bts_ask(current);
}

/**
 * ds_bts_update_all - have every CPU ask the tracer anew what to record
 * @cause:	why the buffers are drained on the way
 *
 * When this returns, each CPU has handed over what it had recorded and records
 * what bts_turn() says, or nothing.
 *
 * Context: Process context, interrupts on. BTS is claimed.
 */
void ds_bts_update_all(enum ds_drain_cause cause)
{
	struct ds_job job = { cause, ds_ask };

	on_each_cpu(ds_run, &job, true);
}

/* perf's buffers stay while BTS is claimed, and so does @ds. */
static bool ds_must_flush(int cpu, void *unused)
{
	struct debug_store *ds = READ_ONCE(per_cpu(ds_bts_cpu, cpu).ds);

	return bts_pending(cpu) || (ds && ds_bts_running(cpu) && ds_has_records(ds));
}

/**
 * ds_bts_flush_all - have the CPUs hand over what they have recorded so far
 *
 * CPUs that have nothing are not disturbed.
 *
 * Context: Process context, interrupts on. BTS is claimed.
 */
void ds_bts_flush_all(void)
{
	struct ds_job job = { DS_DRAIN_FLUSH };

	on_each_cpu_cond(ds_must_flush, ds_run, &job, true);
}

/* --- Crash -------------------------------------------------------------------------- */

/* How long a crash waits for the other CPUs' records, in ms. */
#define DS_CRASH_WAIT_MS	10

/**
 * ds_bts_crash - the kernel oopses or panics: drain everything and stop
 *
 * A CPU that crashed in the midst of a drain keeps its records. Nothing is recorded
 * any more until bts_turn() is called again. Two CPUs may crash at once, and then ask
 * each other. One that does not answer in time still will, with the next NMI it takes.
 *
 * Context: Interrupts off; any, NMI and a stack overflow's exception among them. No
 * lock, no allocation; waits up to 10 ms for the others. BTS is claimed.
 */
void ds_bts_crash(void)
{
	struct ds_job job = { DS_DRAIN_CRASH };
	unsigned int ms = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		struct ds_bts_cpu *c = per_cpu_ptr(&ds_bts_cpu, cpu);

		if (cpu != smp_processor_id())
			WRITE_ONCE(c->pmi, DS_PMI_DUE);
		WRITE_ONCE(c->crash, true);
	}
	ds_run(&job);
	apic_send_IPI_allbutself(NMI_VECTOR);
	for_each_online_cpu(cpu) {
		/* Pairs with ds_bts_on(): the CPU has written its records. */
		while (smp_load_acquire(&per_cpu(ds_bts_cpu, cpu).crash) &&
		       ms++ < DS_CRASH_WAIT_MS)
			mdelay(1);
	}
}

/* --- Lives of CPUs ------------------------------------------------------------------ */

static const char * const ds_faults[] = {
	[DS_FAULT_NO_AREA]	= "it has no DS area",
	[DS_FAULT_REFUSED]	= "DEBUGCTL refuses BTS",
	[DS_FAULT_NO_RECORD]	= "a branch is not stored",
	[DS_FAULT_NO_INTERRUPT]	= "there is no interrupt at the threshold",
};

/* A CPU that comes online and fails is left out: a row of its trace says so. */
static void ds_start(struct ds_bts_cpu *c)
{
	struct ds_bts_batch batch = { .cause = DS_DRAIN_FLUSH, .dead = true };

	c->fault = ds_probe(c);
	if (!c->fault) {
		ds_ask(c);
		return;
	}
	if (!READ_ONCE(ds_bts_claimed))
		return;
	pr_warn("CPU %d: %s, its branches are not recorded\n", smp_processor_id(),
		ds_faults[c->fault]);
	bts_records(&batch);
}

/*
 * A CPU that fails makes the claim fail. One that was to go offline, and stays, comes
 * here as well. Context: hotplug's ONLINE section, on @cpu.
 */
static int ds_cpu_online(unsigned int cpu)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);
	struct ds_job job = { DS_DRAIN_FLUSH, ds_start };
	unsigned long flags;

	if (c->ds)
		return 0;
	local_irq_save(flags);
	ds_run(&job);
	local_irq_restore(flags);
	return c->fault && !READ_ONCE(ds_bts_claimed) ? -EIO : 0;
}

static void ds_stop(struct ds_bts_cpu *c)
{
	if (c->ds)
		ds_put_back(c);
}

/* Context: hotplug's STARTING section, interrupts off, on @cpu. */
static int ds_cpu_dying(unsigned int cpu)
{
	struct ds_job job = { DS_DRAIN_OFFLINE, ds_stop };

	ds_run(&job);
	return 0;
}

/* The CPU forgets DEBUGCTL. Context: the last CPU, interrupts off. */
static int ds_suspend(void *unused)
{
	return ds_cpu_dying(smp_processor_id());
}

/* perf has restored DS_AREA. Context: as ds_suspend(). */
static void ds_resume(void *unused)
{
	ds_cpu_online(smp_processor_id());
}

/* The next kernel has something else where the buffers are. Context: interrupts on. */
static void ds_shutdown(void *unused)
{
	struct ds_job job = { DS_DRAIN_OFFLINE, ds_stop };

	on_each_cpu(ds_run, &job, true);
}

static const struct syscore_ops ds_syscore_ops = {
	.suspend	= ds_suspend,
	.resume		= ds_resume,
	.shutdown	= ds_shutdown,
};

static struct syscore ds_syscore = {
	.ops = &ds_syscore_ops,
};

/* --- Claim and release -------------------------------------------------------------- */

/* AAJ122, and its like on the models that follow. */
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

/* Context: process context, ds_bts_mutex held; the NMI handler is registered. */
static int ds_start_cpus(int *cpu, enum ds_fault *fault)
{
	int i, ret;

	guard(cpus_read_lock)();

	ret = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_X86_DS_STARTING,
						   "x86/ds:starting", NULL, ds_cpu_dying);
	if (ret)
		return ret;
	ret = cpuhp_setup_state_cpuslocked(CPUHP_AP_ONLINE_DYN, "x86/ds:online",
					   ds_cpu_online, NULL);
	if (ret >= 0) {
		ds_online_state = ret;
		WRITE_ONCE(ds_bts_claimed, true);
		return 0;
	}
	for_each_online_cpu(i) {
		*fault = per_cpu(ds_bts_cpu, i).fault;
		*cpu = i;
		if (*fault)
			break;
	}
	__cpuhp_remove_state_cpuslocked(CPUHP_AP_X86_DS_STARTING, true);
	return ret;
}

/**
 * ds_bts_set_threshold - how many records are there to be for an interrupt?
 * @records:	DS_BTS_MIN_THRESHOLD to DS_BTS_MAX_THRESHOLD; also for later claims
 *
 * Context: Process context, may sleep.
 * Return: 0, or -EINVAL.
 */
int ds_bts_set_threshold(unsigned int records)
{
	if (records < DS_BTS_MIN_THRESHOLD || records > DS_BTS_MAX_THRESHOLD)
		return -EINVAL;

	guard(mutex)(&ds_bts_mutex);

	WRITE_ONCE(ds_bts_threshold, records);
	if (ds_bts_claimed)
		ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;
}

/* Can ds_bts_claim() succeed? Context: any, after early_initcall(). */
bool ds_bts_available(void)
{
	return intel_ds_has_bts();
}

/**
 * ds_bts_claim - take BTS on all CPUs, those that come online later included
 * @cpu:	with -EIO, a CPU that failed,
 * @fault:	and how
 *
 * Each CPU is probed: a known branch must give just its record, and crossing the
 * threshold an interrupt. A CPU that comes online later and fails is left out, with
 * a warning and a batch that is @dead. Nothing is recorded before the first switch
 * to a task, or ds_bts_update_all().
 *
 * Context: Process context, may sleep.
 * Return: 0; -EBUSY if BTS is claimed, or perf has BTS or LBR events; -ENODEV if
 * there is no BTS; -ENOMEM if perf could not allocate the buffers; -EIO if a CPU
 * failed. On error nothing is left on.
 */
int ds_bts_claim(int *cpu, enum ds_fault *fault)
{
	int ret;

	if (!ds_bts_available())
		return -ENODEV;

	guard(mutex)(&ds_bts_mutex);

	if (ds_bts_claimed)
		return -EBUSY;
	ret = intel_ds_claim_bts();
	if (ret)
		return ret;
	ret = register_nmi_handler(NMI_LOCAL, ds_bts_nmi, 0, "bts");
	if (ret)
		goto err_claim;
	static_branch_enable(&ds_bts_key);
	ret = ds_start_cpus(cpu, fault);
	if (ret)
		goto err_handler;

	register_syscore(&ds_syscore);
	if (x86_match_cpu(ds_erratum_aaj122))
		pr_info_once("erratum AAJ122: the first branch after a change of the power state may have a wrong origin\n");
	return 0;

err_handler:
	static_branch_disable(&ds_bts_key);
	unregister_nmi_handler(NMI_LOCAL, "bts");
err_claim:
	intel_ds_release_bts();
	return ret;
}

/**
 * ds_bts_release - stop BTS on all CPUs and give it back to perf
 *
 * What the CPUs have recorded is handed over first.
 *
 * Context: Process context, may sleep. The tracer calls ds_bts_off() no more.
 */
void ds_bts_release(void)
{
	guard(mutex)(&ds_bts_mutex);

	unregister_syscore(&ds_syscore);
	cpuhp_remove_state_nocalls(ds_online_state);
	cpuhp_remove_state(CPUHP_AP_X86_DS_STARTING);
	static_branch_disable(&ds_bts_key);
	unregister_nmi_handler(NMI_LOCAL, "bts");
	WRITE_ONCE(ds_bts_claimed, false);
	intel_ds_release_bts();
}
