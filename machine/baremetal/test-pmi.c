// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the threshold interrupt on one and two CPUs, of traces that continue across migrations
 * and snapshots, and of INIT and RESET, which must switch BTS off.
 *
 * Each CPU has a stream, which contains the CPU's buffer. The PMI handler empties this buffer, and
 * stream_feed() compares each record with the branch that is expected next. While a CPU runs
 * walk(), only this CPU may access its stream. Afterwards, CPU 0 reads both streams.
 */
#include "bare.h"

#define BUFFER	200		/* records in a stream's buffer */
#define THRESHOLD 100

enum stream_state {
	WALKING,		/* the next record is a branch of walk() */
	IN_PMI,			/* the next record is the handler's iretq */
};

static struct stream {
	struct ds_area ds;
	struct record buffer[BUFFER];
	struct walk walk;
	enum stream_state state;
	u64 interrupted;	/* the address to which the PMI handler must return */
	u64 fed, pmis, earliest, latest;
	struct record bad;	/* the first unexpected record, whose number is bad_at */
	struct branch expected;
	u64 bad_at;
	u32 lvt;		/* the value of LVT_PC in the PMI handler */
	bool unmask;		/* the PMI handler must unmask the LVT entry */
	bool eoi;		/* the PMI is not an NMI, so the handler must write an EOI */
} streams[2] PAGE_ALIGNED;

static void stream_feed(struct stream *s, const struct record *got)
{
	struct branch expected = { (u64)pmi_iret, s->interrupted, 0, 0 };

	s->fed++;
	if (s->bad_at)
		return;
	/* A PMI can arrive after any instruction. It is recorded as a branch to pmi_entry. */
	if (s->state == WALKING && got->to == (u64)pmi_entry) {
		s->interrupted = got->from;
		s->state = IN_PMI;
		return;
	}
	if (s->state == WALKING)
		expected = walk_next(&s->walk);
	s->state = WALKING;
	if (expected.from == got->from && expected.to == got->to)
		return;
	s->bad = *got;
	s->expected = expected;
	s->bad_at = s->fed;
}

static void stream_drain(struct stream *s)
{
	u64 n = ds_count(&s->ds);
	u64 i;

	for (i = 0; i < n; i++)
		stream_feed(s, &s->buffer[i]);
	s->ds.index = s->ds.base;
}

static u64 stream_pmi(u64 debugctl, struct frame *frame)
{
	struct stream *s = &streams[this_cpu()];
	u64 n = ds_count(&s->ds);
	const struct record *last = &s->buffer[n - 1];

	s->pmis++;
	if (!s->earliest || n < s->earliest)
		s->earliest = n;
	if (n > s->latest)
		s->latest = n;
	s->lvt = apic_read(APIC_LVT_PC);
	/*
	 * The last record is the delivery of the PMI. Its source must be the RIP in the PMI's
	 * exception frame.
	 */
	if (debugctl && n && last->from != frame->rip && !s->bad_at) {
		s->bad_at = s->fed + n;
		s->bad = *last;
		s->expected = (struct branch){ frame->rip, (u64)pmi_entry, 0, 0 };
	}
	stream_drain(s);
	if (s->eoi)
		apic_write(APIC_EOI, 0);
	if (s->unmask)
		apic_write(APIC_LVT_PC, s->lvt & ~LVT_MASKED);
	return debugctl;
}

/* Prepare this CPU to record a walk(). */
static struct stream *stream_start(u32 lvt)
{
	struct stream *s = &streams[this_cpu()];

	memset(s, 0, sizeof(*s));
	s->unmask = true;
	s->eoi = !(lvt & LVT_NMI);
	ds_set(&s->ds, s->buffer, BUFFER, THRESHOLD);
	set_gate(VEC_NMI, (u64)pmi_entry);
	set_gate(VEC_PMI, (u64)pmi_entry);
	pmi_handler = stream_pmi;
	apic_write(APIC_LVT_PC, lvt);
	return s;
}

static void stream_walk(struct stream *s, u64 count, u64 seed)
{
	walk_start(&s->walk, count, seed);
	walk(count, seed, TR_BTS | DEBUGCTL_BTINT);
	stream_drain(s);
}

static void stream_check(const struct stream *s)
{
	CHECK(!s->bad_at, "CPU %u: record %lu is %lx -> %lx, expected %lx -> %lx",
	      (u32)(s - streams), s->bad_at, s->bad.from, s->bad.to,
	      s->expected.from, s->expected.to);
	CHECK(!s->walk.left, "%lu records are missing", s->walk.left);
	CHECK(!s->pmis || s->earliest >= THRESHOLD, "a PMI after %lu records",
	      s->earliest);
	CHECK(!s->pmis || s->latest < BUFFER, "a PMI after %lu records", s->latest);
}

