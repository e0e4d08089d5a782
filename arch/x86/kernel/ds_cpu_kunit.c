// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the BTS driver: PMIs, NMIs and a crash, on the CPUs of this machine
 *
 * The suite is the driver's client: it claims BTS and counts the records of each CPU. Except for
 * the NMIs of ds_bts_crash(), a test sends NMIs only to the CPU on which it runs.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include <asm/apic.h>
#include <asm/msr.h>

#include "ds_internal.h"

/**
 * struct ds_test_cpu - what the client has received from a CPU
 * @records:	the number of records
 * @discarded:	the number of discarded records
 * @interrupts:	the number of batches drained by an interrupt
 * @unknown:	the number of NMIs that only ds_test_unknown() has claimed
 */
struct ds_test_cpu {
	unsigned int	records;
	unsigned int	discarded;
	unsigned int	interrupts;
	unsigned int	unknown;
};

static DEFINE_PER_CPU(struct ds_test_cpu, ds_test_cpu);

/* The client's turn() returns this value (DS_BTS_*) for each task. */
static unsigned int ds_test_mode;

static void ds_test_records(const struct ds_bts_batch *batch)
{
	struct ds_test_cpu *t = this_cpu_ptr(&ds_test_cpu);

	t->records += ds_bts_nr(batch);
	t->discarded += batch->discarded;
	t->interrupts += batch->cause == DS_DRAIN_INTERRUPT;
}

static unsigned int ds_test_turn(struct task_struct *task)
{
	return READ_ONCE(ds_test_mode);
}

static bool ds_test_pending(int cpu)
{
	return false;
}

static const struct ds_bts_ops ds_test_ops = {
	.records	= ds_test_records,
	.turn		= ds_test_turn,
	.pending	= ds_test_pending,
};

/*
 * Count an NMI that no other handler claims. This handler was registered before the driver's
 * handler, and so runs first. Do not count an NMI that the driver's handler is about to claim.
 */
static int ds_test_unknown(unsigned int type, struct pt_regs *regs)
{
	if (!this_cpu_read(ds_bts_cpu.crash_nmi))
		this_cpu_inc(ds_test_cpu.unknown);
	return NMI_HANDLED;
}

static void ds_test_want(unsigned int mode)
{
	WRITE_ONCE(ds_test_mode, mode);
	ds_bts_update_all(DS_DRAIN_FLUSH);
}

/* Imitate an NMI that came during an earlier ds_bts_release() and left @busy set. */
static void ds_test_stick(void *unused)
{
	this_cpu_write(ds_bts_cpu.busy, DS_BUSY_NMI);
}

static int ds_test_init(struct kunit *test)
{
	int cpu, ret;

	if (!ds_bts_available())
		kunit_skip(test, "no BTS");
	for_each_possible_cpu(cpu)
		per_cpu(ds_test_cpu, cpu) = (struct ds_test_cpu){ };
	WRITE_ONCE(ds_test_mode, DS_BTS_OFF);
	ret = register_nmi_handler(NMI_UNKNOWN, ds_test_unknown, 0, "bts_kunit");
	if (ret)
		return ret;
	on_each_cpu(ds_test_stick, NULL, true);
	ret = ds_bts_claim(&ds_test_ops);
	if (ret)
		unregister_nmi_handler(NMI_UNKNOWN, "bts_kunit");
	else
		test->priv = &ds_test_cpu;
	return ret;
}

static void ds_test_exit(struct kunit *test)
{
	if (!test->priv)
		return;
	ds_bts_release();
	unregister_nmi_handler(NMI_UNKNOWN, "bts_kunit");
}

/* Take at least @nr branches. The loop is in assembly, because compilers may unroll a C loop. */
static noinline void ds_test_branches(unsigned long nr)
{
	asm volatile("1: dec %0\n\t"
		     "jnz 1b"
		     : "+r" (nr) : : "cc");
}

/* If a drain finds the index at the threshold, a PMI is due, unless the PMI has already come. */
static void ds_test_pmi_due(struct kunit *test)
{
	struct ds_bts_cpu c = { };

	ds_expect_pmi(&c, false);
	KUNIT_EXPECT_EQ(test, c.pmi, DS_PMI_DUE);

	c.pmi = DS_PMI_SEEN;
	ds_expect_pmi(&c, false);
	KUNIT_EXPECT_NE(test, c.pmi, DS_PMI_DUE);
}

/*
 * If a drain finds the buffer full and PMIs masked, a PMI was lost, so the drain unmasks PMIs.
 * But if KVM has set LVTPC for a guest, the drain does not change LVTPC.
 */
