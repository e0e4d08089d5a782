// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of ds.c, at whose end this file is included.
 *
 * Most of them drain a Debug Store that is made up here, filled by a model of
 * the hardware: record n is the branch from 1000 + n to 2000 + n in kernel
 * space, so that its number is known wherever it turns up, and others are put
 * between. The last ones claim the real one, where there is one.
 */

#include <kunit/test.h>

/* Not perf's number, and enough to lie on both sides of the threshold. */
#define DS_TEST_SLOTS	1001U

#define DS_TEST_KERNEL	0xffffffff00000000UL

/* A made-up tracer, and what it interrupts. */
#define DS_TEST_ENTRY	(DS_TEST_KERNEL + 0x100)
#define DS_TEST_RESUME	(DS_TEST_KERNEL + 0x200)
#define DS_TEST_USER	0x401000UL

struct ds_test {
	struct debug_store	ds;
	struct ds_bts_cpu	c;
	struct ds_bts_record	*slot;
	u64			stored;
	bool			lazy;

	/* What the client was given. */
	struct ds_bts_batch	batch;
	struct ds_bts_record	*got;
	unsigned int		calls;
};

/* Of the drain that is going on, under ds_bts_mutex. */
static struct ds_test *ds_test_now;

static void ds_test_records(const struct ds_bts_batch *batch)
{
	struct ds_test *t = ds_test_now;

	t->batch = *batch;
	t->calls++;
	memcpy(t->got, batch->rec, batch->nr * sizeof(*batch->rec));
}

static unsigned int ds_test_mode(struct task_struct *task)
{
	return DS_BTS_OFF;
}

static const struct ds_bts_client ds_test_client = {
	.entries	= { DS_TEST_ENTRY },
	.records	= ds_test_records,
	.mode		= ds_test_mode,
};

/* The drain of ds_update(), with nothing of the hardware. */
static void ds_test_drain(struct kunit *test, enum ds_drain_cause cause,
			  struct ds_bts_bounds *way)
{
	struct ds_test *t = test->priv;
	unsigned int slack;
	bool busy;

	t->calls = 0;
	mutex_lock(&ds_bts_mutex);
	busy = ds_bts_client;
	if (!busy) {
		ds_test_now = t;
		ds_bts_client = &ds_test_client;
		/* The CPU's, which the next claim goes by. */
		migrate_disable();
		slack = this_cpu_read(ds_bts_slack);
		ds_drain(&t->c, cause, way);
		this_cpu_write(ds_bts_slack, slack);
		migrate_enable();
		ds_bts_client = NULL;
	}
	mutex_unlock(&ds_bts_mutex);
	if (busy)
		kunit_skip(test, "BTS is claimed");
}

/* A drain that has left no branch of the tracer's in the buffer. */
static void ds_test_switch(struct kunit *test)
{
	struct ds_bts_bounds way = {
		.how	= DS_CRASHED,
	};

	ds_test_drain(test, DS_DRAIN_SWITCH, &way);
}

/* Start with an empty buffer whose size is odd by @rest bytes. */
static void ds_test_start(struct ds_test *t, unsigned int mode,
			  unsigned int slots, unsigned int rest)
{
	u64 base = (unsigned long)t->slot;

	memset(&t->c, 0, sizeof(t->c));
	memset(t->slot, 0xff, DS_TEST_SLOTS * sizeof(*t->slot));
	t->ds.bts_buffer_base = base;
	t->ds.bts_index = base;
	t->ds.bts_absolute_maximum = base + slots * sizeof(*t->slot) + rest;
	t->c.ds = &t->ds;
	t->c.mode = mode;
	t->stored = 0;
	ds_prepare(&t->ds, mode);
}

/* The hardware. It may wrap when the buffer is full, or at the next record. */
static void ds_test_store(struct ds_test *t, u64 from, u64 to)
{
	bool circular = t->c.mode & DS_BTS_CIRCULAR;
	struct ds_bts_record rec = { .from = from, .to = to };
	u64 end = t->ds.bts_absolute_maximum - sizeof(rec);

	t->stored++;
	if (circular && t->ds.bts_index > end)
		t->ds.bts_index = t->ds.bts_buffer_base;
	if (t->ds.bts_index > end)
		return;
	*(struct ds_bts_record *)t->ds.bts_index = rec;
	t->ds.bts_index += sizeof(rec);
	if (circular && !t->lazy && t->ds.bts_index > end)
		t->ds.bts_index = t->ds.bts_buffer_base;
}

static void ds_test_store_nr(struct ds_test *t, unsigned int nr)
{
	while (nr--)
		ds_test_store(t, DS_TEST_KERNEL + 1000 + t->stored,
			      DS_TEST_KERNEL + 2000 + t->stored);
}

static void ds_test_expect(struct kunit *test, unsigned int first,
			   unsigned int nr)
{
	struct ds_test *t = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, t->batch.nr, nr);
	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, t->got[i].from,
				DS_TEST_KERNEL + 1000 + first + i);
		KUNIT_ASSERT_EQ(test, t->got[i].to,
				DS_TEST_KERNEL + 2000 + first + i);
	}
}

static int ds_test_init(struct kunit *test)
{
	size_t size = DS_TEST_SLOTS * sizeof(struct ds_bts_record);
	struct ds_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->slot = kunit_kzalloc(test, size, GFP_KERNEL);
	t->got = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->slot);
	KUNIT_ASSERT_NOT_NULL(test, t->got);
	test->priv = t;
	return 0;
}

