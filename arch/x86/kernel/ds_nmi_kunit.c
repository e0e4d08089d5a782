// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the BTS driver: how ds_records.c leaves out the branches of NMIs
 */

#include <asm/fred.h>

#include "ds_kunit.h"

/* Store @before records of traced code, then @way records: the way through an NMI's entry code. */
static void ds_test_nmi(struct ds_test *t, unsigned int before, unsigned int way)
{
	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	t->ip = DS_TEST_IP;
	ds_test_store_nr(t, before);
	ds_test_store(t, DS_TEST_IP, DS_TEST_ENTRY);
	while (--way)
		ds_test_store(t, DS_TEST_ENTRY + way, DS_TEST_ENTRY + way + 1);
}

static void ds_test_nmi_tail(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_nmi(t, 100, 10);
	ds_test_drain(t);
	ds_test_expect(test, 0, 100);
	KUNIT_EXPECT_EQ(test, t->batch.own, 10);
	KUNIT_EXPECT_EQ(test, t->batch.unsure, 0);

	ds_test_nmi(t, 100, DS_NMI_RECORDS);
	ds_test_drain(t);
	ds_test_expect(test, 0, 100);

	/* The driver searches the 512 newest records backwards for a branch to the entry point. */
	ds_test_nmi(t, 100, 10);
	ds_test_store(t, DS_TEST_IP, DS_TEST_ENTRY);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 110);
	ds_test_nmi(t, 100, DS_NMI_RECORDS + 1);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 100 + DS_NMI_RECORDS + 1);
	KUNIT_EXPECT_EQ(test, t->batch.own, 0);
	KUNIT_EXPECT_EQ(test, t->batch.unsure, DS_NMI_RECORDS);

	/* A branch into .text..ds just before the NMI is left out of the batch, too. */
	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	t->ip = DS_TEST_IP;
	ds_test_store_nr(t, 7);
	ds_test_enter(t);
	ds_test_store(t, ds_test_place() + 1, DS_TEST_ENTRY);
	ds_test_store_nr(t, 3);
	ds_test_drain(t);
	ds_test_expect(test, 0, 7);
}

/*
 * The driver finds the branch to the NMI's entry point by its target, because the record may have a
 * wrong origin. An earlier branch from the interrupted address does not mislead the driver.
 */
static void ds_test_nmi_wrong(struct kunit *test)
{
	struct ds_test *t = test->priv;
	int i;

	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	t->ip = DS_TEST_IP;
	ds_test_store_nr(t, 50);
	ds_test_store(t, DS_TEST_IP, DS_TEST_OTHER);
	ds_test_store_nr(t, 100);
	ds_test_store(t, 0, DS_TEST_ENTRY);
	for (i = 0; i < 9; i++)
		ds_test_store(t, DS_TEST_ENTRY + i, DS_TEST_ENTRY + i + 1);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 151);
	KUNIT_EXPECT_EQ(test, t->batch.own, 10);
	KUNIT_EXPECT_EQ(test, t->batch.unsure, 0);
}

/* If BTS was off when an NMI came, no record belongs to the NMI, so all records are delivered. */
static void ds_test_nmi_off(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_nmi(t, 100, 10);
	t->cpu.debugctl = 0;
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 110);
	KUNIT_EXPECT_EQ(test, t->batch.own + t->batch.unsure, 0);
}

/* With FRED, exceptions share the NMI's entry point. The last branch to it belongs to the NMI. */
static void ds_test_nmi_entries(struct kunit *test)
{
	static void (*const entries[])(void) = {
		asm_exc_nmi,
#ifdef CONFIG_X86_FRED
		asm_fred_entrypoint_user,
		asm_fred_entrypoint_kernel,
#endif
	};
	struct ds_test *t = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		ds_test_start(t, DS_TEST_SLOTS - 1, 0);
		t->ip = DS_TEST_IP;
		ds_test_store(t, DS_TEST_IP, (unsigned long)entries[i]);
		ds_test_store_nr(t, 100);
		ds_test_store(t, DS_TEST_IP, (unsigned long)entries[i]);
		ds_test_store_nr(t, 9);
		ds_test_drain(t);
		KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 101);
		KUNIT_EXPECT_EQ(test, t->batch.own, 10);
	}
}

