// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: claim BTS, set the threshold, flush CPUs, follow CPU hotplug
 *
 * perf owns the counters, the PMI's vector, and the Debug Store (DS) area, which BTS and PEBS
 * share. A claim borrows the BTS half of this area, and fails with -EBUSY if perf already uses
 * BTS. While BTS is claimed, perf's own BTS events fail with -EBUSY. For a claim, perf allocates
 * the buffers and maps them in the cpu_entry_area. KPTI's user page tables also map the buffers.
 * perf writes MSR_IA32_DS_AREA on each online CPU immediately, and on other CPUs when they come
 * online. Until the release, perf counts the claim as an active event, so perf's PMI handler
 * keeps unmasking the PMI in the local APIC.
 *
 * When a CPU comes online, ds_cpu_online() tests and starts BTS (in the ONLINE section of CPU
 * hotplug) before ordinary tasks run on that CPU. An earlier test would get no PMI, because a CPU
 * ignores NMIs until it is in cpu_online_mask. When a CPU goes offline, ds_cpu_dying() stops BTS
 * (in the STARTING section, with interrupts off), after the CPU's last task has run and before perf
 * clears DS_AREA. These functions also run at a claim or release of BTS, and at suspend or resume.
 */

#define pr_fmt(fmt) "x86/ds: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/nmi.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/syscore_ops.h>

#include <asm/apic.h>
#include <asm/cpu_device_id.h>
#include <asm/perf_event.h>

#include "ds_internal.h"

/*
 * The threshold, in records per interrupt. With a higher threshold, traced programs run faster, but
 * perf's interrupts are delayed longer. With 512 records per interrupt, perf loses less than one
 * sample in a thousand if it samples at 4 kHz.
 */
static unsigned int ds_threshold = 512;

/* The CPU hotplug state in the ONLINE section; 0 while BTS is not claimed. */
static int ds_online_state;

static const struct ds_bts_ops ds_no_client = {
	.turn		= (void *)__static_call_return0,
	.pending	= (void *)__static_call_return0,
};

static void ds_set_client(const struct ds_bts_ops *ops)
{
	static_call_update(ds_client_records, ops->records);
	static_call_update(ds_client_turn, ops->turn);
	static_call_update(ds_client_pending, ops->pending);
}

/* Report whether @cpu is recording. Context: any; the result may be stale. */
bool ds_bts_running(int cpu)
{
	return READ_ONCE(per_cpu(ds_bts_cpu, cpu).ctl);
}

/* Return the traits (DS_TRAIT_*) that the driver has found on @cpu so far. Context: any. */
unsigned int ds_bts_traits(int cpu)
{
	return READ_ONCE(per_cpu(ds_bts_cpu, cpu).traits);
}

/*
 * Ask the client what to record. If recording has stopped after too many PMIs without records of
 * traced code (DS_IDLE_PMIS), resume recording. Context: on the CPU of @c, BTS off.
 */
static void ds_ask(struct ds_bts_cpu *c)
{
	c->idle_pmis = 0;
	ds_bts_ask(current);
}

/* Return the reason why a CPU's BTS is unused. Context: any, after ds_bts_claim() has returned. */
enum ds_fault ds_bts_fault(int cpu)
{
	return READ_ONCE(per_cpu(ds_bts_cpu, cpu).fault);
}

/**
 * ds_bts_update_all - make every CPU ask the client again what to record
 * @cause: why each CPU drains its buffer before it asks the client
 *
 * When this function returns, each CPU has drained and called the client's turn().
 *
 * Context: Process context, interrupts on.
 */
void ds_bts_update_all(enum ds_drain_cause cause)
{
	struct ds_job job = { cause, ds_ask };

	on_each_cpu(ds_run, &job, true);
}

unsigned int ds_bts_get_threshold(void)
{
	return READ_ONCE(ds_threshold);
}

/**
 * ds_bts_set_threshold - set the number of records per interrupt
 * @records: the number of records
 *
 * Context: The same as for ds_bts_update_all().
 * Return: 0; -EINVAL if the number is too low or too high.
 */
int ds_bts_set_threshold(unsigned int records)
{
	if (records < DS_BTS_MIN_THRESHOLD || records > DS_BTS_MAX_THRESHOLD)
		return -EINVAL;
	WRITE_ONCE(ds_threshold, records);
	ds_bts_update_all(DS_DRAIN_FLUSH);
	return 0;
}

static bool ds_must_flush(int cpu, void *unused)
{
	return static_call(ds_client_pending)(cpu) || ds_bts_running(cpu);
}