static void ds_test_linear(struct kunit *test)
{
	static const unsigned int counts[] = {
		1, 2, DS_BTS_THRESHOLD, DS_TEST_SLOTS - 1
	};
	struct ds_test *t = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		ds_test_start(t, DS_BTS_KERNEL, DS_TEST_SLOTS, 0);
		ds_test_store_nr(t, counts[i]);
		ds_test_switch(test);
		KUNIT_EXPECT_EQ(test, t->calls, 1);
		KUNIT_EXPECT_EQ(test, t->batch.cause, DS_DRAIN_SWITCH);
		KUNIT_EXPECT_FALSE(test, t->batch.full);
		KUNIT_EXPECT_FALSE(test, t->batch.wrapped);
		KUNIT_EXPECT_EQ(test, t->batch.own, 0);
		ds_test_expect(test, 0, counts[i]);
		KUNIT_EXPECT_EQ(test, t->ds.bts_index, t->ds.bts_buffer_base);
		/* Nothing is old the next time. */
		ds_test_switch(test);
		KUNIT_EXPECT_EQ(test, t->calls, 0);
	}
}

/* The end of the buffer need not be a record's. */
static void ds_test_odd_sizes(struct kunit *test)
{
	static const unsigned int slots[] = { 1, 2, 3, 85, 341, DS_TEST_SLOTS - 1 };
	static const unsigned int rests[] = { 0, 1, 8, 23 };
	struct ds_test *t = test->priv;
	int i, k;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		for (k = 0; k < ARRAY_SIZE(rests); k++) {
			ds_test_start(t, DS_BTS_KERNEL, slots[i], rests[k]);
			KUNIT_EXPECT_EQ(test, ds_slots(&t->ds), slots[i]);
			ds_test_store_nr(t, slots[i] + 1);
			ds_test_switch(test);
			KUNIT_EXPECT_TRUE(test, t->batch.full);
			ds_test_expect(test, 0, slots[i]);

			ds_test_start(t, DS_BTS_KERNEL, slots[i], rests[k]);
			ds_test_store_nr(t, slots[i] - 1);
			ds_test_switch(test);
			KUNIT_EXPECT_EQ(test, t->calls, slots[i] > 1);
			KUNIT_EXPECT_FALSE(test, t->calls && t->batch.full);
		}
	}
}

static void ds_test_wrap_one(struct kunit *test, unsigned int size,
			     unsigned int rest, unsigned int nr)
{
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_BTS_KERNEL | DS_BTS_CIRCULAR, size, rest);
	ds_test_store_nr(t, nr);
	ds_test_switch(test);
	KUNIT_ASSERT_EQ(test, t->calls, 1);
	KUNIT_ASSERT_FALSE(test, t->batch.full);
	KUNIT_ASSERT_EQ(test, t->batch.wrapped, nr >= size);
	KUNIT_ASSERT_EQ(test, t->batch.own, 0);
	if (nr < size)
		ds_test_expect(test, 0, nr);
	else
		ds_test_expect(test, nr - size + 1, size - 1);

	/* The mark is set anew. */
	ds_prepare(&t->ds, t->c.mode);
	ds_test_switch(test);
	KUNIT_ASSERT_EQ(test, t->calls, 0);
}

/* Has a circular buffer wrapped? Never a guess, whenever the hardware wraps. */
static void ds_test_wrap(struct kunit *test)
{
	static const unsigned int slots[] = { 2, 3, 100, DS_TEST_SLOTS - 1 };
	struct ds_test *t = test->priv;
	int i, k;

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

static void ds_test_leave(struct ds_test *t, enum ds_bts_entry how,
			  unsigned long resume)
{
	t->c.leaving = true;
	t->c.way.how = how;
	t->c.way.entry = DS_TEST_ENTRY;
	t->c.way.resume = resume;
}

/* The way out of the tracer, at the oldest end of a buffer that has wrapped. */
static void ds_test_wrap_way_out(struct kunit *test)
{
	const unsigned int size = 900, out = 40;
	struct ds_test *t = test->priv;
	unsigned int more;

	for (more = 1; more < 2 * out; more++) {
		ds_test_start(t, DS_BTS_KERNEL | DS_BTS_CIRCULAR, size, 0);
		ds_test_leave(t, DS_CALLED, DS_TEST_RESUME);
		ds_test_store_nr(t, out - 1);
		ds_test_store(t, DS_TEST_ENTRY, DS_TEST_RESUME);
		ds_test_store_nr(t, size - out + more);
		ds_test_switch(test);
		KUNIT_ASSERT_TRUE(test, t->batch.wrapped);
		if (more < out)
			ds_test_expect(test, out, size - out + more);
		else
			ds_test_expect(test, more + 1, size - 1);
		KUNIT_ASSERT_FALSE(test, t->c.leaving);
	}

	/* Beyond where it can be, a look-alike is the traced code's. */
	ds_test_start(t, DS_BTS_KERNEL | DS_BTS_CIRCULAR, size, 0);
	ds_test_leave(t, DS_CALLED, DS_TEST_RESUME);
	ds_test_store_nr(t, DS_BTS_WAY_OUT + 1);
	ds_test_store(t, DS_TEST_ENTRY, DS_TEST_RESUME);
	ds_test_store_nr(t, 2 * out + size - (unsigned int)t->stored);
	ds_test_switch(test);
	KUNIT_EXPECT_EQ(test, t->batch.nr, size - 1);
}

static unsigned int ds_test_tail(struct ds_bts_bounds way,
				 const struct ds_bts_record *rec,
				 unsigned int nr)
{
	return ds_own_tail(&way, rec, nr);
}

#define DS_TEST_REC(f, t)	{ .from = (unsigned long)(f), .to = (unsigned long)(t) }
#define DS_TEST_K(n)		(DS_TEST_KERNEL + 0x1000 + (n))

static void ds_test_own_tail(struct kunit *test)
{
	const struct ds_bts_record called[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_ENTRY),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_K(2)),
		DS_TEST_REC(DS_TEST_K(3), DS_TEST_ENTRY),
		DS_TEST_REC(DS_TEST_ENTRY + 4, DS_TEST_K(4)),
		DS_TEST_REC(DS_TEST_K(4), DS_TEST_K(5)),
	};
	const struct ds_bts_record nmi[] = {
		DS_TEST_REC(DS_TEST_RESUME, DS_TEST_K(0)),
		DS_TEST_REC(DS_TEST_RESUME, __entry_text_start),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_RESUME + 1, __entry_text_start),
	};
	const struct ds_bts_record user[] = {
		DS_TEST_REC(DS_TEST_USER, DS_TEST_USER + 8),
		DS_TEST_REC(DS_TEST_USER + 8, __entry_text_start),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(1)),
	};
	struct ds_bts_bounds call = { DS_CALLED, DS_TEST_ENTRY, DS_TEST_RESUME };
	struct ds_bts_bounds intr = { DS_INTERRUPTED, 0, DS_TEST_RESUME };
	struct ds_bts_bounds from_user = { DS_INTERRUPTED, 0, DS_TEST_USER + 8 };
	struct ds_bts_bounds elsewhere = { DS_INTERRUPTED, 0, DS_TEST_USER + 16 };

	/* The last call is the one, and its branch belongs to it. */
	KUNIT_EXPECT_EQ(test, ds_test_tail(call, called, 5), 3);
	KUNIT_EXPECT_EQ(test, ds_test_tail(call, called, 3), 1);
	KUNIT_EXPECT_EQ(test, ds_test_tail(call, called, 2), 2);
	/* Not there: an NMI has taken it, and all is the tracer's. */
	KUNIT_EXPECT_EQ(test, ds_test_tail(call, called + 3, 2), 2);
	KUNIT_EXPECT_EQ(test, ds_test_tail(call, called, 0), 0);
	/* A call comes from the kernel: what is behind a user's end is not it. */
	KUNIT_EXPECT_EQ(test, ds_test_tail(call, user, 3), 0);

	/* The interrupted instruction, and to the entry text only. */
	KUNIT_EXPECT_EQ(test, ds_test_tail(intr, nmi, 4), 3);
	KUNIT_EXPECT_EQ(test, ds_test_tail(intr, nmi, 2), 1);
	/* Not there: a guest's time ended, and the CPU had stopped storing for it. */
	KUNIT_EXPECT_EQ(test, ds_test_tail(intr, nmi, 1), 0);
	KUNIT_EXPECT_EQ(test, ds_test_tail(from_user, user, 3), 2);
	/* In user space, and its branch filtered out by the hardware. */
	KUNIT_EXPECT_EQ(test, ds_test_tail(elsewhere, user, 3), 1);
	KUNIT_EXPECT_EQ(test, ds_test_tail(elsewhere, user, 1), 0);
}

