// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the BTS driver: ds_records.c, and the handling of records in ds_cpu.c
 *
 * This file also contains the model that ds_kunit.h describes.
 */

#include <linux/slab.h>

#include "ds_kunit.h"

int ds_test_init(struct kunit *test)
{
	struct ds_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->slot = kunit_kcalloc(test, DS_TEST_SLOTS, sizeof(*t->slot), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->slot);
	test->priv = t;
	return 0;
}

/* Start with an empty buffer of @slots slots plus @rest bytes. */
void ds_test_start(struct ds_test *t, unsigned int slots, unsigned int rest)
{
	u64 base = (unsigned long)t->slot;

	memset(t->slot, 0, DS_TEST_SLOTS * sizeof(*t->slot));
	t->ds.bts_buffer_base = base;
	t->ds.bts_index = base;
	t->ds.bts_absolute_maximum = base + slots * sizeof(*t->slot) + rest;
	t->ip = DS_NOWHERE;
	t->cpu = (struct ds_bts_cpu){
		.ds	= &t->ds,
		.back	= DS_NOWHERE,
		.ctl	= t->circular ? 0 : DEBUGCTLMSR_BTINT,
		.debugctl = DEBUGCTLMSR_TR,
	};
	t->stored = 0;
}

/* Store a record. A circular buffer wraps when it is full or, if @lazy, one record later. */
void ds_test_store(struct ds_test *t, u64 from, u64 to)
{
	struct ds_bts_record rec = { .from = from, .to = to };
	u64 end = t->ds.bts_absolute_maximum - sizeof(rec);

	t->stored++;
	if (t->circular && t->ds.bts_index > end)
		t->ds.bts_index = t->ds.bts_buffer_base;
	if (t->ds.bts_index > end)
		return;
	*(struct ds_bts_record *)t->ds.bts_index = rec;
	t->ds.bts_index += sizeof(rec);
	if (t->circular && !t->lazy && t->ds.bts_index > end)
		t->ds.bts_index = t->ds.bts_buffer_base;
}

void ds_test_store_nr(struct ds_test *t, unsigned int nr)
{
	while (nr--)
		ds_test_store(t, DS_TEST_KERNEL + 1000 + t->stored,
			      DS_TEST_KERNEL + 2000 + t->stored);
}

u64 ds_test_place(void)
{
	return (unsigned long)__ds_text_start;
}

/* Store a record of a branch that leads into .text..ds. */
void ds_test_enter(struct ds_test *t)
{
	ds_test_store(t, DS_TEST_KERNEL + 1, ds_test_place());
}

void ds_test_leave(struct ds_test *t)
{
	ds_test_store(t, (unsigned long)__ds_text_end - 1, DS_TEST_KERNEL + 2);
}

/* Switch BTS off, store @late more records, and drain the buffer. */
static void ds_test_drain_late(struct ds_test *t, unsigned int late)
{
	t->cpu.end = t->ds.bts_index;
	ds_test_store_nr(t, late);
	t->batch = (struct ds_bts_batch){ };
	t->late = ds_late(&t->cpu);
	ds_slice(&t->cpu, &t->batch);
	ds_cut_own(&t->batch, &t->cpu, t->ip);
}

void ds_test_drain(struct ds_test *t)
{
	ds_test_drain_late(t, 0);
}

/* Expect exactly @nr records, beginning with record @first. */
void ds_test_expect(struct kunit *test, unsigned int first, unsigned int nr)
{
	struct ds_test *t = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ds_bts_nr(&t->batch), nr);
	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, ds_rec(&t->batch, i)->from,
				DS_TEST_KERNEL + 1000 + first + i);
		KUNIT_ASSERT_EQ(test, ds_rec(&t->batch, i)->to,
				DS_TEST_KERNEL + 2000 + first + i);
	}
}

