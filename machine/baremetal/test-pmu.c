// SPDX-License-Identifier: GPL-2.0
/* The cycle counters, and the PMI that they share with BTS. */
#include "bare.h"

#define FIXED_CYCLES	1	/* the number of IA32_FIXED_CTR1, core cycles */
#define FIXED_ENABLE	(1UL << (32 + FIXED_CYCLES))
#define FIXED_CTRL(v)	((v) << (4 * FIXED_CYCLES))
#define COUNT_OS_USR	3
#define COUNT_PMI	8
#define EVENT_CYCLES	0x3c
#define EVENT_USR	(1 << 16)
#define EVENT_OS	(1 << 17)
#define EVENT_INT	(1 << 20)
#define EVENT_EN	(1 << 22)

#define NEED_PMU()	NEED(option("pmu"), "no PMU")

static volatile u32 pmis;
static u64 status_seen;
static u32 lvt_seen;
static bool bts_seen;

static void spin(u64 cycles)
{
	u64 start = rdtsc();

	while (rdtsc() - start < cycles)
		cpu_pause();
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

/* Notes what it finds, stops the counters, leaves the LVT entry as it is. */
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

	NEED_PMU();
	cpuid(10, &a, &b, &c, &d);
	CHECK((a & 0xff) >= 2, "eax %x", a);
	CHECK((a >> 8 & 0xff) >= 1, "eax %x", a);
	CHECK(!(b & 1), "no core cycles: ebx %x", b);
	CHECK((d & 0x1f) > FIXED_CYCLES, "edx %x", d);
	CHECK(fixed_width() >= 32, "edx %x", d);
	return NULL;
}

TEST(pmu_fixed, "the fixed cycle counter counts when it is on, and only then")
{
	u64 first, second, third;

	NEED_PMU();
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
	CHECK(first, "it stands still");
	CHECK(second > first, "%lu, then %lu", first, second);
	CHECK(second == third, "%lu when stopped, then %lu", second, third);
	pmu_off();
	return NULL;
}

TEST(pmu_rdpmc, "rdpmc reads what rdmsr reads, and #GP for no counter")
{
	u64 value;

	NEED_PMU();
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

TEST(pmu_overflow, "the fixed cycle counter overflows into a PMI")
{
	NEED_PMU();
	pmu_start(LVT_NMI);
	wrmsr(IA32_FIXED_CTR0 + FIXED_CYCLES,
	      -100000UL & ((1UL << fixed_width()) - 1));
	wrmsr(IA32_FIXED_CTR_CTRL, FIXED_CTRL(COUNT_OS_USR | COUNT_PMI));
	wrmsr(IA32_GLOBAL_CTRL, FIXED_ENABLE);
	spin(50000000);
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(status_seen == FIXED_ENABLE, "GLOBAL_STATUS %lx", status_seen);
	CHECK(lvt_seen == (LVT_MASKED | LVT_NMI), "LVT %x", lvt_seen);
	CHECK(!rdmsr(IA32_GLOBAL_STATUS), "not acknowledged: %lx",
	      rdmsr(IA32_GLOBAL_STATUS));
	pmu_off();
	return NULL;
}

TEST(pmu_general, "a general counter of cycles overflows into a PMI")
{
	NEED_PMU();
	pmu_start(LVT_NMI);
	wrmsr(IA32_PMC0, (u32)-100000);
	wrmsr(IA32_PERFEVTSEL0, EVENT_CYCLES | EVENT_OS | EVENT_USR | EVENT_INT |
	      EVENT_EN);
	wrmsr(IA32_GLOBAL_CTRL, 1);
	spin(50000000);
	CHECK(pmis == 1, "%u PMIs", pmis);
	CHECK(status_seen == 1, "GLOBAL_STATUS %lx", status_seen);
	pmu_off();
	return NULL;
}

TEST(pmu_silent, "an overflow without its PMI bit only sets the status")
{
	NEED_PMU();
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

/*
 * Both sources while the vector is held back: one interrupt, and its handler
 * has to ask both.
 */
TEST(pmu_shared, "BTS and a counter share one PMI")
{
	NEED_PMU();
	NEED_DS();
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