static void ds_test_own_ipi(struct kunit *test)
{
	const struct ds_bts_record ipi[] = {
		DS_TEST_REC(DS_TEST_K(0), asm_sysvec_call_function),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_K(2)),
		DS_TEST_REC(DS_TEST_K(3), asm_sysvec_call_function_single),
		DS_TEST_REC(DS_TEST_K(4), DS_TEST_ENTRY),
	};
	struct ds_bts_bounds way = { DS_IPI, DS_TEST_ENTRY, DS_TEST_RESUME };

	KUNIT_EXPECT_EQ(test, ds_own_tail(&way, ipi, 4), 2);
	/* It is left like any interrupt, to where it came from. */
	KUNIT_EXPECT_EQ(test, way.how, DS_INTERRUPTED);
	KUNIT_EXPECT_EQ(test, way.resume, DS_TEST_K(3));
}

/* An NMI amid the way to a drain that another CPU has asked for. */
static void ds_test_ipi_tail(struct kunit *test)
{
	const struct ds_bts_record rec[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(1), asm_sysvec_call_function),
		DS_TEST_REC(asm_sysvec_call_function, DS_TEST_K(2)),
		DS_TEST_REC(DS_TEST_K(2), DS_TEST_K(1)),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(4), DS_TEST_K(5)),
	};
	const struct ds_bts_record user[] = {
		DS_TEST_REC(DS_TEST_USER, asm_sysvec_call_function_single),
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_K(1)),
		DS_TEST_REC(__entry_text_start, DS_TEST_USER + 8),
	};
	struct ds_bts_bounds ipi = { };

	/* It has begun. */
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(rec, 4, &ipi), 3);
	KUNIT_EXPECT_EQ(test, ipi.resume, DS_TEST_K(1));
	/* It goes on, also to code like that which it has interrupted. */
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(rec + 3, 1, &ipi), 1);
	KUNIT_EXPECT_EQ(test, ipi.resume, DS_TEST_K(1));
	/* It has ended. */
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(rec + 4, 2, &ipi), 0);
	KUNIT_EXPECT_EQ(test, ipi.resume, 0);
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(rec, 6, &ipi), 0);
	KUNIT_EXPECT_EQ(test, ipi.resume, 0);
	/* There was none. */
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(rec + 5, 1, &ipi), 0);
	/* One that hit user space ends when that is reached, wherever. */
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(user, 2, &ipi), 2);
	KUNIT_EXPECT_EQ(test, ipi.resume, DS_TEST_USER);
	KUNIT_EXPECT_EQ(test, ds_ipi_tail(user + 2, 1, &ipi), 0);
	KUNIT_EXPECT_EQ(test, ipi.resume, 0);
}

/* @nr records before @at are the traced code's, those from it on are added. */
static void ds_test_fill(struct ds_test *t, unsigned int at,
			 const struct ds_bts_record *rec, unsigned int nr)
{
	ds_test_start(t, DS_BTS_KERNEL, DS_TEST_SLOTS, 0);
	ds_test_store_nr(t, at);
	for (; nr; nr--, rec++)
		ds_test_store(t, rec->from, rec->to);
}

