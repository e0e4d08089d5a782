// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the BTS driver: PMIs, NMIs and a crash, on the CPUs of this machine
 *
 * Where a test changes the driver's state of a CPU, or the local APIC's, BTS is not
 * claimed, interrupts are off, and all is put back.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/nmi.h>
#include <linux/timekeeping.h>

#include <asm/apic.h>

#include "ds_internal.h"

/*
 * A PMI that comes after its records were drained is the driver's; one that came before
 * is not waited for.
 */
static void ds_test_pmi_due(struct kunit *test)
{
	struct ds_bts_cpu c = { };

	ds_expect_pmi(&c, false);
	KUNIT_EXPECT_EQ(test, c.pmi, DS_PMI_DUE);

	c.pmi = DS_PMI_SEEN;
	ds_expect_pmi(&c, false);
	KUNIT_EXPECT_NE(test, c.pmi, DS_PMI_DUE);
}

/* If the buffer is full and the entry masked, the PMI was lost, and no other can come. */
static void ds_test_pmi_masked(struct kunit *test)
{
	struct ds_bts_cpu not_full = { }, full = { };
	u32 before, kept, unmasked;
	unsigned long flags;

	if (!ds_bts_available())
		kunit_skip(test, "no BTS, and maybe no APIC");

	local_irq_save(flags);
	before = apic_read(APIC_LVTPC);
	apic_write(APIC_LVTPC, APIC_DM_NMI | APIC_LVT_MASKED);
	ds_expect_pmi(&not_full, false);
	kept = apic_read(APIC_LVTPC);
	ds_expect_pmi(&full, true);
	unmasked = apic_read(APIC_LVTPC);
	apic_write(APIC_LVTPC, before);
	local_irq_restore(flags);

	KUNIT_EXPECT_TRUE(test, kept & APIC_LVT_MASKED);
	KUNIT_EXPECT_EQ(test, not_full.pmi, DS_PMI_DUE);
	KUNIT_EXPECT_EQ(test, unmasked, APIC_DM_NMI);
	KUNIT_EXPECT_EQ(test, full.pmi, DS_PMI_NONE);
}

/* The branches of an NMI for records that are drained must not raise the next one. */
static void ds_test_nmi_is_ours(struct kunit *test)
{
	struct ds_bts_cpu *c, before;
	bool other, due;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(&ds_bts_cpu);
	before = *c;
	*c = (struct ds_bts_cpu){ };
	other = ds_bts_nmi_is_ours();
	c->pmi = DS_PMI_DUE;
	due = ds_bts_nmi_is_ours();
	*c = before;
	local_irq_restore(flags);

	KUNIT_EXPECT_FALSE(test, other);
	KUNIT_EXPECT_TRUE(test, due);
}

static int ds_test_swallow(unsigned int type, struct pt_regs *regs)
{
	return NMI_HANDLED;
}

/*
 * A crash waits 10 ms for all CPUs together. Two do not answer here: this one, which
 * drains, and one that takes no notice while BTS is not claimed.
 */
static void ds_test_crash(struct kunit *test)
{
	unsigned long flags;
	u64 waited;
	int cpu;

	if (!ds_bts_available() || num_online_cpus() < 2)
		kunit_skip(test, "no BTS, or just one CPU");
	KUNIT_ASSERT_EQ(test, 0, register_nmi_handler(NMI_LOCAL, ds_test_swallow, 0,
						      "bts_kunit"));
	local_irq_save(flags);
	this_cpu_write(ds_bts_cpu.busy, DS_BUSY);
	waited = ktime_get_ns();
	ds_bts_crash();
	waited = ktime_get_ns() - waited;
	this_cpu_write(ds_bts_cpu.busy, DS_FREE);
	for_each_online_cpu(cpu) {
		per_cpu(ds_bts_cpu, cpu).crash = false;
		per_cpu(ds_bts_cpu, cpu).pmi = DS_PMI_NONE;
	}
	local_irq_restore(flags);
	unregister_nmi_handler(NMI_LOCAL, "bts_kunit");

	KUNIT_EXPECT_GT(test, waited, 5 * NSEC_PER_MSEC);
	KUNIT_EXPECT_LT(test, waited, 15 * NSEC_PER_MSEC);
}

static struct kunit_case ds_cpu_test_cases[] = {
	KUNIT_CASE(ds_test_pmi_due),
	KUNIT_CASE(ds_test_pmi_masked),
	KUNIT_CASE(ds_test_nmi_is_ours),
	KUNIT_CASE(ds_test_crash),
	{ }
};

static struct kunit_suite ds_cpu_test_suite = {
	.name		= "x86_ds_bts_cpu",
	.test_cases	= ds_cpu_test_cases,
};

kunit_test_suite(ds_cpu_test_suite);