/* The size of the buffer need not be a multiple of a record's size. */
static void ds_test_linear(struct kunit *test)
{
	static const unsigned int slots[] = { 1, 2, 3, 85, 341, DS_TEST_SLOTS - 1 };
	static const unsigned int rests[] = { 0, 1, 8, 23 };
	struct ds_test *t = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(slots) * ARRAY_SIZE(rests); i++) {
		unsigned int size = slots[i / ARRAY_SIZE(rests)];
		unsigned int rest = rests[i % ARRAY_SIZE(rests)];

		ds_test_start(t, size, rest);
		KUNIT_EXPECT_EQ(test, ds_slots(&t->ds), size);
		ds_test_store_nr(t, size + 1);
		ds_test_drain(t);
		KUNIT_EXPECT_TRUE(test, t->batch.full);
		ds_test_expect(test, 0, size);

		ds_test_start(t, size, rest);
		ds_test_store_nr(t, size - 1);
		ds_test_drain(t);
		KUNIT_EXPECT_FALSE(test, t->batch.full);
		KUNIT_EXPECT_FALSE(test, t->batch.wrapped);
		KUNIT_EXPECT_EQ(test, t->batch.own + t->batch.unsure, 0);
		ds_test_expect(test, 0, size - 1);
	}
}

/* Records are lost if perf resets the index while BTS is on, but not while BTS is off. */
static void ds_test_put_back(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, 100, 0);
	ds_test_store_nr(t, 70);
	t->ds.bts_index = t->ds.bts_buffer_base;
	ds_test_store_nr(t, 30);
	ds_test_drain(t);
	KUNIT_EXPECT_TRUE(test, t->batch.wrapped);
	ds_test_expect(test, 70, 30);

	ds_test_start(t, 100, 0);
	ds_test_store_nr(t, 70);
	t->cpu.end = t->ds.bts_index;
	t->ds.bts_index = t->ds.bts_buffer_base;
	t->batch = (struct ds_bts_batch){ };
	ds_slice(&t->cpu, &t->batch);
	KUNIT_EXPECT_FALSE(test, t->batch.wrapped);
	KUNIT_EXPECT_EQ(test, ds_late(&t->cpu), 0);
	ds_test_expect(test, 0, 70);

	/* If perf resets the index before a circular buffer wraps, the last slots stay empty. */
	t->circular = true;
	ds_test_start(t, 100, 0);
	ds_test_store_nr(t, 70);
	t->ds.bts_index = t->ds.bts_buffer_base;
	ds_test_store_nr(t, 30);
	ds_test_drain(t);
	KUNIT_EXPECT_TRUE(test, t->batch.wrapped);
	ds_test_expect(test, 31, 69);
}

static void ds_test_wrap_one(struct kunit *test, unsigned int size,
			     unsigned int rest, unsigned int nr)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, size, rest);
	ds_test_store_nr(t, nr);
	ds_test_drain(t);
	KUNIT_ASSERT_FALSE(test, t->batch.full);
	KUNIT_ASSERT_EQ(test, t->batch.wrapped, nr >= size);
	if (nr < size)
		ds_test_expect(test, 0, nr);
	else
		ds_test_expect(test, nr - size + 1, size - 1);
}

/*
 * When a circular buffer is full, the hardware resets the index immediately or, if @lazy, when it
 * stores the next record. In both cases, the driver must notice that the buffer has wrapped.
 */
static void ds_test_wrap(struct kunit *test)
{
	static const unsigned int slots[] = { 2, 3, 100, DS_TEST_SLOTS - 1 };
	struct ds_test *t = test->priv;
	int i, k;

	t->circular = true;
	for (i = 0; i < 4 * ARRAY_SIZE(slots); i++) {
		const unsigned int size = slots[i / 4];
		const unsigned int counts[] = {
			1, size - 1, size, size + 1, 2 * size - 1, 2 * size,
			2 * size + 1, 5 * size, 5 * size + size / 2
		};

		t->lazy = i & 1;
		for (k = 0; k < ARRAY_SIZE(counts); k++)
			ds_test_wrap_one(test, size, i & 2 ? 23 : 0, counts[k]);
	}
}