static void ds_test_full(struct kunit *test)
{
	const struct ds_bts_record called[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_ENTRY),
		DS_TEST_REC(DS_TEST_ENTRY, DS_TEST_K(1)),
	};
	const struct ds_bts_record nmi[] = {
		DS_TEST_REC(DS_TEST_RESUME, __entry_text_start),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(1)),
	};
	const struct ds_bts_record ipi[] = {
		DS_TEST_REC(DS_TEST_K(0), asm_sysvec_call_function),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_ENTRY),
	};
	const unsigned int end = DS_TEST_SLOTS - 2;
	struct ds_bts_bounds call = { DS_CALLED, DS_TEST_ENTRY, DS_TEST_RESUME };
	struct ds_bts_bounds intr = { DS_INTERRUPTED, 0, DS_TEST_RESUME };
	struct ds_bts_bounds from_ipi = { DS_IPI, DS_TEST_ENTRY, DS_TEST_RESUME };
	struct ds_test *t = test->priv;

	/* There was room for the way in, or for its first branch. */
	ds_test_fill(t, end, called, 2);
	ds_test_drain(test, DS_DRAIN_SWITCH, &call);
	KUNIT_EXPECT_TRUE(test, t->batch.full);
	ds_test_expect(test, 0, end);
	KUNIT_EXPECT_EQ(test, t->batch.own, 2);
	ds_test_fill(t, end + 1, called, 2);
	ds_test_drain(test, DS_DRAIN_SWITCH, &call);
	ds_test_expect(test, 0, end + 1);

	/* There was none: nothing is the tracer's. */
	ds_test_fill(t, end + 2, called, 2);
	ds_test_drain(test, DS_DRAIN_SWITCH, &call);
	ds_test_expect(test, 0, end + 2);
	KUNIT_EXPECT_EQ(test, t->batch.own, 0);

	/* An NMI that was entered behind the threshold is ours, */
	ds_test_fill(t, end, nmi, 2);
	ds_test_drain(test, DS_DRAIN_INTERRUPT, &intr);
	ds_test_expect(test, 0, end);
	KUNIT_EXPECT_EQ(test, t->batch.own, 2);
	ds_test_fill(t, DS_BTS_THRESHOLD, nmi, 2);
	ds_test_store_nr(t, end);
	ds_test_drain(test, DS_DRAIN_INTERRUPT, &intr);
	KUNIT_EXPECT_EQ(test, t->batch.nr, DS_BTS_THRESHOLD);

	/* an earlier one is not, though it hit the same instruction. */
	ds_test_fill(t, DS_BTS_THRESHOLD - 1, nmi, 2);
	ds_test_store_nr(t, end);
	ds_test_drain(test, DS_DRAIN_INTERRUPT, &intr);
	KUNIT_EXPECT_EQ(test, t->batch.nr, DS_TEST_SLOTS);
	KUNIT_EXPECT_EQ(test, t->batch.own, 0);

	/* The IPI whose call is there; any other may be somebody else's. */
	ds_test_fill(t, end, ipi, 2);
	ds_test_drain(test, DS_DRAIN_FLUSH, &from_ipi);
	ds_test_expect(test, 0, end);
	KUNIT_EXPECT_EQ(test, from_ipi.how, DS_INTERRUPTED);
	from_ipi.how = DS_IPI;
	from_ipi.entry = DS_TEST_ENTRY;
	ds_test_fill(t, end + 1, ipi, 1);
	ds_test_drain(test, DS_DRAIN_FLUSH, &from_ipi);
	KUNIT_EXPECT_EQ(test, t->batch.nr, DS_TEST_SLOTS);
}

static void ds_test_own_head(struct kunit *test)
{
	const struct ds_bts_record called[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_RESUME),
		DS_TEST_REC(DS_TEST_K(2), DS_TEST_K(3)),
	};
	const struct ds_bts_record user[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_USER),
	};
	const struct ds_bts_record work[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(1), __do_softirq),
	};
	struct ds_test *t = test->priv;
	struct ds_bts_cpu *c = &t->c;

	KUNIT_EXPECT_EQ(test, ds_own_head(c, called, 3), 0);

	ds_test_leave(t, DS_CALLED, DS_TEST_RESUME);
	KUNIT_EXPECT_EQ(test, ds_own_head(c, called, 3), 2);
	KUNIT_EXPECT_FALSE(test, c->leaving);

	/* It goes on in the next batch, and ends there. */
	ds_test_leave(t, DS_CALLED, DS_TEST_RESUME);
	KUNIT_EXPECT_EQ(test, ds_own_head(c, called, 1), 1);
	KUNIT_EXPECT_TRUE(test, c->leaving);
	KUNIT_EXPECT_EQ(test, ds_own_head(c, called + 1, 2), 1);
	KUNIT_EXPECT_FALSE(test, c->leaving);

	/* An interrupt ends in the entry text, not anywhere. */
	ds_test_leave(t, DS_INTERRUPTED, DS_TEST_RESUME);
	KUNIT_EXPECT_EQ(test, ds_own_head(c, called, 3), 3);
	KUNIT_EXPECT_TRUE(test, c->leaving);

	/* The traced code's own: user space, and work of an interrupt's exit. */
	ds_test_leave(t, DS_CALLED, DS_TEST_RESUME);
	KUNIT_EXPECT_EQ(test, ds_own_head(c, user, 2), 1);
	ds_test_leave(t, DS_INTERRUPTED, DS_TEST_RESUME);
	KUNIT_EXPECT_EQ(test, ds_own_head(c, work, 2), 1);
	KUNIT_EXPECT_FALSE(test, c->leaving);
}

/* One of our own NMIs, at the client's first instruction; how many are shown? */
static unsigned int ds_test_nmi_at_entry(struct kunit *test)
{
	struct ds_bts_bounds way = { DS_INTERRUPTED, 0, DS_TEST_ENTRY };
	struct ds_test *t = test->priv;

	ds_test_store(t, DS_TEST_ENTRY, (unsigned long)__entry_text_start);
	ds_test_store_nr(t, 2);
	ds_test_drain(test, DS_DRAIN_INTERRUPT, &way);
	ds_leave(&t->c, DS_DRAIN_INTERRUPT, &way);
	ds_test_store_nr(t, 2);
	ds_test_store(t, (unsigned long)__entry_text_start, DS_TEST_ENTRY);
	return t->batch.nr;
}