static void stream_end(void)
{
	set_gate(VEC_NMI, (u64)stub_table[VEC_NMI]);
	set_gate(VEC_PMI, (u64)stub_table[VEC_PMI]);
	pmi_handler = NULL;
}

TEST(pmi_nmi, "no branch is lost if threshold PMIs are NMIs")
{
	struct stream *s;
	u64 pmis;

	if (!have_ds)
		return NO_DS;
	pmis = info_bts(0, "pmis");
	s = stream_start(LVT_NMI);
	stream_walk(s, 20000, 1);
	stream_check(s);
	/* Each PMI adds two records: its delivery and its return. */
	CHECK(s->pmis >= 20000 / BUFFER && s->pmis <= 20000 / (THRESHOLD - 2),
	      "%lu PMIs", s->pmis);
	CHECK(s->lvt == (LVT_MASKED | LVT_NMI), "LVTPC was %x in the handler", s->lvt);
	pmis = info_bts(0, "pmis") - pmis;
	CHECK(pmis == s->pmis, "info bts counts %lu of %lu PMIs", pmis, s->pmis);
	stream_end();
	return NULL;
}

TEST(pmi_vector, "no branch is lost if threshold PMIs use a fixed vector")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(VEC_PMI);
	asm volatile("sti");
	stream_walk(s, 20000, 2);
	asm volatile("cli");
	stream_check(s);
	CHECK(s->pmis >= 20000 / BUFFER && s->pmis <= 20000 / (THRESHOLD - 2),
	      "%lu PMIs", s->pmis);
	CHECK(s->lvt == (LVT_MASKED | VEC_PMI), "LVTPC was %x in the handler", s->lvt);
	stream_end();
	return NULL;
}

/* ---- at CPL 3 ---- */

static u64 user_loops, user_pmis, user_odd;
static u8 user_stack[4096] __attribute__((aligned(16)));

/*
 * Count the branches of user_loop(). Count all other branches as unexpected, except the branches
 * that enter or leave CPL 3.
 */
static void count_user_loops(void)
{
	const struct record *r;

	for (r = records; (u64)r < ds0.index; r++) {
		if (r->from == (u64)user_loop_branch && r->to == r->from)
			user_loops++;
		else if (r->to != (u64)pmi_entry && r->to != (u64)stub_table[VEC_USER_EXIT] &&
			 r->from != (u64)pmi_iret && r->from != (u64)user_enter)
			user_odd++;
	}
	ds0.index = ds0.base;
}

static u64 user_pmi(u64 debugctl, struct frame *frame)
{
	CHECK(frame->cs == SEL_UCS64 && frame->rip == (u64)user_loop_branch,
	      "at %lx:%lx", frame->cs, frame->rip);
	user_pmis++;
	count_user_loops();
	apic_write(APIC_LVT_PC, LVT_NMI);
	return debugctl;
}

/* Check that each PMI interrupts user_loop() at CPL 3, and that no branch is missing. */
static void check_user_pmis(u64 filter)
{
	user_loops = 0;
	user_pmis = 0;
	user_odd = 0;
	ds_set(&ds0, records, BUFFER, THRESHOLD);
	set_gate(VEC_NMI, (u64)pmi_entry);
	pmi_handler = user_pmi;
	apic_write(APIC_LVT_PC, LVT_NMI);
	run_debugctl = TR_BTS | DEBUGCTL_BTINT | filter;
	run_user((u64)user_loop, (u64)user_stack + sizeof(user_stack), 2);
	run_rsp = 0;
	count_user_loops();
	CHECK(user_loops == USER_LOOPS, "%lu branches", user_loops);
	CHECK(user_pmis >= USER_LOOPS / BUFFER && user_pmis <= USER_LOOPS / (THRESHOLD - 2),
	      "%lu PMIs", user_pmis);
	CHECK(!user_odd, "%lu other records", user_odd);
	set_gate(VEC_NMI, stub_table[VEC_NMI]);
}

TEST(pmi_user, "no branch is lost if threshold PMIs interrupt CPL 3, with BTS_OFF_OS clear and set")
{
	if (!have_ds)
		return NO_DS;
	check_user_pmis(0);
	if (have_ds_cpl)
		check_user_pmis(DEBUGCTL_BTS_OFF_OS);
	return NULL;
}

/* ---- the LVT entry ---- */

