// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the CPU's x-bts properties. Where Intel's manual leaves a behaviour open, the emulator's
 * default is the behaviour that is easiest for software, and a property selects another behaviour.
 * The image's command line names the properties that this CPU has. If a property is not named, the
 * same tests expect the default behaviour.
 *
 * With x-bts-tail=N, the CPU stores N more records each time that BTS is switched off.
 */
#include "bare.h"

#define TAIL		3	/* the value of x-bts-tail in machine/baremetal/run */
#define BUFFER		200
#define THRESHOLD	100

extern char tail_branch[], tail_jumps[];
extern char hlt_next[], mwait_next[], pause_branch[], smi_branch[], mce_entry[];
extern u32 mce_debugctl, mce_count;
void tail_body(u64 debugctl);
void tail_settle(void);
void index_body(u64 debugctl, u64 *index, u64 value);
void hlt_body(u64 debugctl);
void mwait_body(u64 debugctl);
void pause_body(u64 debugctl);
void smi_body(u64 debugctl);

static u8 user_stack[4096] __attribute__((aligned(16)));

static u32 tail(void)
{
	return option("tail") ? TAIL : 0;
}

/* Report whether CPU 0 stores no records. If so, most tests must be skipped. */
static bool nothing_stored(void)
{
	return option("unavail") || (option("dead-store") && !option("dead-cpu1"));
}

#define NO_STORE	"nothing is stored"

/* ---- x-bts-tail ---- */

static void check_tail(u64 debugctl)
{
	struct branch expect[1 + TAIL_JUMPS];
	u32 i, n = 1 + tail();

	expect[0].from = (u64)tail_branch;
	expect[0].to = (u64)tail_branch + 2;
	for (i = 1; i < n; i++) {
		expect[i].from = (u64)tail_jumps + 2 * (i - 1);
		expect[i].to = (u64)tail_jumps + 2 * i;
	}
	ds_default();
	tail_body(debugctl);
	compare(expect, n, records, ds_count(&ds0));
}

TEST_ALONE(tail, "only-property", "x-bts-tail=N stores N branches after the switch-off")
{
	if (nothing_stored())
		return NO_STORE;
	CHECK(!rdmsr(IA32_DEBUGCTL), "%lx", rdmsr(IA32_DEBUGCTL));
	check_tail(TR_BTS);
	check_tail(TR_BTS);
	if (have_ds_cpl)
		check_tail(TR_BTS | DEBUGCTL_BTS_OFF_USR);
	return NULL;
}

TEST_ALONE(tail_filtered, "only-property", "x-bts-tail also counts branches that BTS_OFF_OS drops")
{
	if (!have_ds_cpl)
		return "no ds_cpl";
	ds_default();
	tail_body(TR_BTS | DEBUGCTL_BTS_OFF_OS);
	run_debugctl = 0;
	run_user((u64)user_loop, (u64)user_stack + sizeof(user_stack), 2);
	run_rsp = 0;
	CHECK(!ds_count(&ds0), "%lu records", ds_count(&ds0));
	return NULL;
}

/* ---- x-bts-index-cached ---- */

TEST_ALONE(index, "only-property", "BTS uses a new index at once, unless x-bts-index-cached is set")
{
	u64 start = option("index-cached") ? 5 : 0;
	u64 wanted = option("index-cached") ? start + 2 : 1;

	if (nothing_stored())
		return NO_STORE;
	ds_default();
	ds0.index = ds0.base + 5 * RECORD_SIZE;
	index_body(TR_BTS, &ds0.index, ds0.base);
	CHECK(ds_count(&ds0) == wanted + tail(), "%lu records", ds_count(&ds0));
	return NULL;
}

TEST_ALONE(index_off, "only-property", "BTS uses an index that is written while BTS is off")
{
	u32 i;

	if (nothing_stored())
		return NO_STORE;
	ds_default();
	for (i = 0; i < 3; i++) {
		ds0.index = ds0.base + i * RECORD_SIZE;
		walk(5, i, TR_BTS);
		tail_settle();
		CHECK(ds_count(&ds0) == i + 5 + tail(), "%lu records",
		      ds_count(&ds0));
	}
	return NULL;
}

/* ---- x-bts-from-wrong: the first record after HLT, MWAIT or SMI has a wrong source ---- */

static u32 wrongs;		/* the number of records with a wrong source so far */