/* The call is left out, and so is an NMI that comes before the client has drained. */
static void ds_test_entry_tail(struct kunit *test)
{
	struct ds_bts_bounds call = { DS_CALLED, DS_TEST_ENTRY, DS_TEST_RESUME };
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_BTS_KERNEL, DS_TEST_SLOTS, 0);
	ds_test_store_nr(t, 3);
	ds_test_store(t, DS_TEST_K(0), DS_TEST_ENTRY);
	KUNIT_EXPECT_EQ(test, ds_test_nmi_at_entry(test), 3);

	/* Perf's, amid which the threshold is reached. */
	ds_test_store(t, DS_TEST_ENTRY, (unsigned long)__entry_text_start);
	ds_test_store_nr(t, 3);
	ds_test_store(t, (unsigned long)__entry_text_start, DS_TEST_ENTRY);
	KUNIT_EXPECT_EQ(test, ds_test_nmi_at_entry(test), 0);

	ds_test_store_nr(t, 1);
	ds_test_drain(test, DS_DRAIN_SWITCH, &call);
	KUNIT_EXPECT_EQ(test, t->batch.nr, 0);

	/* That was that: what comes now is shown. */
	ds_leave(&t->c, DS_DRAIN_SWITCH, &call);
	ds_test_store(t, DS_TEST_ENTRY, DS_TEST_RESUME);
	ds_test_store_nr(t, 4);
	KUNIT_EXPECT_EQ(test, ds_test_nmi_at_entry(test), 4);
}

/* An interrupt that has brought the tracer here, and does something else. */
static void ds_test_show_entry(struct kunit *test)
{
	struct ds_bts_record rec[] = {
		DS_TEST_REC(DS_TEST_K(0), DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_K(2)),
		DS_TEST_REC(DS_TEST_K(2), __do_softirq),
		DS_TEST_REC(__entry_text_start, DS_TEST_USER),
	};
	struct ds_bts_batch batch = {
		.rec	= rec,
		.nr	= 4,
	};
	struct ds_bts_bounds way = { .how = DS_INTERRUPTED };
	struct ds_test *t = test->priv;
	struct ds_bts_cpu *c = &t->c;

	ds_test_leave(t, DS_INTERRUPTED, DS_TEST_USER);
	c->leaving = false;
	/* It was an NMI, which does nothing else. */
	c->way.entry = 0;
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 2), 2);

	/* Nothing was dropped, or all; or what is left is no work. */
	c->way.entry = (unsigned long)asm_sysvec_call_function;
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 0), 0);
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 1), 1);
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 4), 4);

	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 2), 1);
	KUNIT_EXPECT_EQ(test, rec[1].from, DS_TEST_USER);
	KUNIT_EXPECT_EQ(test, rec[1].to, (unsigned long)asm_sysvec_call_function);

	/* The interrupt had ended. */
	rec[1].from = (unsigned long)__entry_text_start;
	rec[1].to = DS_TEST_USER;
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 2), 2);

	/* It goes on; unless it calls the tracer. */
	batch.nr = 1;
	c->leaving = true;
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 1), 1);
	way.how = DS_CALLED;
	KUNIT_EXPECT_EQ(test, ds_show_entry(c, &batch, &way, 1), 0);
	KUNIT_EXPECT_EQ(test, rec[0].from, DS_TEST_USER);
}

/* An interrupt amid the way out of another one does not end that; a call does. */
static void ds_test_leave_amid(struct kunit *test)
{
	const struct ds_bts_bounds ipi = { DS_IPI, DS_TEST_ENTRY, DS_TEST_K(0) };
	const struct ds_bts_bounds call = { DS_CALLED, DS_TEST_ENTRY, DS_TEST_K(1) };
	struct ds_test *t = test->priv;
	struct ds_bts_cpu *c = &t->c;

	ds_test_leave(t, DS_INTERRUPTED, DS_TEST_RESUME);
	ds_leave(c, DS_DRAIN_FLUSH, &ipi);
	KUNIT_EXPECT_EQ(test, c->way.resume, DS_TEST_RESUME);
	ds_leave(c, DS_DRAIN_SWITCH, &call);
	KUNIT_EXPECT_EQ(test, c->way.resume, DS_TEST_K(1));

	/* Where an NMI has left out the beginning, it has told of it. */
	c->leaving = false;
	c->ipi = (struct ds_bts_bounds){ DS_INTERRUPTED, 0, DS_TEST_USER };
	ds_leave(c, DS_DRAIN_FLUSH, &ipi);
	KUNIT_EXPECT_EQ(test, c->way.how, DS_INTERRUPTED);
	KUNIT_EXPECT_EQ(test, c->way.resume, DS_TEST_USER);
	KUNIT_EXPECT_EQ(test, c->ipi.resume, 0);

	/* And when BTS goes off there: what it told is not for the next time. */
	c->ipi = (struct ds_bts_bounds){ DS_INTERRUPTED, 0, DS_TEST_USER };
	ds_go(c, DS_BTS_OFF, DS_DRAIN_STOP, &ipi);
	KUNIT_EXPECT_EQ(test, c->ipi.resume, 0);
	KUNIT_EXPECT_FALSE(test, c->leaving);
}