TEST(pmi_pending, "a PMI that uses a fixed vector waits for EFLAGS.IF")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(VEC_PMI);
	walk_start(&s->walk, 150, 3);
	walk(150, 3, TR_BTS | DEBUGCTL_BTINT);
	CHECK(!s->pmis, "%lu PMIs", s->pmis);
	CHECK(ds_count(&s->ds) == 150, "%lu records", ds_count(&s->ds));
	CHECK(apic_read(APIC_LVT_PC) & LVT_MASKED, "%x", apic_read(APIC_LVT_PC));
	asm volatile("sti; nop; nop; cli" : : : "memory");
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	CHECK(s->latest == 150, "%lu records", s->latest);
	stream_check(s);
	stream_end();
	return NULL;
}

TEST(pmi_exact, "no PMI one record before the threshold, one PMI at the threshold")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	stream_walk(s, THRESHOLD - 1, 4);
	CHECK(!s->pmis, "%lu PMIs", s->pmis);
	stream_walk(s, THRESHOLD, 5);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	stream_end();
	return NULL;
}

/* ---- x-bts-pmi ---- */

/* Return the number of records that the CPU stores between the threshold and the PMI. */
static u64 pmi_late(void)
{
	return option("pmi-late") ? 40 : 0;
}

TEST(pmi_moment, "the PMI is raised at the record that x-bts-pmi selects")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	stream_walk(s, 150, 12);
	stream_check(s);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	/* The delivery of the NMI adds a record. */
	CHECK(s->earliest == THRESHOLD + pmi_late() + 1, "after %lu records",
	      s->earliest);
	stream_end();
	return NULL;
}

#define LATE_THRESHOLD	30

static u64 note_pmi(u64 debugctl, struct frame *frame __attribute__((unused)))
{
	struct stream *s = &streams[this_cpu()];

	s->pmis++;
	s->latest = ds_count(&s->ds);
	return debugctl;
}

/* With x-bts-pmi=late-N, the PMI comes only after late_body() has reset the index. */
TEST(pmi_put_back, "a late PMI comes even if the index was reset meanwhile")
{
	u64 wanted = LATE_THRESHOLD;
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	if (pmi_late())
		wanted += pmi_late() - LATE_BEFORE;
	s = stream_start(LVT_NMI);
	pmi_handler = note_pmi;
	s->ds.threshold = s->ds.base + LATE_THRESHOLD * RECORD_SIZE;
	late_body(TR_BTS | DEBUGCTL_BTINT, &s->ds.index, s->ds.base);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	CHECK(s->latest == wanted + 1, "after %lu records", s->latest);
	stream_end();
	return NULL;
}

TEST(pmi_stop, "if x-bts-pmi=late-N delays a PMI, clearing TR raises the PMI at once")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	stream_walk(s, THRESHOLD + 10, 13);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	CHECK(s->earliest == THRESHOLD + (pmi_late() ? 10 : 1), "after %lu records",
	      s->earliest);
	stream_walk(s, THRESHOLD - 1, 14);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	stream_end();
	return NULL;
}

static u64 unmask_pmi(u64 debugctl, struct frame *frame __attribute__((unused)))
{
	streams[this_cpu()].pmis++;
	apic_write(APIC_LVT_PC, LVT_NMI);
	return debugctl;
}

TEST(pmi_again, "x-bts-pmi decides whether records above the threshold raise more PMIs")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	pmi_handler = unmask_pmi;
	walk(THRESHOLD + 80, 15, TR_BTS | DEBUGCTL_BTINT);
	if (option("pmi-once") || pmi_late())
		CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	else
		/* Each PMI adds two records: its delivery, and the return from its handler. */
		CHECK(s->pmis == (BUFFER - THRESHOLD) / 2 + 1, "%lu PMIs", s->pmis);
	/*
	 * With this threshold, the buffer has room for the record of the PMI's delivery, but not
	 * for the record of the return from its handler.
	 */
	s->pmis = 0;
	s->ds.index = s->ds.base;
	s->ds.threshold = s->ds.base + (BUFFER - 1) * RECORD_SIZE;
	walk(BUFFER - 1, 16, TR_BTS | DEBUGCTL_BTINT);
	CHECK(s->pmis == 1, "%lu PMIs at the second threshold", s->pmis);
	stream_end();
	return NULL;
}

TEST(pmi_no_btint, "no PMI arrives without BTINT, or while the LVT entry is masked")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	walk(150, 6, TR_BTS);
	CHECK(!s->pmis, "%lu PMIs without BTINT", s->pmis);
	CHECK(!(apic_read(APIC_LVT_PC) & LVT_MASKED), "%x", apic_read(APIC_LVT_PC));
	s = stream_start(LVT_NMI | LVT_MASKED);
	walk(150, 7, TR_BTS | DEBUGCTL_BTINT);
	CHECK(!s->pmis, "%lu PMIs while the LVT entry was masked", s->pmis);
	stream_end();
	return NULL;
}

