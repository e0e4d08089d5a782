// SPDX-License-Identifier: GPL-2.0
/* Tests of the performance counters, and of the PMI that the counters share with BTS. */
#include "bare.h"

#define FIXED_CYCLES	1	/* IA32_FIXED_CTR1 counts core cycles */
#define FIXED_ENABLE	(1UL << (32 + FIXED_CYCLES))
#define FIXED_CTRL(v)	((v) << (4 * FIXED_CYCLES))
#define COUNT_OS_USR	3
#define COUNT_PMI	8
#define EVENT_CYCLES	0x3c
#define EVENT_BRANCHES	0xc4
#define EVENT_USR	BIT(16)
#define EVENT_OS	BIT(17)
#define EVENT_INT	BIT(20)
#define EVENT_EN	BIT(22)

/* The emulated PMU: the width of a counter, the clock (1 GHz), GLOBAL_CTRL after RESET */
#define COUNTER_MASK	((1UL << 48) - 1)
#define CYCLES_PER_MS	1000000
#define GLOBAL_AT_RESET	0xf

static u32 pmis;
static u64 status_seen;
static u32 lvt_seen;
static bool bts_seen;

static void spin(u64 cycles)
{
	u64 start = rdtsc();

	while (rdtsc() - start < cycles)
		cpu_pause();
}

/*
 * Wait up to 10 s for a PMI, because a busy host delays the emulator's timer. Then wait another
 * millisecond to check that no second PMI arrives.
 */
static void await_pmi(void)
{
	u64 start = rdtsc();

	while (!READ_ONCE(pmis) && rdtsc() - start < 10000UL * CYCLES_PER_MS)
		cpu_pause();
	spin(1000000);
}

static void pmu_off(void)
{
	wrmsr(IA32_GLOBAL_CTRL, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, 0);
	wrmsr(IA32_PERFEVTSEL0, 0);
	wrmsr(IA32_GLOBAL_OVF_CTRL, rdmsr(IA32_GLOBAL_STATUS));
	set_gate(VEC_NMI, stub_table[VEC_NMI]);
	set_gate(VEC_PMI, stub_table[VEC_PMI]);
}

/* Save the LVT entry and the status, stop the counters, and leave the LVT entry masked. */
static u64 count_pmi(u64 debugctl, struct frame *frame)
{
	(void)frame;
	pmis++;
	lvt_seen = apic_read(APIC_LVT_PC);
	status_seen = rdmsr(IA32_GLOBAL_STATUS);
	bts_seen = ds0.index >= ds0.threshold;
	wrmsr(IA32_GLOBAL_CTRL, 0);
	wrmsr(IA32_GLOBAL_OVF_CTRL, status_seen);
	if (!(lvt_seen & LVT_NMI))
		apic_write(APIC_EOI, 0);
	return debugctl;
}

static void pmu_start(u32 lvt)
{
	pmu_off();
	pmis = 0;
	pmi_handler = count_pmi;
	set_gate(VEC_NMI, (u64)pmi_entry);
	set_gate(VEC_PMI, (u64)pmi_entry);
	apic_write(APIC_LVT_PC, lvt);
}

static u64 fixed_width(void)
{
	u32 a, b, c, d;

	cpuid(10, &a, &b, &c, &d);
	return d >> 5 & 0xff;
}

TEST(pmu_leaf, "CPUID leaf 0xA: version 2 with cycle counters")
{
	u32 a, b, c, d;

	if (!have_pmu)
		return NO_PMU;
	cpuid(10, &a, &b, &c, &d);
	CHECK((a & 0xff) >= 2, "eax %x", a);
	CHECK((a >> 8 & 0xff) >= 1, "eax %x", a);
	CHECK(!(b & 1), "no core cycles: ebx %x", b);
	CHECK((d & 0x1f) > FIXED_CYCLES, "edx %x", d);
	CHECK(fixed_width() >= 32, "edx %x", d);
	return NULL;
}

TEST(pmu_at_reset, "RESET enables the general counters, and sets nothing else")
{
	u32 i;

	if (!have_pmu)
		return NO_PMU;
	CHECK(rdmsr(IA32_GLOBAL_CTRL) == GLOBAL_AT_RESET, "%lx",
	      rdmsr(IA32_GLOBAL_CTRL));
	CHECK(!rdmsr(IA32_GLOBAL_STATUS), "%lx", rdmsr(IA32_GLOBAL_STATUS));
	CHECK(!rdmsr(IA32_FIXED_CTR_CTRL), "%lx", rdmsr(IA32_FIXED_CTR_CTRL));
	for (i = 0; i < 4; i++) {
		CHECK(!rdmsr(IA32_PERFEVTSEL0 + i), "%u", i);
		CHECK(!rdmsr(IA32_PMC0 + i), "%u", i);
	}
	for (i = 0; i < 3; i++)
		CHECK(!rdmsr(IA32_FIXED_CTR0 + i), "%u", i);
	return NULL;
}