static void ds_test_crash(struct kunit *test)
{
	const struct ds_bts_record fault[] = {
		DS_TEST_REC(DS_TEST_USER, __entry_text_start),
		DS_TEST_REC(DS_TEST_K(0), asm_exc_page_fault),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_K(2)),
	};
	const struct ds_bts_record called[] = {
		DS_TEST_REC(DS_TEST_K(0), asm_exc_page_fault),
		DS_TEST_REC(DS_TEST_K(0), panic),
		DS_TEST_REC(DS_TEST_K(1), DS_TEST_K(2)),
		DS_TEST_REC(DS_TEST_K(2), DS_TEST_K(3)),
		DS_TEST_REC(DS_TEST_K(3), asm_exc_nmi),
	};
	const struct ds_bts_record interrupted[] = {
		DS_TEST_REC(DS_TEST_K(0), asm_exc_page_fault),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(1)),
		DS_TEST_REC(DS_TEST_K(2), asm_sysvec_call_function),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(3)),
		DS_TEST_REC(DS_TEST_K(4), __entry_text_start),
		DS_TEST_REC(__entry_text_start, DS_TEST_K(2)),
		DS_TEST_REC(DS_TEST_K(5), DS_TEST_K(6)),
	};

	/* The branch out of what has crashed is shown. */
	KUNIT_EXPECT_EQ(test, ds_crash_tail(fault, 3, false), 1);
	KUNIT_EXPECT_EQ(test, ds_crash_tail(called, 4, false), 2);
	/* A system call is no crash. */
	KUNIT_EXPECT_EQ(test, ds_crash_tail(fault, 1, false), 0);
	/* An exception of long before is none either; panic() is called once. */
	KUNIT_EXPECT_EQ(test, ds_crash_tail(fault, 3, true), 0);
	KUNIT_EXPECT_EQ(test, ds_crash_tail(called, 4, true), 2);
	/* An NMI in front of the drain is no exception that crashed the kernel. */
	KUNIT_EXPECT_EQ(test, ds_crash_tail(called, 5, false), 3);
	/* Nor is an interrupt amid the exception, or one of its entry code's calls. */
	KUNIT_EXPECT_EQ(test, ds_crash_tail(interrupted, 7, false), 6);
	KUNIT_EXPECT_EQ(test, ds_crash_tail(interrupted, 2, false), 1);
	/* Where that one has begun is not there, nor is the exception then. */
	KUNIT_EXPECT_EQ(test, ds_crash_tail(interrupted + 3, 4, false), 0);
}

/* A PMI between panic() and the drain is no part of what led there, either. */
static void ds_test_crash_nmi(struct kunit *test)
{
	struct ds_bts_bounds way = {
		.how	= DS_INTERRUPTED,
		.resume	= DS_TEST_RESUME,
	};
	struct ds_test *t = test->priv;

	ds_test_start(t, DS_BTS_KERNEL, DS_TEST_SLOTS, 0);
	ds_test_store_nr(t, 10);
	ds_test_store(t, DS_TEST_KERNEL, (unsigned long)panic);
	ds_test_store_nr(t, 5);
	ds_test_store(t, DS_TEST_RESUME, (unsigned long)__entry_text_start);
	ds_test_store_nr(t, 3);
	ds_test_drain(test, DS_DRAIN_CRASH, &way);
	KUNIT_ASSERT_EQ(test, t->batch.nr, 11);
	KUNIT_EXPECT_EQ(test, t->batch.own, 9);
	KUNIT_EXPECT_EQ(test, t->got[10].to, (unsigned long)panic);

	/* Another CPU does not panic: what the NMI interrupted is the end. */
	ds_test_start(t, DS_BTS_KERNEL, DS_TEST_SLOTS, 0);
	ds_test_store_nr(t, 10);
	ds_test_store(t, DS_TEST_RESUME, (unsigned long)__entry_text_start);
	ds_test_store_nr(t, 3);
	ds_test_drain(test, DS_DRAIN_CRASH, &way);
	ds_test_expect(test, 0, 10);
}

/* Each PMI that meets a drain is owned up to once, a crash's NMI too, and no other. */
static void ds_test_pmi(struct kunit *test)
{
	struct ds_test *t = test->priv;

	/* Somebody else's. */
	ds_test_start(t, DS_BTS_USER | DS_BTS_CPL_FILTER, DS_TEST_SLOTS, 0);
	t->c.ctl = DEBUGCTLMSR_BTS_OFF_OS;
	ds_test_store_nr(t, DS_BTS_THRESHOLD - 1);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_DONE);

	/* Before the drain, or amid it. */
	ds_test_store_nr(t, 1);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_HANDLED);
	KUNIT_EXPECT_TRUE(test, t->c.pmi_seen);
	ds_test_switch(test);
	KUNIT_EXPECT_EQ(test, t->batch.nr, DS_BTS_THRESHOLD);
	KUNIT_EXPECT_FALSE(test, t->c.pmi_seen);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_DONE);

	/* Behind it. */
	ds_test_store_nr(t, DS_BTS_THRESHOLD);
	ds_test_switch(test);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_HANDLED);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_DONE);

	/* None: the threshold was not reached. */
	ds_test_store_nr(t, 1);
	ds_test_switch(test);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_DONE);

	/* One that is late, and a PMI in front of it. */
	t->c.crash_nmi_due = true;
	ds_test_store_nr(t, DS_BTS_THRESHOLD);
	ds_test_switch(test);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_HANDLED);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_HANDLED);
	KUNIT_EXPECT_EQ(test, ds_pmi(&t->c, DS_TEST_RESUME), NMI_DONE);
}