/* If the branch to the NMI's entry point is not found, all records are delivered. */
static void ds_test_nmi_no_entry(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	t->ip = DS_TEST_IP;
	ds_test_store_nr(t, 100);
	ds_test_store(t, DS_TEST_IP, DS_TEST_OTHER);
	ds_test_store_nr(t, 9);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 110);
	KUNIT_EXPECT_EQ(test, t->batch.own, 0);
	KUNIT_EXPECT_EQ(test, t->batch.unsure, 110);
}

/* With BTS_OFF_OS, a CPU may omit the branches by which an NMI enters and leaves the kernel. */
static void ds_test_nmi_user(struct kunit *test)
{
	struct ds_test *t = test->priv;
	int crossing;

	for (crossing = 0; crossing < 2; crossing++) {
		ds_test_start(t, DS_TEST_SLOTS - 1, 0);
		t->cpu.ctl |= DEBUGCTLMSR_BTS_OFF_OS;
		t->ip = DS_TEST_USER;
		t->cpu.back = DS_TEST_USER;
		if (crossing)
			ds_test_store(t, DS_TEST_KERNEL, DS_TEST_USER);
		ds_test_store(t, DS_TEST_USER, DS_TEST_USER);
		ds_test_store_nr(t, 20);
		ds_test_store(t, DS_TEST_USER, DS_TEST_USER);
		if (crossing)
			ds_test_store(t, DS_TEST_USER, DS_TEST_ENTRY);
		ds_test_drain(t);
		KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 22);
		KUNIT_EXPECT_EQ(test, t->batch.unsure, 0);
	}
}

/*
 * With BTS_OFF_OS or BTS_OFF_USR, a CPU may omit the branch to the NMI's entry point. If so, the
 * driver must not use the branch of an earlier NMI instead.
 */
static void ds_test_nmi_hidden(struct kunit *test)
{
	struct ds_test *t = test->priv;
	int stored;

	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	t->cpu.ctl |= DEBUGCTLMSR_BTS_OFF_OS;
	t->ip = DS_TEST_IP;
	ds_test_store_nr(t, 20);
	ds_test_store(t, DS_TEST_USER, DS_TEST_ENTRY);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 21);
	KUNIT_EXPECT_EQ(test, t->batch.own + t->batch.unsure, 0);

	for (stored = 0; stored < 2; stored++) {
		ds_test_start(t, DS_TEST_SLOTS - 1, 0);
		t->cpu.ctl |= DEBUGCTLMSR_BTS_OFF_USR;
		t->ip = DS_TEST_USER;
		ds_test_store_nr(t, 20);
		ds_test_store(t, DS_TEST_IP, DS_TEST_ENTRY);
		ds_test_store_nr(t, 20);
		if (stored)
			ds_test_store(t, DS_TEST_USER, DS_TEST_ENTRY);
		ds_test_store_nr(t, 9);
		ds_test_drain(t);
		KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), stored ? 41 : 50);
		KUNIT_EXPECT_EQ(test, t->batch.unsure, stored ? 0 : 50);
	}
}

static void ds_test_nmi_head(struct kunit *test)
{
	static const unsigned int ways[] = { 1, DS_NMI_RECORDS - 1, DS_NMI_RECORDS };
	struct ds_test *t = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		unsigned int way = ways[i];
		bool found = way < DS_NMI_RECORDS;

		ds_test_start(t, DS_TEST_SLOTS - 1, 0);
		t->cpu.back = DS_TEST_IP;
		ds_test_leave(t);
		ds_test_store_nr(t, way);
		ds_test_store(t, DS_TEST_ENTRY, DS_TEST_IP);
		ds_test_store_nr(t, 30);
		ds_test_store(t, DS_TEST_ENTRY, DS_TEST_IP);
		ds_test_drain(t);
		KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), found ? 31 : way + 32);
		KUNIT_EXPECT_EQ(test, t->batch.unsure, found ? 0 : DS_NMI_RECORDS);
	}
}