/* Late records, stored after BTS is off, are not in the batch, but may overwrite its records. */
static void ds_test_late(struct kunit *test)
{
	const unsigned int size = 20, late = 3;
	struct ds_test *t = test->priv;
	unsigned int nr;

	ds_test_start(t, size, 0);
	ds_test_store_nr(t, 7);
	ds_test_drain_late(t, late);
	ds_test_expect(test, 0, 7);

	t->circular = true;
	for (nr = 1; nr < 5 * size; nr++) {
		t->lazy = nr & 1;
		ds_test_start(t, size, 0);
		ds_test_store_nr(t, nr);
		ds_test_drain_late(t, late);
		KUNIT_ASSERT_EQ(test, t->late, late);
		KUNIT_ASSERT_EQ(test, t->batch.wrapped, nr + late >= size);
		if (nr + late < size)
			ds_test_expect(test, 0, nr);
		else
			ds_test_expect(test, nr + late - size + 1, size - late - 1);
	}
}

/* Even after a wrap, the driver counts the tracer's own branches and leaves them out. */
static void ds_test_wrap_own(struct kunit *test)
{
	const unsigned int size = 10;
	struct ds_test *t = test->priv;
	unsigned int nr;

	t->circular = true;
	for (nr = 0; nr < 4 * size; nr++) {
		unsigned int most = size - 1;

		ds_test_start(t, size, 0);
		ds_test_leave(t);
		ds_test_leave(t);
		ds_test_store_nr(t, nr);
		ds_test_enter(t);
		ds_test_drain(t);
		/*
		 * The first two branches and the last branch are the tracer's own. If the buffer
		 * wraps, the driver drops the oldest record.
		 */
		if (nr + 3 < size)
			ds_test_expect(test, 2, nr);
		else
			ds_test_expect(test, max(nr + 3 - most, 2U),
				       min(nr, most - 1));
		KUNIT_ASSERT_EQ(test, ds_bts_nr(&t->batch) + t->batch.own,
				min(nr + 3, most));
	}
}

/* A record at either end of a batch is left out if its origin or target is in .text..ds. */
static void ds_test_place_only(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	ds_test_leave(t);
	ds_test_store_nr(t, 600);
	ds_test_store(t, DS_TEST_KERNEL, ds_test_place() - 1);
	ds_test_store(t, (unsigned long)__ds_text_end, DS_TEST_KERNEL);
	ds_test_enter(t);
	ds_test_store(t, ds_test_place(), ds_test_place() + 1);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 602);
	KUNIT_EXPECT_EQ(test, t->batch.own, 3);
	KUNIT_EXPECT_EQ(test, t->batch.unsure, 0);

	/* All branches of this batch are the tracer's own. */
	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	ds_test_leave(t);
	ds_test_enter(t);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 0);
	KUNIT_EXPECT_EQ(test, t->batch.own, 2);
}

/* This function only ensures that the section of return thunks is never empty. */
static void __used __section(".text..__x86.return_thunk") ds_test_thunk(void)
{
}

/* If a branch of .text..ds leads to a return thunk, the thunk's branch is left out, too. */
static void ds_test_return_thunk(struct kunit *test)
{
	u64 thunk = (unsigned long)ds_test_thunk;
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	ds_test_store(t, ds_test_place(), thunk);
	ds_test_store(t, thunk, DS_TEST_KERNEL);
	ds_test_store_nr(t, 5);
	ds_test_drain(t);
	ds_test_expect(test, 2, 5);

	/* If code outside .text..ds uses the thunk, the thunk's branch stays in the batch. */
	ds_test_start(t, DS_TEST_SLOTS - 1, 0);
	ds_test_store(t, thunk, DS_TEST_KERNEL);
	ds_test_drain(t);
	KUNIT_EXPECT_EQ(test, ds_bts_nr(&t->batch), 1);
}

