// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the time of fib() without a trace, with a circular buffer, and with threshold PMIs. Check
 * that the CPU has stored each branch. From these times, the script machine/bench/store computes
 * the cost of storing a record.
 */
#include "bare.h"

#define FIB_N		27
#define FIB_LEAVES	317811UL		/* F(FIB_N + 1) */
#define FIB_CALLS	(2 * FIB_LEAVES - 1)
/* Each call of fib() takes two branches: call and ret. fib(0) and fib(1) also take a jump. */
#define FIB_RECORDS	(2 * FIB_CALLS + FIB_LEAVES)
#define THRESHOLD	1000
#define ROUNDS		30

static u64 drained, pmis;

static u64 drain_pmi(u64 debugctl, struct frame *frame __attribute__((unused)))
{
	drained += ds_count(&ds0);
	ds0.index = ds0.base;
	pmis++;
	apic_write(APIC_LVT_PC, LVT_NMI);
	return debugctl;
}

/* Keep the shortest time in *least, because other work on the host slows some runs down. */
static void time_fib(u64 debugctl, u64 *least)
{
	u64 start = rdtsc();

	wrmsr(IA32_DEBUGCTL, debugctl);
	fib(FIB_N);
	wrmsr(IA32_DEBUGCTL, 0);
	start = rdtsc() - start;
	if (!*least || start < *least)
		*least = start;
}

TEST_ALONE(cost, "only-cost", "the CPU stores every branch of fib(), with and without PMIs")
{
	u64 untraced = 0, circular = 0, btint = 0;
	u64 stored;
	u32 i;

	set_gate(VEC_NMI, (u64)pmi_entry);
	pmi_handler = drain_pmi;
	apic_write(APIC_LVT_PC, LVT_NMI);
	for (i = 0; i < ROUNDS && !failed; i++) {
		time_fib(0, &untraced);

		stored = info_bts(0, "stored");
		ds_default();
		time_fib(TR_BTS, &circular);
		stored = info_bts(0, "stored") - stored;
		CHECK(stored == FIB_RECORDS, "%lu records, circular", stored);
		CHECK(ds_count(&ds0) == FIB_RECORDS % MAX_RECORDS, "index at %lu",
		      ds_count(&ds0));

		drained = 0;
		pmis = 0;
		ds_set(&ds0, records, MAX_RECORDS, THRESHOLD);
		time_fib(TR_BTS | DEBUGCTL_BTINT, &btint);
		drained += ds_count(&ds0);
		/* Each PMI adds two records: its delivery and its return. */
		CHECK(drained == FIB_RECORDS + 2 * pmis, "%lu records, %lu PMIs", drained,
		      pmis);
		CHECK(pmis == FIB_RECORDS / (THRESHOLD - 1), "%lu PMIs", pmis);
	}
	print("# cycles of fib(%u): untraced %lu, circular %lu, with PMIs %lu\n", FIB_N, untraced,
	      circular, btint);
	set_gate(VEC_NMI, stub_table[VEC_NMI]);
	return NULL;
}