static void ds_test_pmi_masked(struct kunit *test)
{
	struct ds_bts_cpu not_full = { }, full = { }, lent = { };
	u32 before, kept, unmasked, guest;
	unsigned long flags;

	local_irq_save(flags);
	before = apic_read(APIC_LVTPC);
	apic_write(APIC_LVTPC, APIC_DM_NMI | APIC_LVT_MASKED);
	ds_expect_pmi(&not_full, false);
	kept = apic_read(APIC_LVTPC);
	ds_expect_pmi(&full, true);
	unmasked = apic_read(APIC_LVTPC);
	apic_write(APIC_LVTPC, APIC_DM_FIXED | LOCAL_TIMER_VECTOR | APIC_LVT_MASKED);
	ds_expect_pmi(&lent, true);
	guest = apic_read(APIC_LVTPC);
	apic_write(APIC_LVTPC, before);
	local_irq_restore(flags);

	KUNIT_EXPECT_TRUE(test, kept & APIC_LVT_MASKED);
	KUNIT_EXPECT_EQ(test, not_full.pmi, DS_PMI_DUE);
	KUNIT_EXPECT_EQ(test, unmasked, APIC_DM_NMI);
	KUNIT_EXPECT_EQ(test, full.pmi, DS_PMI_NONE);
	KUNIT_EXPECT_EQ(test, guest, APIC_DM_FIXED | LOCAL_TIMER_VECTOR | APIC_LVT_MASKED);
}

/*
 * The records that raise a PMI may be drained before the PMI arrives. Even then, the branches of
 * the PMI's handler must not raise another PMI. So the NMI's entry code switches BTS off, and the
 * handler drains the records that the CPU has stored since the earlier drain.
 */
static void ds_test_nmi_due(struct kunit *test)
{
	struct ds_test_cpu *t, before, after;
	unsigned long flags;
	enum ds_pmi pmi;

	ds_test_want(DS_BTS_USER | DS_BTS_KERNEL);
	local_irq_save(flags);
	ds_bts_flush_cpu();
	t = this_cpu_ptr(&ds_test_cpu);
	before = *t;
	this_cpu_write(ds_bts_cpu.pmi, DS_PMI_DUE);
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
	ds_test_branches(100);
	pmi = this_cpu_read(ds_bts_cpu.pmi);
	after = *t;
	local_irq_restore(flags);
	ds_test_want(DS_BTS_OFF);

	KUNIT_EXPECT_EQ(test, pmi, DS_PMI_NONE);
	KUNIT_EXPECT_EQ(test, after.unknown, before.unknown);
	KUNIT_EXPECT_EQ(test, after.interrupts, before.interrupts + 1);
}

/* The branches of an NMI reach the threshold, but the PMI is lost: ds_bts_nmi() must drain. */
static void ds_test_nmi_other(struct kunit *test)
{
	unsigned int threshold = ds_bts_get_threshold();
	struct pt_regs regs = { };
	struct ds_test_cpu *t;
	unsigned long flags;
	unsigned int found;
	u32 lvtpc;

	ds_test_want(DS_BTS_USER | DS_BTS_KERNEL);
	local_irq_save(flags);
	ds_bts_flush_cpu();
	t = this_cpu_ptr(&ds_test_cpu);
	found = t->records;
	lvtpc = apic_read(APIC_LVTPC);
	apic_write(APIC_LVTPC, APIC_DM_NMI | APIC_LVT_MASKED);
	ds_test_branches(threshold);
	ds_bts_nmi(NMI_LOCAL, &regs);
	found = t->records - found;
	/* The drain expects the PMI, but the PMI is masked and does not come, so clear @pmi. */
	this_cpu_write(ds_bts_cpu.pmi, DS_PMI_NONE);
	apic_write(APIC_LVTPC, lvtpc);
	local_irq_restore(flags);
	ds_test_want(DS_BTS_OFF);

	KUNIT_EXPECT_GE(test, found, threshold);
}

/*
 * After a crash has switched BTS off, something other than the driver (for example a hypervisor)
 * sets TR. The next PMI must switch BTS off, and the driver must not claim a later NMI from
 * another source.
 */
static void ds_test_nmi_foreign(struct kunit *test)
{
	const u64 bits = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT;
	unsigned int threshold = ds_bts_get_threshold();
	unsigned int pmi, foreign, discarded;
	struct ds_test_cpu *t;
	unsigned long flags;
	u64 ctl;

	ds_test_want(DS_BTS_USER | DS_BTS_KERNEL);
	local_irq_save(flags);
	ds_bts_crash();
	t = this_cpu_ptr(&ds_test_cpu);
	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, ctl | bits);
	ds_test_branches(2 * threshold);
	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	pmi = t->unknown;
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
	ds_test_branches(100);
	foreign = t->unknown - pmi;
	ds_bts_off();
	ds_bts_drain(DS_DRAIN_SWITCH);
	ds_bts_on();
	discarded = t->discarded;
	local_irq_restore(flags);
	ds_test_want(DS_BTS_OFF);

	KUNIT_EXPECT_EQ(test, ctl & bits, 0);
	KUNIT_EXPECT_EQ(test, pmi, 0);
	KUNIT_EXPECT_EQ(test, foreign, 1);
	KUNIT_EXPECT_GE(test, discarded, threshold);
}