/* The bits of DEBUGCTL, and where the interrupt is raised. */
static void ds_test_ctl(struct kunit *test)
{
	const u64 on = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;
	const u64 off_os = boot_cpu_has(X86_FEATURE_DSCPL) ?
			   DEBUGCTLMSR_BTS_OFF_OS : 0;
	const u64 off_usr = boot_cpu_has(X86_FEATURE_DSCPL) ?
			    DEBUGCTLMSR_BTS_OFF_USR : 0;
	struct ds_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_OFF), 0);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_CIRCULAR | DS_BTS_CPL_FILTER), 0);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_USER), on | DEBUGCTLMSR_BTINT);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_KERNEL | DS_BTS_CIRCULAR), on);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_USER | DS_BTS_CPL_FILTER),
			on | DEBUGCTLMSR_BTINT | off_os);
	KUNIT_EXPECT_EQ(test, ds_ctl(DS_BTS_KERNEL | DS_BTS_CPL_FILTER),
			on | DEBUGCTLMSR_BTINT | off_usr);

	ds_test_start(t, DS_BTS_KERNEL, DS_TEST_SLOTS, 0);
	KUNIT_EXPECT_EQ(test, t->ds.bts_interrupt_threshold,
			(unsigned long)(t->slot + DS_BTS_THRESHOLD));
	ds_test_start(t, DS_BTS_KERNEL | DS_BTS_CIRCULAR, DS_TEST_SLOTS, 0);
	KUNIT_EXPECT_GT(test, t->ds.bts_interrupt_threshold,
			t->ds.bts_absolute_maximum);
}

/* ---- with the hardware ------------------------------------------------- */

#define DS_TEST_BRANCHES	3000

static atomic_t ds_test_seen;
static atomic_t ds_test_wrapped;
static atomic_t ds_test_drains;
static unsigned int ds_test_live_mode;

static noinline void ds_test_branch(void)
{
	barrier();
}

/* An interrupt's return to the first instruction is no call. */
static bool ds_test_calls(const struct ds_bts_record *rec)
{
	return rec->to == (unsigned long)ds_test_branch &&
	       !ds_in_entry_text(rec->from);
}

/* Context: up to NMI. */
static void ds_test_live_records(const struct ds_bts_batch *batch)
{
	unsigned int i;

	for (i = 0; i < batch->nr; i++)
		if (ds_test_calls(&batch->rec[i]))
			atomic_inc(&ds_test_seen);
	if (batch->wrapped)
		atomic_inc(&ds_test_wrapped);
	atomic_inc(&ds_test_drains);
}

static unsigned int ds_test_live_mode_of(struct task_struct *task)
{
	return READ_ONCE(ds_test_live_mode);
}

static const struct ds_bts_client ds_test_live = {
	.entries	= { (unsigned long)ds_test_live_mode_of },
	.records	= ds_test_live_records,
	.mode		= ds_test_live_mode_of,
};

static void ds_test_claim(struct kunit *test)
{
	int ret;

	if (!ds_bts_available())
		kunit_skip(test, "no BTS in this machine");

	ret = ds_bts_claim(&ds_test_live);
	if (ret == -EBUSY)
		kunit_skip(test, "BTS is in use");
	KUNIT_ASSERT_EQ(test, ret, 0);
}

static void ds_test_is_off(void *failed)
{
	struct ds_bts_cpu *c = this_cpu_ptr(&ds_bts_cpu);

	if (c->ds || c->ctl || c->armed ||
	    (get_debugctlmsr() & DS_BTS_CTL_MASK))
		atomic_inc(failed);
}

static void ds_test_expect_off(struct kunit *test)
{
	atomic_t failed = ATOMIC_INIT(0);

	on_each_cpu(ds_test_is_off, &failed, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&failed), 0);
	KUNIT_EXPECT_NULL(test, ds_bts_client);
}

/* One client at a time, and nothing is left on by the last. */
static void ds_test_busy(struct kunit *test)
{
	ds_test_live_mode = DS_BTS_USER | DS_BTS_KERNEL;
	ds_test_claim(test);
	KUNIT_EXPECT_EQ(test, ds_bts_claim(&ds_test_live), -EBUSY);
	KUNIT_EXPECT_EQ(test, ds_bts_claim(&ds_test_client), -EBUSY);
	KUNIT_EXPECT_TRUE(test, ds_bts_running(raw_smp_processor_id()));
	ds_bts_release();
	ds_test_expect_off(test);

	KUNIT_EXPECT_EQ(test, ds_bts_claim(&ds_test_live), 0);
	ds_bts_release();
	ds_test_expect_off(test);
}