static void check_from(const char *what, const struct record *got, u64 right, u64 to)
{
	if (option("from-wrong"))
		CHECK(got->from != right && (got->from ^ right) >> 63 == (wrongs++ & 1),
		      "%s: %lx", what, got->from);
	else
		CHECK(got->from == right, "%s: %lx, not %lx", what, got->from, right);
	CHECK(got->to == to, "%s: to %lx, not %lx", what, got->to, to);
}

static void check_sleep(const char *what, void (*body)(u64), u64 next)
{
	ds_default();
	apic_ipi(0, 0x44000 | VEC_IRQ);
	fixup = next;
	body(TR_BTS);
	apic_write(APIC_EOI, 0);
	CHECK(ds_count(&ds0) == 2 + tail(), "%s: %lu records", what, ds_count(&ds0));
	check_from(what, &records[0], next, stub_table[VEC_IRQ]);
	CHECK(records[1].to == next, "%s: back to %lx", what, records[1].to);
}

TEST_ALONE(from_hlt, "only-property", "after HLT or MWAIT, x-bts-from-wrong stores a wrong source")
{
	if (nothing_stored())
		return NO_STORE;
	check_sleep("hlt", hlt_body, (u64)hlt_next);
	check_sleep("hlt again", hlt_body, (u64)hlt_next);
	/* If the machine has several CPUs, QEMU executes MWAIT as a PAUSE. */
	if (!have_ap)
		check_sleep("mwait", mwait_body, (u64)mwait_next);
	return NULL;
}

TEST_ALONE(from_pause, "only-property", "x-bts-from-wrong works even if an MWAIT does not sleep")
{
	if (nothing_stored())
		return NO_STORE;
	if (!have_ap)
		return NO_AP;
	ds_default();
	pause_body(TR_BTS);
	CHECK(ds_count(&ds0) == 4 + tail(), "%lu records", ds_count(&ds0));
	check_from("mwait", &records[2], (u64)pause_branch, (u64)pause_branch + 2);
	CHECK(records[3].from == (u64)pause_branch + 2, "then %lx", records[3].from);
	return NULL;
}

TEST_ALONE(from_smi, "only-property", "after an SMI, x-bts-from-wrong stores one wrong source")
{
	u32 smis = READ_ONCE(smm_count);

	if (nothing_stored())
		return NO_STORE;
	install_smm_handler();
	ds_default();
	smi_body(TR_BTS);
	CHECK(READ_ONCE(smm_count) == smis + 1, "%u SMIs", READ_ONCE(smm_count) - smis);
	CHECK(ds_count(&ds0) == 2 + tail(), "%lu records", ds_count(&ds0));
	check_from("smi", &records[0], (u64)smi_branch, (u64)smi_branch + 2);
	CHECK(records[1].from == (u64)smi_branch + 2, "then %lx", records[1].from);
	return NULL;
}

TEST_ALONE(from_off, "only-property", "x-bts-from-wrong has no effect if BTS is off during HLT")
{
	if (nothing_stored())
		return NO_STORE;
	ds_default();
	apic_ipi(0, 0x44000 | VEC_IRQ);
	fixup = (u64)hlt_next;
	hlt_body(0);
	apic_write(APIC_EOI, 0);
	tail_body(TR_BTS);
	CHECK(records[0].from == (u64)tail_branch, "%lx", records[0].from);
	return NULL;
}

/* ---- x-bts-dead, x-bts-unavail ---- */

static struct ds_area ds1;
static struct record records1[BUFFER];
static u64 pmis;

static u64 count_pmi(u64 debugctl, struct frame *frame __attribute__((unused)))
{
	pmis++;
	return debugctl;
}

static void walk_across(void)
{
	set_gate(VEC_NMI, (u64)pmi_entry);
	pmi_handler = count_pmi;
	pmis = 0;
	apic_write(APIC_LVT_PC, LVT_NMI);
	walk(THRESHOLD + 50, 1, TR_BTS | DEBUGCTL_BTINT);
	tail_settle();
	apic_write(APIC_LVT_PC, LVT_MASKED);
	set_gate(VEC_NMI, stub_table[VEC_NMI]);
}

/* With x-bts-tail=N, the CPU stores N more records after the PMI handler has cleared TR. */
static void check_across(const struct ds_area *ds, bool stores, bool interrupts)
{
	u64 wanted = THRESHOLD + 50 + tail();

	interrupts &= stores;
	if (interrupts)
		wanted += 2 + tail();
	CHECK(pmis == interrupts, "%lu PMIs", pmis);
	CHECK(ds_count(ds) == (stores ? wanted : 0), "%lu records", ds_count(ds));
}

