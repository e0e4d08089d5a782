// SPDX-License-Identifier: GPL-2.0
/* Tests of the buffer: full, circular, across page boundaries, and not writable. */
#include "bare.h"

#define SMALL	8		/* records in the small buffer */
#define CANARY	0x5a5a5a5a5a5a5a5a

static u8 frames[4][4096] PAGE_ALIGNED;

static void spoil_records(u64 n)
{
	u64 i;

	for (i = 0; i < n; i++)
		records[i] = (struct record){ CANARY, CANARY, CANARY };
}

static void check_canary(u64 first, u64 n)
{
	u64 i;

	for (i = first; i < first + n; i++)
		CHECK(records[i].from == CANARY, "record %lu was overwritten", i);
}

/* Check that the @n records at @got are the first branches of walk(@count, @seed). */
static void check_walk(u64 count, u64 seed, const struct record *got, u64 n)
{
	struct walk w;

	walk_start(&w, count, seed);
	walk_check(&w, got, n);
}

TEST(full, "the CPU stores nothing in a full buffer")
{
	u64 dropped;

	if (!have_ds)
		return NO_DS;
	dropped = info_bts(0, "dropped_full");
	spoil_records(2 * SMALL);
	ds_set(&ds0, records, SMALL, SMALL - 2);
	walk(20, 1, TR_BTS | DEBUGCTL_BTINT);
	CHECK(ds_count(&ds0) == SMALL, "%lu records", ds_count(&ds0));
	check_walk(20, 1, records, SMALL);
	check_canary(SMALL, SMALL);
	dropped = info_bts(0, "dropped_full") - dropped;
	CHECK(dropped == 20 - SMALL, "%lu", dropped);
	return NULL;
}

TEST(full_reset, "resetting the index lets the CPU store again")
{
	if (!have_ds)
		return NO_DS;
	ds_set(&ds0, records, SMALL, SMALL);
	walk(20, 2, TR_BTS | DEBUGCTL_BTINT);
	CHECK(ds_count(&ds0) == SMALL, "%lu records", ds_count(&ds0));
	ds0.index = ds0.base;
	spoil_records(SMALL);
	walk(5, 3, TR_BTS | DEBUGCTL_BTINT);
	CHECK(ds_count(&ds0) == 5, "%lu records", ds_count(&ds0));
	check_walk(5, 3, records, 5);
	check_canary(5, SMALL - 5);
	return NULL;
}

TEST(exactly_full, "a buffer that is exactly filled drops nothing")
{
	u64 dropped;

	if (!have_ds)
		return NO_DS;
	dropped = info_bts(0, "dropped_full");
	ds_set(&ds0, records, SMALL, SMALL);
	walk(SMALL, 4, TR_BTS | DEBUGCTL_BTINT);
	CHECK(ds_count(&ds0) == SMALL, "%lu records", ds_count(&ds0));
	check_walk(SMALL, 4, records, SMALL);
	dropped = info_bts(0, "dropped_full") - dropped;
	CHECK(!dropped, "%lu", dropped);
	return NULL;
}

TEST(circular, "the buffer wraps if the threshold is above the maximum")
{
	struct walk w;
	u64 i;

	if (!have_ds)
		return NO_DS;
	spoil_records(2 * SMALL);
	ds_set(&ds0, records, SMALL, SMALL + 1);
	walk(29, 5, TR_BTS);
	CHECK(ds_count(&ds0) == 29 % SMALL, "index at %lu", ds_count(&ds0));
	walk_start(&w, 29, 5);
	for (i = 0; i < 29 - SMALL; i++)
		walk_next(&w);
	/* In a full circular buffer, the index points to the oldest record. */
	walk_check(&w, records + 29 % SMALL, SMALL - 29 % SMALL);
	walk_check(&w, records, 29 % SMALL);
	check_canary(SMALL, SMALL);
	return NULL;
}

TEST(circular_exact, "a circular buffer that is exactly filled has its index at the base")
{
	if (!have_ds)
		return NO_DS;
	spoil_records(2 * SMALL);
	ds_set(&ds0, records, SMALL, SMALL + 1);
	walk(2 * SMALL, 19, TR_BTS);
	CHECK(!ds_count(&ds0), "index at %lu", ds_count(&ds0));
	check_canary(SMALL, SMALL);
	return NULL;
}