/**
 * ds_bts_flush_all - pass the CPUs' records to the client
 *
 * This function flushes each CPU that is recording, and each other CPU for which the client's
 * pending() returns true.
 *
 * Context: Process context, interrupts on. BTS is claimed.
 */
void ds_bts_flush_all(void)
{
	struct ds_job job = { DS_DRAIN_FLUSH };

	on_each_cpu_cond(ds_must_flush, ds_run, &job, true);
}

/**
 * ds_bts_flush_cpu - pass this CPU's records to the client
 *
 * This function does nothing if this CPU is already in a drain. This function must not be traced,
 * because a function probe's action, for example traceoff, would call this function recursively.
 *
 * Context: Any.
 */
notrace void ds_bts_flush_cpu(void)
{
	struct ds_job job = { DS_DRAIN_FLUSH };
	unsigned long flags;

	raw_local_irq_save(flags);
	ds_run(&job);
	raw_local_irq_restore(flags);
}

/**
 * ds_bts_crash - drain every CPU and stop recording, because the kernel oopses or panics
 *
 * If this CPU was draining when it crashed, the records of this drain stay in the buffer. After
 * the crash, a CPU records nothing until ds_bts_ask() asks the client what to record. If two CPUs
 * crash at the same time, each of them requests the other CPU's records. A CPU that does not
 * respond in time still drains at its next NMI.
 *
 * Context: Interrupts off; may be an NMI or the stack overflow exception. BTS is claimed. This
 * function takes no lock, allocates nothing, and waits up to 10 ms in total for the other CPUs.
 */
void ds_bts_crash(void)
{
	struct ds_job job = { DS_DRAIN_CRASH };
	unsigned int ms = 10;
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != smp_processor_id())
			WRITE_ONCE(per_cpu(ds_bts_cpu, cpu).crash_nmi, true);
		WRITE_ONCE(per_cpu(ds_bts_cpu, cpu).crash, true);
	}
	/* The other CPUs drain while this CPU drains. */
	apic_send_IPI_allbutself(NMI_VECTOR);
	ds_run(&job);
	for_each_online_cpu(cpu) {
		/* Pairs with ds_bts_on(). A CPU delivers its records before it clears @crash. */
		for (; smp_load_acquire(&per_cpu(ds_bts_cpu, cpu).crash) && ms; ms--)
			mdelay(1);
	}
}

/* Probe this CPU. If the probe fails, notify the client and do not use this CPU's BTS. */
static void ds_start(struct ds_bts_cpu *c)
{
	WRITE_ONCE(c->fault, ds_probe(c));
	if (!c->fault) {
		ds_ask(c);
		return;
	}
	/* During a claim, ds_online_state is 0. The client reports the failure, so do not warn. */
	if (ds_online_state)
		pr_warn("CPU %d: BTS does not work, so this CPU's branches are not recorded\n",
			smp_processor_id());
	ds_bts_drain(DS_DRAIN_FLUSH);
}

/* Use BTS on @cpu, which is coming online or has failed to go offline. Context: on @cpu. */
static int ds_cpu_online(unsigned int cpu)
{
	struct ds_bts_cpu *c = per_cpu_ptr(&ds_bts_cpu, cpu);
	struct ds_job job = { DS_DRAIN_FLUSH, ds_start };

	guard(irqsave)();
	if (!c->ds) {
		/* An NMI during an earlier ds_bts_release() may have left @busy and @pmi set. */
		WRITE_ONCE(c->busy, DS_FREE);
		WRITE_ONCE(c->pmi, DS_PMI_NONE);
		ds_run(&job);
	}
	return 0;
}

static struct ds_job ds_leave = { DS_DRAIN_OFFLINE, ds_put_back };

/*
 * Give this CPU's BTS back to perf. No drain can be running on this CPU now, so if @busy is set, an
 * oops has aborted a drain. Reset @busy, because otherwise this CPU would never record again.
 * Context: this CPU, interrupts off, not in an NMI.
 */
static void ds_leave_cpu(void *unused)
{
	WRITE_ONCE(this_cpu_ptr(&ds_bts_cpu)->busy, DS_FREE);
	ds_run(&ds_leave);
}

/* Context: on @cpu, interrupts off. */
static int ds_cpu_dying(unsigned int cpu)
{
	ds_leave_cpu(NULL);
	return 0;
}

/* A suspend clears DEBUGCTL, so stop BTS first. Context: the only online CPU, interrupts off. */
static int ds_suspend(void *unused)
{
	return ds_cpu_dying(smp_processor_id());
}

/* Use BTS again after perf has restored DS_AREA. Context: the same as for ds_suspend(). */
static void ds_resume(void *unused)
{
	ds_cpu_online(smp_processor_id());
}