TEST(pmu_width, "a write sign-extends bit 31 in a general counter, not in a fixed counter")
{
	static const struct {
		u64 written, general, fixed;
	} cases[] = {
		{ 0x7fffffff, 0x7fffffff, 0x7fffffff },
		{ 0x80000000, 0xffff80000000, 0x80000000 },
		{ 0x100000001, 1, 0x100000001 },
		{ 0xffffffffffffffff, 0xffffffffffff, 0xffffffffffff },
		{ 0x1234000000000000, 0, 0 },
	};
	u32 i;

	if (!have_pmu)
		return NO_PMU;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		wrmsr(IA32_PMC0 + 3, cases[i].written);
		CHECK(rdmsr(IA32_PMC0 + 3) == cases[i].general, "%lx gave %lx",
		      cases[i].written, rdmsr(IA32_PMC0 + 3));
		wrmsr(IA32_FIXED_CTR0 + 2, cases[i].written);
		CHECK(rdmsr(IA32_FIXED_CTR0 + 2) == cases[i].fixed, "%lx gave %lx",
		      cases[i].written, rdmsr(IA32_FIXED_CTR0 + 2));
	}
	return NULL;
}

TEST(pmu_reserved, "writes to reserved bits and to the read-only status MSR raise #GP")
{
	static const struct {
		u32 msr, bit;
	} bad[] = {
		{ IA32_PERFEVTSEL0, 21 }, { IA32_PERFEVTSEL0 + 3, 32 },
		{ IA32_PERFEVTSEL0, 63 }, { IA32_FIXED_CTR_CTRL, 2 },
		{ IA32_FIXED_CTR_CTRL, 12 }, { IA32_GLOBAL_CTRL, 4 },
		{ IA32_GLOBAL_CTRL, 31 }, { IA32_GLOBAL_CTRL, 35 },
		{ IA32_GLOBAL_STATUS, 0 }, { IA32_GLOBAL_OVF_CTRL, 4 },
		{ IA32_GLOBAL_OVF_CTRL, 35 },
	};
	u64 before;
	u32 i;

	if (!have_pmu)
		return NO_PMU;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		before = rdmsr(bad[i].msr);
		CHECK(wrmsr_safe(bad[i].msr, 1UL << bad[i].bit), "%x bit %u",
		      bad[i].msr, bad[i].bit);
		CHECK(rdmsr(bad[i].msr) == before, "%x became %lx", bad[i].msr,
		      rdmsr(bad[i].msr));
	}
	return NULL;
}

TEST(pmu_fixed, "the fixed cycle counter counts only while it is on")
{
	u64 first, second, third;

	if (!have_pmu)
		return NO_PMU;
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR));
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE);
	spin(1000000);
	first = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	spin(1000000);
	wrmsr(IA32_GLOBAL_CTRL, 0);
	second = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	spin(1000000);
	third = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	CHECK(first, "the counter does not count");
	CHECK(second > first, "%lu, then %lu", first, second);
	CHECK(second == third, "%lu when stopped, then %lu", second, third);
	pmu_off();
	return NULL;
}

TEST(pmu_rdpmc, "rdpmc returns the same value as rdmsr, and raises #GP for a missing counter")
{
	u64 value;

	if (!have_pmu)
		return NO_PMU;
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES, 12345);
	CHECK(!rdpmc_safe(1 << 30 | FIXED_CYCLES, &value), "#GP");
	CHECK(value == 12345, "%lu", value);
	wrmsr(IA32_PMC0, 4321);
	CHECK(!rdpmc_safe(0, &value), "#GP");
	CHECK(value == 4321, "%lu", value);
	CHECK(rdpmc_safe(31, &value), "counter 31 was read");
	CHECK(rdpmc_safe(1 << 30 | 31, &value), "fixed counter 31 was read");
	return NULL;
}