TEST(circular_from_full, "if the index is at the maximum, a circular buffer wraps before storing")
{
	if (!have_ds)
		return NO_DS;
	spoil_records(SMALL);
	ds_set(&ds0, records, SMALL, SMALL + 1);
	ds0.index = ds0.maximum;
	walk(2, 18, TR_BTS);
	CHECK(ds_count(&ds0) == 2, "index at %lu", ds_count(&ds0));
	check_walk(2, 18, records, 2);
	check_canary(2, SMALL - 2);
	return NULL;
}

/* Software can set the index to any value, even to an address outside the buffer. */
TEST(index_above, "with an index above the maximum, circular buffers wrap, and others drop records")
{
	u64 dropped;

	if (!have_ds)
		return NO_DS;
	spoil_records(3 * SMALL);
	ds_set(&ds0, records, SMALL, SMALL + 1);
	ds0.index = ds0.maximum + RECORD_SIZE;
	walk(2, 20, TR_BTS);
	CHECK(ds_count(&ds0) == 2, "index at %lu", ds_count(&ds0));
	check_walk(2, 20, records, 2);
	dropped = info_bts(0, "dropped_full");
	ds_set(&ds0, records, SMALL, SMALL - 1);
	ds0.index = ds0.maximum + RECORD_SIZE;
	walk(3, 21, TR_BTS);
	dropped = info_bts(0, "dropped_full") - dropped;
	CHECK(dropped == 3, "%lu dropped", dropped);
	CHECK(ds_count(&ds0) == SMALL + 1, "index at %lu", ds_count(&ds0));
	check_canary(SMALL, 2 * SMALL);
	return NULL;
}

TEST(not_circular, "clearing BTINT alone does not make the buffer circular")
{
	if (!have_ds)
		return NO_DS;
	spoil_records(2 * SMALL);
	ds_set(&ds0, records, SMALL, SMALL - 1);
	walk(20, 6, TR_BTS);
	CHECK(ds_count(&ds0) == SMALL, "index at %lu", ds_count(&ds0));
	check_walk(20, 6, records, SMALL);
	check_canary(SMALL, SMALL);
	return NULL;
}

TEST(index_in_buffer, "records go to the index, not to the base")
{
	if (!have_ds)
		return NO_DS;
	spoil_records(SMALL);
	ds_set(&ds0, records, SMALL, SMALL + 1);
	ds0.index += 3 * RECORD_SIZE;
	walk(2, 7, TR_BTS);
	CHECK(ds_count(&ds0) == 5, "index at %lu", ds_count(&ds0));
	check_canary(0, 3);
	check_walk(2, 7, records + 3, 2);
	check_canary(5, SMALL - 5);
	return NULL;
}

TEST(stored_count, "the command 'info bts' counts the stored records and shows the DS area")
{
	u64 stored;

	if (!have_ds)
		return NO_DS;
	stored = info_bts(0, "stored");
	ds_default();
	walk(100, 8, TR_BTS);
	stored = info_bts(0, "stored") - stored;
	CHECK(stored == 100, "%lu", stored);
	CHECK(info_bts(0, "ds_area") == (u64)&ds0, "%lx", info_bts(0, "ds_area"));
	CHECK(info_bts(0, "base") == ds0.base, "%lx", info_bts(0, "base"));
	CHECK(info_bts(0, "index") == ds0.index, "%lx", info_bts(0, "index"));
	CHECK(info_bts(0, "maximum") == ds0.maximum, "%lx", info_bts(0, "maximum"));
	CHECK(info_bts(0, "threshold") == ds0.threshold, "%lx",
	      info_bts(0, "threshold"));
	wrmsr(IA32_DEBUGCTL, DEBUGCTL_TR);
	CHECK(info_bts(0, "debugctl") == DEBUGCTL_TR, "%lx", info_bts(0, "debugctl"));
	return NULL;
}

/*
 * Map two consecutive pages of the window to frames[1] and frames[0], in this order. In four
 * rounds, the second record begins 0, 8, 16 and 24 bytes before the second page. Read the records
 * word by word from the page frames, not through the window.
 */