/* It does not matter where it is released. */
static void ds_test_other_cpu(struct kunit *test)
{
	unsigned int cpu;

	ds_test_live_mode = DS_BTS_KERNEL;
	for_each_online_cpu(cpu) {
		set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
		ds_test_claim(test);
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
		ds_bts_release();
		ds_test_expect_off(test);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static void ds_test_run(unsigned int mode)
{
	unsigned int i;

	atomic_set(&ds_test_seen, 0);
	atomic_set(&ds_test_wrapped, 0);
	WRITE_ONCE(ds_test_live_mode, mode);
	ds_bts_update_all(DS_DRAIN_FLUSH);
	for (i = 0; i < DS_TEST_BRANCHES; i++)
		ds_test_branch();
	WRITE_ONCE(ds_test_live_mode, DS_BTS_OFF);
	ds_bts_update_all(DS_DRAIN_STOP);
}

/* Each call of a function is there once, and none when it is off. */
static void ds_test_live_exact(struct kunit *test)
{
	ds_test_live_mode = DS_BTS_OFF;
	ds_test_claim(test);

	ds_test_run(DS_BTS_KERNEL);
	KUNIT_EXPECT_EQ(test, atomic_read(&ds_test_seen), DS_TEST_BRANCHES);
	KUNIT_EXPECT_EQ(test, atomic_read(&ds_test_wrapped), 0);
	ds_test_run(DS_BTS_OFF);
	KUNIT_EXPECT_EQ(test, atomic_read(&ds_test_seen), 0);

	/* Three branches a round, or so: more than there is room for. */
	ds_test_run(DS_BTS_KERNEL | DS_BTS_CIRCULAR);
	KUNIT_EXPECT_GT(test, atomic_read(&ds_test_seen), 0);
	KUNIT_EXPECT_LT(test, atomic_read(&ds_test_seen), DS_TEST_BRANCHES);
	KUNIT_EXPECT_GT(test, atomic_read(&ds_test_wrapped), 0);

	ds_bts_release();
	ds_test_expect_off(test);
}

/*
 * Block-step and LBR have bits in DEBUGCTL too: they stay as they are while BTS
 * is switched on and off around drains, by interrupts among them.
 */
static void ds_test_debugctl(struct kunit *test)
{
	const u64 others = DEBUGCTLMSR_BTF | DEBUGCTLMSR_LBR;
	u64 before, on, during, after;
	unsigned int i;

	ds_test_live_mode = DS_BTS_KERNEL;
	ds_test_claim(test);

	local_irq_disable();
	before = get_debugctlmsr();
	update_debugctlmsr(before | others);
	on = get_debugctlmsr();
	atomic_set(&ds_test_drains, 0);
	for (i = 0; i < DS_TEST_BRANCHES; i++)
		ds_test_branch();
	during = get_debugctlmsr();
	ds_bts_flush_cpu((unsigned long)ds_test_debugctl, _THIS_IP_);
	after = get_debugctlmsr();
	update_debugctlmsr(before);
	local_irq_enable();

	ds_bts_release();
	KUNIT_EXPECT_EQ(test, before & others, 0);
	KUNIT_EXPECT_EQ(test, on & others, others);
	KUNIT_EXPECT_EQ(test, during, on);
	KUNIT_EXPECT_EQ(test, after, on);
	/* By interrupts, and the last by this test. */
	KUNIT_EXPECT_GT(test, atomic_read(&ds_test_drains), 2);
	ds_test_expect_off(test);
}

static void ds_test_is_on(void *count)
{
	if (get_debugctlmsr() & DEBUGCTLMSR_BTS)
		atomic_inc(count);
}

/*
 * Whenever a CPU comes, from the claim, hotplug or a suspend, it records by itself;
 * there is nobody here to tell it at a task switch. And before a suspend it gives
 * what it has, and stops.
 */
static void ds_test_comes(struct kunit *test)
{
	atomic_t count = ATOMIC_INIT(0);
	unsigned int i, seen;
	u64 off, on;

	ds_test_live_mode = DS_BTS_KERNEL;
	ds_test_claim(test);
	cpus_read_lock();
	on_each_cpu(ds_test_is_on, &count, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&count), num_online_cpus());
	cpus_read_unlock();

	local_irq_disable();
	atomic_set(&ds_test_seen, 0);
	for (i = 0; i < 10; i++)
		ds_test_branch();
	ds_suspend(NULL);
	seen = atomic_read(&ds_test_seen);
	off = get_debugctlmsr();
	ds_resume(NULL);
	on = get_debugctlmsr();
	local_irq_enable();

	ds_bts_release();
	KUNIT_EXPECT_EQ(test, seen, 10);
	KUNIT_EXPECT_EQ(test, off & DS_BTS_CTL_MASK, 0);
	KUNIT_EXPECT_EQ(test, on & DEBUGCTLMSR_BTS, DEBUGCTLMSR_BTS);
	ds_test_expect_off(test);
}

/* What was stored while nobody had asked for it is nobody's. */
static void ds_test_forgets(struct kunit *test)
{
	struct ds_bts_cpu *c;
	unsigned int i;
	u64 before, after;

	ds_test_live_mode = DS_BTS_KERNEL;
	ds_test_claim(test);

	local_irq_disable();
	c = this_cpu_ptr(&ds_bts_cpu);
	ds_suspend(NULL);
	ds_write_ctl(ds_ctl(DS_BTS_KERNEL));
	for (i = 0; i < 50; i++)
		ds_test_branch();
	ds_write_ctl(0);
	before = READ_ONCE(c->ds->bts_index);
	ds_resume(NULL);
	after = READ_ONCE(c->ds->bts_index);
	local_irq_enable();

	ds_bts_release();
	KUNIT_EXPECT_LT(test, after, before);
	ds_test_expect_off(test);
}

/* A PMI that nobody has handled leaves its entry masked, and perf would have none. */
static void ds_test_unmasks(struct kunit *test)
{
	u32 entry;

	ds_test_live_mode = DS_BTS_OFF;
	ds_test_claim(test);
	migrate_disable();
	apic_write(APIC_LVTPC, APIC_DM_NMI | APIC_LVT_MASKED);
	ds_bts_release();
	entry = apic_read(APIC_LVTPC);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, entry & APIC_LVT_MASKED, 0);
}

static struct kunit_case ds_test_cases[] = {
	KUNIT_CASE(ds_test_linear),
	KUNIT_CASE(ds_test_odd_sizes),
	KUNIT_CASE(ds_test_wrap),
	KUNIT_CASE(ds_test_wrap_way_out),
	KUNIT_CASE(ds_test_own_tail),
	KUNIT_CASE(ds_test_own_ipi),
	KUNIT_CASE(ds_test_ipi_tail),
	KUNIT_CASE(ds_test_own_head),
	KUNIT_CASE(ds_test_entry_tail),
	KUNIT_CASE(ds_test_show_entry),
	KUNIT_CASE(ds_test_leave_amid),
	KUNIT_CASE(ds_test_full),
	KUNIT_CASE(ds_test_crash),
	KUNIT_CASE(ds_test_crash_nmi),
	KUNIT_CASE(ds_test_pmi),
	KUNIT_CASE(ds_test_ctl),
	KUNIT_CASE(ds_test_busy),
	KUNIT_CASE(ds_test_other_cpu),
	KUNIT_CASE(ds_test_live_exact),
	KUNIT_CASE(ds_test_debugctl),
	KUNIT_CASE(ds_test_comes),
	KUNIT_CASE(ds_test_forgets),
	KUNIT_CASE(ds_test_unmasks),
	{ }
};

static struct kunit_suite ds_test_suite = {
	.name		= "x86_ds_bts",
	.init		= ds_test_init,
	.test_cases	= ds_test_cases,
};

kunit_test_suite(ds_test_suite);