TEST(pmu_overflow, "a fixed counter of cycles raises a PMI on overflow")
{
	if (!have_pmu)
		return NO_PMU;
	pmu_start(LVT_NMI);
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES,
	      -100000UL & ((1UL << fixed_width()) - 1));
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR | COUNT_PMI));
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE);
	await_pmi();
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(status_seen == FIXED_ENABLE, "GLOBAL_STATUS %lx", status_seen);
	CHECK(lvt_seen == (LVT_MASKED | LVT_NMI), "LVT %x", lvt_seen);
	CHECK(!rdmsr(IA32_GLOBAL_STATUS), "not acknowledged: %lx",
	      rdmsr(IA32_GLOBAL_STATUS));
	pmu_off();
	return NULL;
}

TEST(pmu_general, "a general-purpose counter of cycles raises a PMI on overflow")
{
	if (!have_pmu)
		return NO_PMU;
	pmu_start(LVT_NMI);
	wrmsr(IA32_PMC0, (u32)-100000);
	wrmsr(IA32_PERFEVTSEL0, EVENT_CYCLES | EVENT_OS | EVENT_USR | EVENT_INT |
	      EVENT_EN);
	wrmsr(IA32_GLOBAL_CTRL, 1);
	await_pmi();
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(status_seen == 1, "GLOBAL_STATUS %lx", status_seen);
	pmu_off();
	return NULL;
}

TEST(pmu_silent, "if a counter's PMI bit is clear, an overflow only sets the status bit")
{
	if (!have_pmu)
		return NO_PMU;
	pmu_start(LVT_NMI);
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES,
	      -100000UL & ((1UL << fixed_width()) - 1));
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR));
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE);
	spin(50000000);
	CHECK(!pmis, "%u PMIs", pmis);
	CHECK(rdmsr(IA32_GLOBAL_STATUS) == FIXED_ENABLE, "%lx",
	      rdmsr(IA32_GLOBAL_STATUS));
	pmu_off();
	return NULL;
}

/* Execute 1000 conditional branches. All are taken except the last. */
static void branches_1000(u64 evtsel)
{
	u64 count = 1000;

	wrmsr(IA32_PERFEVTSEL0, evtsel);
	wrmsr(IA32_GLOBAL_CTRL, 1);
	asm volatile("1: dec %0; jnz 1b" : "+r"(count));
	wrmsr(IA32_GLOBAL_CTRL, 0);
}

TEST(pmu_branches, "branches are counted exactly, at the selected CPLs")
{
	u64 evtsel = EVENT_BRANCHES | EVENT_EN;

	if (!have_pmu)
		return NO_PMU;
	pmu_off();
	wrmsr(IA32_PMC0, 0);
	branches_1000(evtsel | EVENT_OS);
	CHECK(rdmsr(IA32_PMC0) == 1000, "%lu at CPL 0", rdmsr(IA32_PMC0));
	branches_1000(evtsel | EVENT_OS | EVENT_USR);
	CHECK(rdmsr(IA32_PMC0) == 2000, "%lu at any CPL", rdmsr(IA32_PMC0));
	branches_1000(evtsel | EVENT_USR);
	CHECK(rdmsr(IA32_PMC0) == 2000, "%lu at CPL 3", rdmsr(IA32_PMC0));
	pmu_off();
	return NULL;
}

TEST(pmu_branch_pmi, "the last branch of a period raises the PMI")
{
	if (!have_pmu)
		return NO_PMU;
	pmu_start(LVT_NMI);
	wrmsr(IA32_PMC0, (u32)-1001);
	branches_1000(EVENT_BRANCHES | EVENT_EN | EVENT_INT | EVENT_OS);
	CHECK(!pmis && !rdmsr(IA32_GLOBAL_STATUS), "too early");
	wrmsr(IA32_PMC0, (u32)-1000);
	branches_1000(EVENT_BRANCHES | EVENT_EN | EVENT_INT | EVENT_OS);
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(status_seen == 1, "GLOBAL_STATUS %lx", status_seen);
	pmu_off();
	return NULL;
}

static u64 user_stack[512] PAGE_ALIGNED;