TEST(straddle, "a record across a page boundary")
{
	struct record got[3];
	u64 offset, i, place;

	if (!have_ds)
		return NO_DS;
	for (offset = 0; offset <= RECORD_SIZE && !failed; offset += 8) {
		memset(frames, 0x5a, sizeof(frames));
		win_map(1, frames[1], PTE_P | PTE_W);
		win_map(2, frames[0], PTE_P | PTE_W);
		place = 4096 - RECORD_SIZE - offset;
		ds_set(&ds0, (void *)(WIN_PAGE(1) + place), 3, 4);
		walk(2, offset, TR_BTS);
		for (i = 0; i < sizeof(got) / 8; i++, place += 8)
			((u64 *)got)[i] = *(u64 *)&frames[place < 4096][place % 4096];
		check_walk(2, offset, got, 2);
		CHECK(got[2].from == CANARY, "offset %lu", offset);
	}
	win_unmap_all();
	return NULL;
}

TEST(straddle_area, "a DS management area across a page boundary")
{
	struct ds_area *ds = (struct ds_area *)(WIN_PAGE(2) - 16);

	if (!have_ds)
		return NO_DS;
	win_map(1, frames[1], PTE_P | PTE_W);
	win_map(2, frames[0], PTE_P | PTE_W);
	ds_set(ds, records, SMALL, SMALL + 1);
	walk(3, 9, TR_BTS);
	CHECK(ds_count(ds) == 3, "index at %lu", ds_count(ds));
	check_walk(3, 9, records, 3);
	win_unmap_all();
	return NULL;
}

/* Take 4 branches with the buffer at @base. Check that exactly @failures of the 4 stores fail. */
static void check_failing(void *base, u64 failures)
{
	u64 before = info_bts(0, "failed");
	u64 counted;

	ds_set(&ds0, base, SMALL, SMALL + 1);
	walk(4, 10, TR_BTS);
	counted = info_bts(0, "failed") - before;
	CHECK(counted == failures, "%lu failures", counted);
}

TEST(unmapped, "losses in an unmapped buffer are counted, and cause no fault")
{
	if (!have_ds)
		return NO_DS;
	check_failing((void *)WIN_PAGE(1), 4);
	return NULL;
}

TEST(unmapped_area, "a DS management area that is not mapped")
{
	u64 before;

	if (!have_ds)
		return NO_DS;
	before = info_bts(0, "failed");
	wrmsr(IA32_DS_AREA, WIN_PAGE(1));
	walk(4, 11, TR_BTS);
	before = info_bts(0, "failed") - before;
	CHECK(before == 4, "%lu failures", before);
	return NULL;
}

TEST(half_unmapped, "a record whose end is in an unmapped page")
{
	if (!have_ds)
		return NO_DS;
	memset(frames, 0x5a, sizeof(frames));
	win_map(1, frames[0], PTE_P | PTE_W);
	check_failing((void *)(WIN_PAGE(2) - RECORD_SIZE - 8), 3);
	check_walk(4, 10, (void *)(WIN_PAGE(2) - RECORD_SIZE - 8), 1);
	win_unmap_all();
	return NULL;
}

TEST(read_only, "the CPU cannot store into a read-only buffer unless CR0.WP is clear")
{
	if (!have_ds)
		return NO_DS;
	memset(frames, 0x5a, sizeof(frames));
	win_map(1, frames[0], PTE_P);
	check_failing((void *)WIN_PAGE(1), 4);
	CHECK(*(u64 *)WIN_PAGE(1) == CANARY, "the page was written");
	write_cr0(read_cr0() & ~(1UL << 16));
	check_failing((void *)WIN_PAGE(1), 0);
	write_cr0(read_cr0() | 1UL << 16);
	check_walk(4, 10, (void *)WIN_PAGE(1), 4);
	win_unmap_all();
	return NULL;
}

/*
 * Run the first branch test at CPL 3, with the buffer and the management area in supervisor-only
 * pages. The CPU must store all records, because BTS stores are supervisor accesses.
 */
TEST(supervisor, "branches at CPL 3 are stored into a supervisor-only buffer")
{
	struct ds_area *ds = (struct ds_area *)WIN_PAGE(1);
	const struct body *body = &branch_tests[0].user;
	struct branch expect[64];
	const struct branch *e;
	u64 n = 0;

	if (!have_ds)
		return NO_DS;
	win_map(1, frames[0], PTE_P | PTE_W);
	win_map(2, frames[1], PTE_P | PTE_W);
	ds_set(ds, (void *)WIN_PAGE(2), 64, 65);
	expect[n++] = (struct branch){ (u64)user_enter, body->fn, 0, 3 };
	for (e = body->expect; e < body->expect_end; e++)
		expect[n++] = *e;
	expect[n++] = (struct branch){ body->end, (u64)stub_64, 3, 0 };
	run_debugctl = TR_BTS;
	run_user(body->fn, (u64)frames[3] + 4096, 2);
	compare(expect, n, (void *)WIN_PAGE(2), ds_count(ds));
	win_unmap_all();
	return NULL;
}