/* After ds_test_init() has called ds_bts_claim(), each online CPU can record branches. */
static void ds_test_claim(struct kunit *test)
{
	int cpu;

	ds_test_want(DS_BTS_USER | DS_BTS_KERNEL);
	ds_test_want(DS_BTS_OFF);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_GT(test, per_cpu(ds_test_cpu, cpu).records, 0);
}

/* Set @over to false, and keep this CPU in a drain until the test sets @over to true. */
static void ds_test_hold(void *over)
{
	ds_bts_off();
	WRITE_ONCE(*(bool *)over, false);
	while (!READ_ONCE(*(bool *)over))
		cpu_relax();
	ds_bts_on();
}

/* ds_bts_crash() waits 10 ms in total, even if two CPUs are in a drain and do not respond. */
static void ds_test_crash(struct kunit *test)
{
	unsigned long flags;
	bool over = true;
	u64 waited;
	int other;

	if (num_online_cpus() < 2)
		kunit_skip(test, "just one CPU");
	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	smp_call_function_single(other, ds_test_hold, &over, false);
	while (READ_ONCE(over))
		cpu_relax();
	local_irq_save(flags);
	ds_bts_off();
	waited = ktime_get_ns();
	ds_bts_crash();
	waited = ktime_get_ns() - waited;
	ds_bts_on();
	WRITE_ONCE(over, true);
	local_irq_restore(flags);
	migrate_enable();
	/* When this call returns, each CPU has finished its drain. */
	ds_test_want(DS_BTS_OFF);

	KUNIT_EXPECT_GT(test, waited, 5 * NSEC_PER_MSEC);
	KUNIT_EXPECT_LT(test, waited, 15 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, per_cpu(ds_test_cpu, other).unknown, 0);
}

static void ds_test_crash_there(void *unused)
{
	ds_bts_crash();
}

/*
 * While a CPU waits for a PMI, another CPU crashes and sends an NMI. The driver must not mistake
 * this NMI for the PMI, and must claim this NMI even if the waiting CPU has already drained.
 */
static void ds_test_crash_nmi(struct kunit *test)
{
	struct ds_bts_cpu *c;
	unsigned int unknown;
	enum ds_pmi pmi;
	int other;

	if (num_online_cpus() < 2)
		kunit_skip(test, "just one CPU");
	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	c = this_cpu_ptr(&ds_bts_cpu);
	WRITE_ONCE(c->pmi, DS_PMI_DUE);
	smp_call_function_single(other, ds_test_crash_there, NULL, true);
	pmi = xchg(&c->pmi, DS_PMI_NONE);

	WRITE_ONCE(c->crash_nmi, true);
	local_irq_disable();
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
	ds_test_branches(100);
	local_irq_enable();
	unknown = this_cpu_read(ds_test_cpu.unknown);
	migrate_enable();

	KUNIT_EXPECT_EQ(test, pmi, DS_PMI_DUE);
	KUNIT_EXPECT_EQ(test, unknown, 0);
}

/*
 * Another CPU crashes and sends an NMI to this CPU. Before this NMI arrives, this CPU raises a PMI.
 * The driver must claim both NMIs, but must not claim a third NMI.
 */
static void ds_test_crash_pmi(struct kunit *test)
{
	unsigned int threshold = ds_bts_get_threshold();
	unsigned int unknown, third;
	struct ds_bts_cpu *c;
	unsigned long flags;

	ds_test_want(DS_BTS_USER | DS_BTS_KERNEL);
	local_irq_save(flags);
	ds_bts_flush_cpu();
	c = this_cpu_ptr(&ds_bts_cpu);
	WRITE_ONCE(c->crash_nmi, true);
	WRITE_ONCE(c->crash, true);
	ds_test_branches(2 * threshold);
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
	ds_test_branches(100);
	unknown = this_cpu_read(ds_test_cpu.unknown);
	__apic_send_IPI(smp_processor_id(), NMI_VECTOR);
	ds_test_branches(100);
	third = this_cpu_read(ds_test_cpu.unknown);
	local_irq_restore(flags);
	ds_test_want(DS_BTS_OFF);

	KUNIT_EXPECT_FALSE(test, READ_ONCE(c->crash));
	KUNIT_EXPECT_EQ(test, unknown, 0);
	KUNIT_EXPECT_EQ(test, third, 1);
}

static struct kunit_case ds_cpu_test_cases[] = {
	KUNIT_CASE(ds_test_pmi_due),
	KUNIT_CASE(ds_test_pmi_masked),
	KUNIT_CASE(ds_test_nmi_due),
	KUNIT_CASE(ds_test_nmi_other),
	KUNIT_CASE(ds_test_claim),
	KUNIT_CASE(ds_test_nmi_foreign),
	KUNIT_CASE(ds_test_crash),
	KUNIT_CASE(ds_test_crash_nmi),
	KUNIT_CASE(ds_test_crash_pmi),
	{ }
};

static struct kunit_suite ds_cpu_test_suite = {
	.name		= "x86_ds_bts_cpu",
	.init		= ds_test_init,
	.exit		= ds_test_exit,
	.test_cases	= ds_cpu_test_cases,
};

kunit_test_suite(ds_cpu_test_suite);