TEST(pmu_cpl, "cycles at CPL 0 and at CPL 3 add up to all cycles")
{
	const struct branch_test *test = branch_tests;
	u64 evtsel = EVENT_CYCLES | EVENT_EN;
	u64 all, os, usr;

	if (!have_pmu)
		return NO_PMU;
	while (!test->user.fn || test->flags)
		test++;
	pmu_off();
	wrmsr(IA32_PERFEVTSEL0, evtsel | EVENT_OS | EVENT_USR);
	wrmsr(IA32_PERFEVTSEL0 + 1, evtsel | EVENT_OS);
	wrmsr(IA32_PERFEVTSEL0 + 2, evtsel | EVENT_USR);
	wrmsr(IA32_PMC0, 0);
	wrmsr(IA32_PMC0 + 1, 0);
	wrmsr(IA32_PMC0 + 2, 0);
	wrmsr(IA32_GLOBAL_CTRL, 7);
	run_user(test->user.fn, (u64)(user_stack + ARRAY_SIZE(user_stack)), 2);
	wrmsr(IA32_GLOBAL_CTRL, 0);
	all = rdmsr(IA32_PMC0);
	os = rdmsr(IA32_PMC0 + 1);
	usr = rdmsr(IA32_PMC0 + 2);
	CHECK(os && usr, "%lu and %lu", os, usr);
	CHECK(os + usr == all, "%lu and %lu, but %lu", os, usr, all);
	wrmsr(IA32_PERFEVTSEL0 + 1, 0);
	wrmsr(IA32_PERFEVTSEL0 + 2, 0);
	pmu_off();
	return NULL;
}

static void timer_handler(struct frame *frame)
{
	(void)frame;
	apic_write(APIC_EOI, 0);
}

TEST(pmu_halted, "a halted CPU counts no cycles")
{
	const u32 ms = 100;
	u64 cycles;

	if (!have_pmu)
		return NO_PMU;
	pmu_off();
	handlers[VEC_IRQ] = timer_handler;
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR));
	apic_write(APIC_TIMER_DIVIDE, TIMER_DIVIDE_1);
	apic_write(APIC_LVT_TIMER, VEC_IRQ);
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE);
	apic_write(APIC_TIMER_COUNT, ms * CYCLES_PER_MS);
	asm volatile("sti; hlt; cli" : : : "memory");
	wrmsr(IA32_GLOBAL_CTRL, 0);
	apic_write(APIC_LVT_TIMER, LVT_MASKED);
	handlers[VEC_IRQ] = NULL;
	cycles = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	CHECK(cycles, "no cycles");
	CHECK(cycles < ms * CYCLES_PER_MS / 2, "%lu", cycles);
	pmu_off();
	return NULL;
}

/* Switch BTS on, so that the migration stops the machine in the middle of a trace. */
TEST_ALONE(pmu_migrate, "only-migrate", "after migration, a counter still raises a PMI on overflow")
{
	u64 before, after;

	if (!have_pmu)
		return NO_PMU;
	if (!have_ds)
		return NO_DS;
	pmu_start(LVT_NMI);
	ds_set(&ds0, records, 200, 300);
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR));
	wrmsr(IA32_PERFEVTSEL0, EVENT_CYCLES | EVENT_OS | EVENT_INT | EVENT_EN);
	wrmsr(IA32_PMC0, (u32)-1500 * CYCLES_PER_MS);
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE | 1);
	wrmsr(IA32_DEBUGCTL, TR_BTS);
	before = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	print("@migrate\n");
	while (!host_replied())
		cpu_pause();
	wrmsr(IA32_DEBUGCTL, 0);
	host(NULL);
	after = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	CHECK(after > before, "%lu, then %lu", before, after);
	while (!READ_ONCE(pmis) && after < 5000UL * CYCLES_PER_MS)
		after = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(status_seen == 1, "GLOBAL_STATUS %lx", status_seen);
	after = rdmsr(IA32_FIXED_CTR0 + FIXED_CYCLES);
	CHECK(after >= 1500UL * CYCLES_PER_MS, "after %lu cycles", after);
	pmu_off();
	return NULL;
}

/*
 * While interrupts are off, BTS and a counter raise the same vector. After interrupts are enabled,
 * only one interrupt arrives, and its handler must find both sources.
 */
TEST(pmu_shared, "BTS and a counter share one PMI")
{
	if (!have_pmu)
		return NO_PMU;
	if (!have_ds)
		return NO_DS;
	pmu_start(VEC_PMI);
	ds_set(&ds0, records, 200, 100);
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES,
	      -100000UL & ((1UL << fixed_width()) - 1));
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR | COUNT_PMI));
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE);
	walk(150, 40, TR_BTS | DEBUGCTL_BTINT);
	spin(50000000);
	CHECK(!pmis, "%u PMIs with interrupts off", pmis);
	asm volatile("sti; nop; nop; cli" : : : "memory");
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(bts_seen, "the index was %lx", ds0.index);
	CHECK(status_seen == FIXED_ENABLE, "GLOBAL_STATUS %lx", status_seen);
	pmu_off();
	return NULL;
}