TEST(pmi_mask, "no further PMI until the LVT entry is unmasked")
{
	struct stream *s;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	s->unmask = false;
	walk(150, 8, TR_BTS | DEBUGCTL_BTINT);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	CHECK(apic_read(APIC_LVT_PC) & LVT_MASKED, "%x", apic_read(APIC_LVT_PC));
	s->ds.index = s->ds.base;
	walk(150, 9, TR_BTS | DEBUGCTL_BTINT);
	CHECK(s->pmis == 1, "%lu PMIs", s->pmis);
	s->ds.index = s->ds.base;
	apic_write(APIC_LVT_PC, LVT_NMI);
	walk(150, 10, TR_BTS | DEBUGCTL_BTINT);
	CHECK(s->pmis == 2, "%lu PMIs", s->pmis);
	stream_end();
	return NULL;
}

/*
 * COM1 accepts a character only after the guest has read the previous character. The guest reads
 * one character after each call of walk(). So the next character arrives during the next call. At
 * that moment, the emulator's main thread accesses the APIC of this CPU.
 */
TEST(pmi_device, "threshold PMIs while COM1 receives characters")
{
	struct stream *s;
	u64 seed = 100;

	if (!have_ds)
		return NO_DS;
	s = stream_start(LVT_NMI);
	print("@chatter 300\n");
	do {
		stream_walk(s, 1000, seed++);
	} while (!s->bad_at && read_character() != EOT);
	stream_check(s);
	stream_end();
	return NULL;
}

/* ---- two CPUs ---- */

#define SMP_COUNT	50000
#define BIG_COUNT	3000

static struct ds_area ds1;
static struct record records1[MAX_RECORDS];
static u32 together;
static u64 ap_value;

static void meet(void)
{
	__atomic_add_fetch(&together, 1, __ATOMIC_SEQ_CST);
	while (READ_ONCE(together) < 2)
		cpu_pause();
}

static void ap_big(void)
{
	ds_set(&ds1, records1, MAX_RECORDS, MAX_RECORDS + 1);
	meet();
	walk(BIG_COUNT, 21, TR_BTS);
}

TEST(smp_both, "two CPUs store at the same time, each into its own buffer")
{
	struct walk w;

	if (!have_ap)
		return NO_AP;
	WRITE_ONCE(together, 0);
	ds_default();
	start_on_ap(ap_big);
	meet();
	walk(BIG_COUNT, 20, TR_BTS);
	wait_for_ap();
	CHECK(ds_count(&ds0) == BIG_COUNT, "CPU 0: %lu records", ds_count(&ds0));
	CHECK(ds_count(&ds1) == BIG_COUNT, "CPU 1: %lu records", ds_count(&ds1));
	walk_start(&w, BIG_COUNT, 20);
	walk_check(&w, records, BIG_COUNT);
	walk_start(&w, BIG_COUNT, 21);
	walk_check(&w, records1, BIG_COUNT);
	return NULL;
}

static void ap_untraced(void)
{
	ds_set(&ds1, records1, MAX_RECORDS, MAX_RECORDS + 1);
	meet();
	walk(BIG_COUNT, 23, 0);
	ap_value = rdmsr(IA32_DEBUGCTL);
}

TEST(smp_one, "BTS on one CPU does not record the other CPU's branches")
{
	struct walk w;

	if (!have_ap)
		return NO_AP;
	WRITE_ONCE(together, 0);
	ds_default();
	start_on_ap(ap_untraced);
	meet();
	walk(BIG_COUNT, 22, TR_BTS);
	wait_for_ap();
	walk_start(&w, BIG_COUNT, 22);
	CHECK(ds_count(&ds0) == BIG_COUNT, "CPU 0: %lu records", ds_count(&ds0));
	walk_check(&w, records, BIG_COUNT);
	CHECK(!ds_count(&ds1), "CPU 1: %lu records", ds_count(&ds1));
	return NULL;
}

static void ap_stream(void)
{
	struct stream *s = stream_start(LVT_NMI);

	meet();
	stream_walk(s, SMP_COUNT, 25);
}

TEST(smp_pmi, "two CPUs trace at the same time, each with its own threshold PMIs")
{
	struct stream *s;

	if (!have_ap)
		return NO_AP;
	WRITE_ONCE(together, 0);
	start_on_ap(ap_stream);
	s = stream_start(LVT_NMI);
	meet();
	stream_walk(s, SMP_COUNT, 24);
	wait_for_ap();
	stream_check(&streams[0]);
	stream_check(&streams[1]);
	CHECK(streams[0].pmis && streams[1].pmis, "%lu and %lu PMIs", streams[0].pmis,
	      streams[1].pmis);
	stream_end();
	return NULL;
}