/*
 * An NMI has interrupted code in .text..ds, and has drained. The next batch begins with the
 * branches of the NMI's exit, followed by the branch out of .text..ds. The driver leaves them out.
 */
static void ds_test_nmi_head_own(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	t->cpu.back = ds_test_place() + 1;
	ds_test_leave(t);
	ds_test_store_nr(t, 10);
	ds_test_store(t, DS_TEST_ENTRY, t->cpu.back);
	ds_test_leave(t);
	ds_test_store_nr(t, 30);
	ds_test_drain(t);
	ds_test_expect(test, 13, 30);
}

/* An NMI comes after the branch into .text..ds and before BTS is off. */
static void ds_test_interrupted(struct kunit *test)
{
	struct ds_test *t = test->priv;
	int interrupted;

	for (interrupted = 0; interrupted < 2; interrupted++) {
		ds_test_start(t, DS_TEST_SLOTS - 1, 0);
		t->cpu.interrupted = interrupted;
		ds_test_store_nr(t, 50);
		ds_test_enter(t);
		ds_test_store(t, ds_test_place() + 1, DS_TEST_ENTRY);
		ds_test_store_nr(t, 9);
		ds_test_enter(t);
		ds_test_drain(t);
		KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), interrupted ? 50 : 61);
		KUNIT_EXPECT_EQ(test, t->batch.own, interrupted ? 12 : 1);
	}
}

/* A full buffer may lack the branch to the NMI's entry point, so the buffer is not searched. */
static void ds_test_full(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_TEST_SLOTS, 0);
	t->ip = DS_TEST_IP;
	ds_test_store_nr(t, DS_TEST_SLOTS - 3);
	ds_test_store(t, DS_TEST_IP, DS_TEST_ENTRY);
	ds_test_store_nr(t, 9);
	ds_test_drain(t);
	KUNIT_EXPECT_TRUE(test, t->batch.full);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), DS_TEST_SLOTS);
	KUNIT_EXPECT_EQ(test, t->batch.unsure, DS_NMI_RECORDS);

	/* The last record leads into .text..ds, so only own branches are lost. Report no loss. */
	ds_test_start(t, DS_TEST_SLOTS, 0);
	ds_test_store_nr(t, DS_TEST_SLOTS - 1);
	ds_test_enter(t);
	ds_test_drain(t);
	KUNIT_EXPECT_FALSE(test, t->batch.full);
	ds_test_expect(test, 0, DS_TEST_SLOTS - 1);
}

static struct kunit_case ds_nmi_test_cases[] = {
	KUNIT_CASE(ds_test_nmi_tail),
	KUNIT_CASE(ds_test_nmi_wrong),
	KUNIT_CASE(ds_test_nmi_off),
	KUNIT_CASE(ds_test_nmi_entries),
	KUNIT_CASE(ds_test_nmi_no_entry),
	KUNIT_CASE(ds_test_nmi_user),
	KUNIT_CASE(ds_test_nmi_hidden),
	KUNIT_CASE(ds_test_nmi_head),
	KUNIT_CASE(ds_test_nmi_head_own),
	KUNIT_CASE(ds_test_interrupted),
	KUNIT_CASE(ds_test_full),
	{ }
};

static struct kunit_suite ds_nmi_test_suite = {
	.name		= "x86_ds_bts_nmi",
	.init		= ds_test_init,
	.test_cases	= ds_nmi_test_cases,
};

kunit_test_suite(ds_nmi_test_suite);