/* The CPU must store a record into the address space that is current when the branch retires. */
TEST(address_space, "the CPU stores records through the current page tables")
{
	u64 first = read_cr3();
	u64 second;

	if (!have_ds)
		return NO_DS;
	memset(frames, 0x5a, sizeof(frames));
	win_map(1, frames[0], PTE_P | PTE_W);
	second = win_second_space(1, frames[1]);
	ds_set(&ds0, (void *)WIN_PAGE(1), SMALL, SMALL + 1);
	walk(2, 12, TR_BTS);
	write_cr3(second);
	walk(2, 13, TR_BTS);
	write_cr3(first);
	walk(2, 14, TR_BTS);
	check_walk(2, 12, (void *)frames[0], 2);
	CHECK(((struct record *)frames[0])[2].from == CANARY, "first frame overwritten");
	check_walk(2, 13, (struct record *)frames[1] + 2, 2);
	CHECK(((struct record *)frames[1])[4].from == CANARY, "second frame overwritten");
	check_walk(2, 14, (struct record *)frames[0] + 4, 2);
	win_unmap_all();
	return NULL;
}

/* When software maps the buffer's page to another frame, the CPU must store to the new frame. */
TEST(remapped, "a buffer page that is remapped between two branches")
{
	if (!have_ds)
		return NO_DS;
	memset(frames, 0x5a, sizeof(frames));
	win_map(1, frames[0], PTE_P | PTE_W);
	ds_set(&ds0, (void *)WIN_PAGE(1), SMALL, SMALL + 1);
	walk(2, 15, TR_BTS);
	win_map(1, frames[1], PTE_P | PTE_W);
	walk(2, 16, TR_BTS);
	check_walk(2, 15, (void *)frames[0], 2);
	check_walk(2, 16, (struct record *)frames[1] + 2, 2);
	win_unmap_all();
	return NULL;
}

static bool contains(const char *s, const char *text)
{
	u32 i;

	for (; *s; s++) {
		for (i = 0; text[i] && s[i] == text[i]; i++)
			;
		if (!text[i])
			return true;
	}
	return false;
}

static void check_logged(const char *text)
{
	const char *log = host("log");

	CHECK(contains(log, text), "logged: \"%s\"", log);
}

/* The DS area is not mapped, so all records are lost. QEMU logs only loss 1, 2, 4, 8 and so on. */
static void check_logged_loss(void)
{
	u32 i;

	for (i = 0; i < 1000; i++) {
		walk(4, 11, TR_BTS);
		if (contains(host("log"), "no writable memory"))
			return;
	}
	fail("no loss is logged");
}

TEST(guest_errors, "the emulator logs the guest's errors, and nothing else")
{
	if (!have_ds)
		return NO_DS;
	host("log");
	ds_set(&ds0, records, SMALL, SMALL + 1);
	walk(4, 10, TR_BTS);
	CHECK(!*host("log"), "something is logged");

	wrmsr_safe(IA32_DEBUGCTL, 1 << 3);
	check_logged("for MSR 0x1d9");
	wrmsr_safe(IA32_DS_AREA, 0x800000000000);
	check_logged("for MSR 0x600");
	ds_set(&ds0, (char *)records + 4, SMALL, SMALL + 1);
	walk(4, 10, TR_BTS);
	check_logged("bad management area");
	wrmsr(IA32_DS_AREA, WIN_PAGE(1));
	check_logged_loss();
	return NULL;
}

/* Run this test with x-bts-fault-stop=on. The host checks that QEMU reports a guest panic. */
TEST_ALONE(fault_stop, "only-fault-stop", "QEMU reports a guest panic if a record cannot be stored")
{
	ds_set(&ds0, (void *)WIN_PAGE(1), SMALL, SMALL + 1);
	host("expect-panic");
	walk(4, 17, TR_BTS);
	fail("the machine still runs");
	return NULL;
}