/* Stop BTS, because the next kernel (kexec) may reuse the buffers. Context: interrupts on. */
static void ds_shutdown(void *unused)
{
	on_each_cpu(ds_leave_cpu, NULL, true);
}

static const struct syscore_ops ds_syscore_ops = {
	.suspend	= ds_suspend,
	.resume		= ds_resume,
	.shutdown	= ds_shutdown,
};

static struct syscore ds_syscore = {
	.ops = &ds_syscore_ops,
};

/* Models with erratum AAJ122, or with the same erratum under another name. */
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

static void ds_stop_all(void)
{
	cpuhp_remove_state_nocalls(ds_online_state);
	cpuhp_remove_state(CPUHP_AP_X86_DS_DYING);
	ds_online_state = 0;
}

/* Return: 0, -EIO if no CPU's BTS works, or another error. On error, BTS is off on all CPUs. */
static int ds_start_all(void)
{
	int cpu, ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_AP_X86_DS_DYING, "x86/ds:dying", NULL,
					ds_cpu_dying);
	if (ret)
		return ret;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "x86/ds:online", ds_cpu_online, NULL);
	if (ret < 0) {
		cpuhp_remove_state(CPUHP_AP_X86_DS_DYING);
		return ret;
	}
	ds_online_state = ret;
	for_each_online_cpu(cpu) {
		if (READ_ONCE(per_cpu(ds_bts_cpu, cpu).ds))
			return 0;
	}
	ds_stop_all();
	return -EIO;
}

/* Report whether ds_bts_claim() can succeed. Context: any, after early_initcall(). */
bool ds_bts_available(void)
{
	return intel_ds_has_bts();
}

/**
 * ds_bts_claim - claim BTS on all CPUs, including CPUs that come online later
 * @ops: the client
 *
 * Each online CPU probes its BTS immediately, and other CPUs probe their BTS when they come
 * online. If the probe succeeds, the CPU calls the client's turn() to ask what to record. If the
 * probe fails, the driver does not use BTS on that CPU, and ds_bts_fault() returns the reason. Each
 * flush of that CPU then calls the client's records() with an empty batch whose @dead is true.
 *
 * Context: Process context, may sleep; not concurrently with another claim or release.
 * Return: 0; -EBUSY if perf uses BTS, LBR or, on some CPUs, Intel PT; -ENODEV if there is no
 * BTS; -ENOMEM if perf cannot allocate the buffers; -EIO if no CPU's BTS works; or another
 * error. On error, BTS is off on all CPUs.
 */
int ds_bts_claim(const struct ds_bts_ops *ops)
{
	int ret;

	ret = intel_ds_claim_bts();
	if (ret)
		return ret;
	ds_set_client(ops);
	ret = register_nmi_handler(NMI_LOCAL, ds_bts_nmi, 0, "bts");
	if (ret)
		goto err_claim;
	ret = register_nmi_handler(NMI_UNKNOWN, ds_bts_unknown_nmi, 0, "bts");
	if (ret)
		goto err_local;
	static_branch_enable(&ds_bts_key);
	ret = ds_start_all();
	if (ret)
		goto err_handler;

	register_syscore(&ds_syscore);
	if (x86_match_cpu(ds_erratum_aaj122))
		pr_info_once("erratum AAJ122: the first branch after a change of the power state may have a wrong origin\n");
	/* The page tables of every process map the buffers, with or without KPTI. */
	if (boot_cpu_has_bug(X86_BUG_CPU_MELTDOWN))
		pr_warn_once("this CPU has Meltdown, so any process can read the branches in the buffers\n");
	return 0;

err_handler:
	static_branch_disable(&ds_bts_key);
	unregister_nmi_handler(NMI_UNKNOWN, "bts");
err_local:
	unregister_nmi_handler(NMI_LOCAL, "bts");
err_claim:
	ds_set_client(&ds_no_client);
	intel_ds_release_bts();
	return ret;
}

/**
 * ds_bts_release - stop BTS on all CPUs and give BTS back to perf
 *
 * Each CPU hands over its records before it stops.
 *
 * Context: Process context, may sleep. The client must no longer call ds_bts_off().
 */
void ds_bts_release(void)
{
	unregister_syscore(&ds_syscore);
	ds_stop_all();
	static_branch_disable(&ds_bts_key);
	unregister_nmi_handler(NMI_UNKNOWN, "bts");
	unregister_nmi_handler(NMI_LOCAL, "bts");
	ds_set_client(&ds_no_client);
	intel_ds_release_bts();
}