static void ap_forever(void)
{
	ds_set(&ds1, records1, MAX_RECORDS, MAX_RECORDS + 1);
	walk(-1, 26, TR_BTS);
}

static void ap_read_debugctl(void)
{
	ap_value = rdmsr(IA32_DEBUGCTL);
}

TEST(smp_init, "INIT switches BTS off")
{
	u64 index;

	if (!have_ap)
		return NO_AP;
	ds1.index = 0;
	start_on_ap(ap_forever);
	while (READ_ONCE(ds1.index) <= (u64)records1)
		cpu_pause();
	init_ap();
	index = READ_ONCE(ds1.index);
	ap_value = -1;
	run_on_ap(ap_read_debugctl);
	CHECK(!ap_value, "DEBUGCTL of CPU 1 is %lx", ap_value);
	CHECK(READ_ONCE(ds1.index) == index, "CPU 1 still stores");
	return NULL;
}

/* ---- migration: move the machine to another emulator ---- */

static bool migrated;

static void stream_until_migrated(struct stream *s, u64 seed)
{
	do {
		stream_walk(s, 100000, seed++);
	} while (!READ_ONCE(migrated) && !s->bad_at);
}

static void ap_migrate(void)
{
	stream_until_migrated(stream_start(LVT_NMI), 1000);
}

/* Send the request @rounds times. After each request, trace until the host has answered. */
static void trace_during(const char *request, u32 rounds)
{
	struct stream *s;
	u64 seed = 30;

	WRITE_ONCE(migrated, false);
	if (option("smp"))
		start_on_ap(ap_migrate);
	s = stream_start(LVT_NMI);
	for (; rounds && !s->bad_at; rounds--) {
		print("@%s\n", request);
		do {
			stream_walk(s, 100000, seed++);
		} while (!host_replied() && !s->bad_at);
		host(NULL);
	}
	stream_walk(s, 100000, seed);
	WRITE_ONCE(migrated, true);
	if (option("smp"))
		wait_for_ap();
	stream_check(&streams[0]);
	if (option("smp"))
		stream_check(&streams[1]);
	CHECK(rdmsr(IA32_DS_AREA) == (u64)&s->ds, "%lx", rdmsr(IA32_DS_AREA));
	print("# %lu records and %lu PMIs on CPU 0\n", s->fed, s->pmis);
	stream_end();
}

TEST_ALONE(migrate, "only-migrate", "three migrations during a trace lose no branch")
{
	trace_during("migrate", 3);
	return NULL;
}

/*
 * While the machine runs, QEMU copies its memory page by page, and copies a page again if the guest
 * has written to it since. In this test, only BTS writes to the buffer. If QEMU misses such a
 * write, the copy contains records of an earlier call of walk().
 */
TEST_ALONE(live, "only-migrate", "a live migration loses no BTS record")
{
	u64 seed = 2000;
	u32 rounds = 3;
	struct walk w;

	for (; rounds && !failed; rounds--) {
		print("@live\n");
		do {
			ds_default();
			walk(MAX_RECORDS, ++seed, TR_BTS | DEBUGCTL_BTINT);
			CHECK(ds_count(&ds0) == MAX_RECORDS, "%lu records", ds_count(&ds0));
			walk_start(&w, MAX_RECORDS, seed);
			walk_check(&w, records, MAX_RECORDS);
		} while (!host_replied() && !failed);
		host(NULL);
	}
	print("# %lu walks\n", seed - 2000);
	return NULL;
}

TEST_ALONE(snapshot, "only-migrate", "restoring a snapshot during a trace loses no branch")
{
	trace_during("snapshot", 2);
	return NULL;
}

TEST(reset, "RESET clears IA32_DEBUGCTL and IA32_DS_AREA")
{
	if (!have_ds)
		return NO_DS;
	if (survivor->magic == SURVIVOR_RESET) {
		survivor->magic = SURVIVOR_RUNNING;
		CHECK(!survivor->debugctl, "DEBUGCTL is %lx", survivor->debugctl);
		CHECK(!survivor->ds_area, "DS_AREA is %lx", survivor->ds_area);
		return NULL;
	}
	ds_default();
	survivor->magic = SURVIVOR_RESET;
	wrmsr(IA32_DEBUGCTL, TR_BTS);
	out8(6, 0xcf9);
	for (;;)
		cpu_pause();
}