static void ds_test_ctl(struct kunit *test)
{
	const u64 on = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;
	const u64 all = on | DEBUGCTLMSR_BTINT;
	const unsigned int filter = DS_BTS_CPL_FILTER;

	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_OFF, true), 0);
	KUNIT_EXPECT_EQ(test, ds_ctl(filter | DS_BTS_CIRCULAR, true), 0);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_USER, true), all);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_KERNEL, true), all);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_KERNEL | DS_BTS_CIRCULAR, true), on);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_USER | filter, true),
			all | DEBUGCTLMSR_BTS_OFF_OS);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_KERNEL | filter, true),
			all | DEBUGCTLMSR_BTS_OFF_USR);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_USER | DS_BTS_KERNEL | filter, true), all);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_USER | filter, false), all);
}

static void ds_test_cpl_trait(struct kunit *test)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_TEST_SLOTS, 0);
	t->cpu.end = t->ds.bts_index;
	ds_slice(&t->cpu, &t->batch);
	KUNIT_EXPECT_EQ(test, ds_cpl_trait(&t->batch), 0);

	ds_test_store(t, DS_TEST_USER, DS_TEST_USER + 1);
	t->cpu.end = t->ds.bts_index;
	ds_slice(&t->cpu, &t->batch);
	KUNIT_EXPECT_EQ(test, ds_cpl_trait(&t->batch), 0);

	ds_test_store(t, DS_TEST_USER, DS_TEST_ENTRY);
	t->cpu.end = t->ds.bts_index;
	ds_slice(&t->cpu, &t->batch);
	KUNIT_EXPECT_EQ(test, ds_cpl_trait(&t->batch), DS_TRAIT_CPL_BEFORE);

	ds_test_start(t, DS_TEST_SLOTS, 0);
	ds_test_store(t, DS_TEST_ENTRY, DS_TEST_USER);
	t->cpu.end = t->ds.bts_index;
	ds_slice(&t->cpu, &t->batch);
	KUNIT_EXPECT_EQ(test, ds_cpl_trait(&t->batch), DS_TRAIT_CPL_AFTER);
}

/* Simulate a PMI after @more branches of traced code and a branch into .text..ds. */
static void ds_test_idle_pmi(struct ds_test *t, struct ds_bts_cpu *c, unsigned int more)
{
	ds_test_store_nr(t, more);
	ds_test_enter(t);
	c->end = t->ds.bts_index;
	ds_hand_over(c, DS_DRAIN_INTERRUPT, DS_TEST_IP);
}

/* Recording stops after too many consecutive interrupts without records of traced code. */
static void ds_test_stop(struct kunit *test)
{
	struct ds_test *t = test->priv;
	struct ds_bts_cpu c = {
		.ds	= &t->ds,
		.back	= DS_NOWHERE,
		.ctl	= ds_ctl(DS_BTS_USER, false),
		.debugctl = DEBUGCTLMSR_TR,
	};
	int i;

	ds_test_start(t, DS_TEST_SLOTS, 0);
	for (i = 0; i < 3 * DS_IDLE_PMIS; i++)
		ds_test_idle_pmi(t, &c, i % (DS_IDLE_PMIS - 1) == 0);
	KUNIT_EXPECT_NE(test, c.ctl, 0);

	ds_test_idle_pmi(t, &c, 1);
	for (i = 0; i < DS_IDLE_PMIS; i++) {
		KUNIT_EXPECT_NE(test, c.ctl, 0);
		ds_test_idle_pmi(t, &c, 0);
	}
	KUNIT_EXPECT_EQ(test, c.ctl, 0);
}

static struct kunit_case ds_test_cases[] = {
	KUNIT_CASE(ds_test_linear),
	KUNIT_CASE(ds_test_put_back),
	KUNIT_CASE(ds_test_wrap),
	KUNIT_CASE(ds_test_late),
	KUNIT_CASE(ds_test_wrap_own),
	KUNIT_CASE(ds_test_place_only),
	KUNIT_CASE(ds_test_return_thunk),
	KUNIT_CASE(ds_test_ctl),
	KUNIT_CASE(ds_test_cpl_trait),
	KUNIT_CASE(ds_test_stop),
	{ }
};

static struct kunit_suite ds_test_suite = {
	.name		= "x86_ds_bts",
	.init		= ds_test_init,
	.test_cases	= ds_test_cases,
};

kunit_test_suite(ds_test_suite);