TEST_ALONE(dead, "only-property", "BTS stores records and raises PMIs, unless x-bts-dead is set")
{
	bool here = !option("dead-cpu1");
	bool unavail = option("unavail");
	u64 misc = rdmsr(IA32_MISC_ENABLE);

	CHECK(!(misc & MISC_BTS_UNAVAIL) == !unavail, "%lx", misc);
	wrmsr(IA32_DEBUGCTL, TR_BTS);
	CHECK(rdmsr(IA32_DEBUGCTL) == TR_BTS, "%lx", rdmsr(IA32_DEBUGCTL));
	wrmsr(IA32_DEBUGCTL, 0);
	tail_settle();
	ds_set(&ds0, records, BUFFER, THRESHOLD);
	walk_across();
	check_across(&ds0, !(here && option("dead-store")) && !unavail,
		     !(here && option("dead-interrupt")));
	return NULL;
}

static void ap_across(void)
{
	ds_set(&ds1, records1, BUFFER, THRESHOLD);
	walk_across();
}

TEST_ALONE(dead_ap, "only-property",
	   "on CPU 1, BTS stores records and raises PMIs, unless x-bts-dead is set")
{
	if (!have_ap)
		return NO_AP;
	run_on_ap(ap_across);
	check_across(&ds1, !option("dead-store"), !option("dead-interrupt"));
	return NULL;
}

/* ---- a machine check, from the monitor ---- */

#define CR4_MCE		BIT(6)
#define VEC_MC		18
/* IA32_MCi_STATUS for a memory error, with the bits VAL, EN, ADDRV and MISCV. */
#define MCE_CORRECTED	"0x9c00000000000090"
#define MCE_RECOVERABLE	"0xbd000000000000c0"

/* Without BTINT, the buffer is circular, so it keeps the last branches before a machine check. */
static u64 debugctl_after(u64 debugctl, const char *request)
{
	ds_default();
	wrmsr(IA32_DEBUGCTL, debugctl);
	host(request);
	debugctl = rdmsr(IA32_DEBUGCTL);
	wrmsr(IA32_DEBUGCTL, 0);
	tail_settle();
	return debugctl;
}

TEST_ALONE(mce, "only-property", "a machine check clears TR, BTS and BTINT, and leaves no record")
{
	u64 on = TR_BTS | DEBUGCTL_BTINT | DEBUGCTL_LBR;
	u64 cr4, got;
	u32 i;

	if (nothing_stored())
		return NO_STORE;
	asm volatile("mov %%cr4, %0" : "=r"(cr4));
	asm volatile("mov %0, %%cr4" : : "r"(cr4 | CR4_MCE));
	set_gate(VEC_MC, (u64)mce_entry);
	got = debugctl_after(on, "hmp mce 0 9 " MCE_CORRECTED " 0 0x1000 0x8c");
	CHECK(!READ_ONCE(mce_count) && got == on, "corrected: %u #MC, %lx",
	      READ_ONCE(mce_count), got);
	got = debugctl_after(on, "hmp mce 0 9 " MCE_RECOVERABLE " 5 0x1000 0x8c");
	CHECK(READ_ONCE(mce_count) == 1, "%u #MC", READ_ONCE(mce_count));
	CHECK(READ_ONCE(mce_debugctl) == DEBUGCTL_LBR && got == DEBUGCTL_LBR,
	      "DEBUGCTL is %x in the handler, and %lx afterwards", READ_ONCE(mce_debugctl), got);
	memset(records, 0, MAX_RECORDS * RECORD_SIZE);
	debugctl_after(TR_BTS, "hmp mce 0 9 " MCE_RECOVERABLE " 5 0x1000 0x8c");
	CHECK(records[0].to, "no records");
	CHECK(READ_ONCE(mce_count) == 2, "%u #MC", READ_ONCE(mce_count));
	for (i = 0; i < MAX_RECORDS; i++)
		CHECK(records[i].to != (u64)mce_entry, "record %u is the #MC", i);
	set_gate(VEC_MC, stub_table[VEC_MC]);
	asm volatile("mov %0, %%cr4" : : "r"(cr4));
	return NULL;
}

/* ---- a CPU without a local APIC ---- */

TEST_ALONE(no_apic, "only-no-apic", "without an APIC the CPU stores beyond the threshold")
{
	ds_set(&ds0, records, BUFFER, THRESHOLD);
	walk(THRESHOLD + 50, 1, TR_BTS | DEBUGCTL_BTINT);
	CHECK(ds_count(&ds0) == THRESHOLD + 50, "%lu records", ds_count(&ds0));
	return NULL;
}
