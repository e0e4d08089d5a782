// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the coder of packed branches: the decoder must return exactly the branches that
 * were encoded. The tests in unpack_kunit.c decode packs that are, for example, damaged or empty.
 *
 * tools/tracing/bts/tests/pack also builds pack_kunit.c and unpack_kunit.c with a small replacement
 * for KUnit, so that the tests can run on a host under the compiler's sanitizers.
 */

#include <linux/string.h>

#include "pack_kunit.h"

static int pack_test_init(struct kunit *test)
{
	struct pack_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->seed = 88172645463325252ULL;
	test->priv = t;
	return 0;
}

/* Marsaglia's xorshift */
u64 bts_pack_random(struct pack_test *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return t->seed;
}

unsigned int bts_pack_below(struct pack_test *t, unsigned int n)
{
	return (bts_pack_random(t) >> 32) % n;
}

void bts_pack_put(struct pack_test *t, u64 from, u64 to)
{
	t->rec[t->nr++] = (struct ds_bts_record){ .from = from, .to = to };
	t->last = to;
}

/* Add a branch that begins @distance bytes after the last target, and jumps by @diff bytes. */
static void pack_put_diff(struct pack_test *t, u64 distance, u64 diff)
{
	bts_pack_put(t, t->last + distance, t->last + distance + diff);
}

/* Add a copy of record @i. */
static void pack_repeat(struct pack_test *t, unsigned int i)
{
	bts_pack_put(t, t->rec[i].from, t->rec[i].to);
}

/* Expect a pack of @len bytes to contain @nr records, beginning with record @first. */
void bts_pack_expect(struct kunit *test, size_t len, unsigned int first, unsigned int nr)
{
	struct pack_test *t = test->priv;
	unsigned int i, n;

	KUNIT_ASSERT_LE(test, nr, BTS_PACK_MAX);
	bts_decoder_begin(&t->d, t->code, len, t->rec[first].from, nr);
	n = bts_decoder_rest(&t->d, t->out, nr + 1);
	KUNIT_ASSERT_EQ(test, n, nr);
	for (i = 0; i < nr; i++) {
		KUNIT_ASSERT_EQ(test, t->out[i].from, t->rec[first + i].from);
		KUNIT_ASSERT_EQ(test, t->out[i].to, t->rec[first + i].to);
	}
	KUNIT_ASSERT_FALSE(test, bts_decoder_damaged(&t->d));
}

/* Encode and decode all records, in packs of up to @size bytes. Return: the number of packs. */
static unsigned int pack_round_trip(struct kunit *test, size_t size)
{
	struct pack_test *t = test->priv;
	unsigned int done, n, packs = 0;
	size_t len;

	for (done = 0; done < t->nr; done += n, packs++) {
		memset(t->code, 0xa5, sizeof(t->code));
		bts_coder_begin(&t->c, t->code, size);
		n = bts_coder_add_all(&t->c, t->rec + done, t->nr - done);
		KUNIT_ASSERT_GT(test, n, 0U);
		len = bts_coder_end(&t->c);
		KUNIT_ASSERT_LE(test, len, size);
		KUNIT_ASSERT_EQ(test, t->code[size], 0xa5);
		KUNIT_ASSERT_EQ(test, t->c.nr, n);
		KUNIT_ASSERT_EQ(test, t->c.from, t->rec[done].from);
		KUNIT_ASSERT_EQ(test, t->c.to, t->rec[done + n - 1].to);
		bts_pack_expect(test, len, done, n);
	}
	return packs;
}

/* Encode and decode all records in one pack. Return: the size of the encoded branches. */
size_t bts_pack_one(struct kunit *test)
{
	struct pack_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, pack_round_trip(test, MAX_CODE), 1U);
	return t->c.out - t->c.start;
}

/*
 * Make branches like those of a program with @spread functions: loops, calls, returns, and
 * sometimes an interrupt.
 */
void bts_pack_walk(struct pack_test *t, unsigned int nr, unsigned int spread)
{
	u64 stack[16], base;
	unsigned int depth = 0;

	t->nr = 0;
	t->last = 0x401000;
	while (t->nr < nr) {
		base = t->last & ~0xfffULL;
		switch (bts_pack_below(t, 8)) {
		case 0:
			if (depth == ARRAY_SIZE(stack))
				break;
			stack[depth++] = t->last + 16 + 5;
			bts_pack_put(t, t->last + 16,
				     0x401000 + 0x1000ULL * bts_pack_below(t, spread));
			break;
		case 1:
			if (depth)
				bts_pack_put(t, t->last + 3, stack[--depth]);
			break;
		case 2:
			if (!bts_pack_below(t, 8))
				bts_pack_put(t, t->last + 1, 0xffffffff81000000ULL);
			break;
		default:
			bts_pack_put(t, t->last + 8, base + 0x40 * bts_pack_below(t, 4));
		}
	}
}

/* The bytes that the coder writes must be those that the format specifies. */
static void bts_pack_test_format(struct kunit *test)
{
	static const u8 code[] = {
		0x80, 0x60,		/* distance 0, +0x20 */
		0x90, 0x98, 0xd0,	/* distance 0x10, +0xd0 */
		0x85, 0xb9, 0xf0,	/* distance 5, +0x1f0 times 16 bytes */
		0xa0, 0xd1,		/* distance 0x20, return from the call at 0x1030 */
		0xff, 0x00,		/* distance 0x7f, -0x40 */
		0xc0, 0x7f,		/* distance 0x40, +0x3f */
		0x50, 0x01,		/* node 1 (0x1000 -> 0x1020) */
		0x53, 0x06,		/* 3 predicted branches, then node 6 (0x10b4 -> 0x10f3) */
		0x34,			/* four predicted branches, then @other */
		0x00,			/* one predicted branch */
	};
	struct pack_test *t = test->priv;

	bts_pack_put(t, 0x1000, 0x1020);
	bts_pack_put(t, 0x1030, 0x1100);
	bts_pack_put(t, 0x1105, 0x3000);
	bts_pack_put(t, 0x3020, 0x1035);
	bts_pack_put(t, 0x10b4, 0x1074);
	bts_pack_put(t, 0x10b4, 0x10f3);
	pack_repeat(t, 0);
	pack_repeat(t, 1);
	pack_repeat(t, 2);
	pack_repeat(t, 3);
	pack_repeat(t, 5);
	pack_repeat(t, 0);
	pack_repeat(t, 1);
	pack_repeat(t, 2);
	pack_repeat(t, 3);
	pack_repeat(t, 4);
	pack_repeat(t, 5);
	KUNIT_EXPECT_EQ(test, bts_pack_one(test), sizeof(code));
	KUNIT_EXPECT_MEMEQ(test, t->code, code, sizeof(code));
}

/* A pack may contain a single branch, with any addresses. */
static void bts_pack_test_one(struct kunit *test)
{
	static const u64 ends[] = {
		0, 1, 0x401000, S64_MAX, 1ULL << 63, 0xffffffff81000000ULL, U64_MAX,
	};
	struct pack_test *t = test->priv;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		for (j = 0; j < ARRAY_SIZE(ends); j++) {
			t->nr = 0;
			bts_pack_put(t, ends[i], ends[j]);
			bts_pack_one(test);
		}
	}
}

/* At a pack's start, the coder predicts the branch 0 -> 0. A record may also contain 0 -> 0. */
static void bts_pack_test_zero(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int i, round;

	/* If the coder used a node of an earlier pack, a wrong branch would be decoded. */
	for (round = 4; round-- > 0; ) {
		t->nr = 0;
		for (i = 0; i < round; i++)
			bts_pack_put(t, 0, 0);
		/* Three different branches follow this branch. The third one is 0 -> 0. */
		bts_pack_put(t, 0x1000, 0x1008);
		bts_pack_put(t, 0x1010, 0x1000);
		pack_repeat(t, round);
		bts_pack_put(t, 0x1018, 0x1000);
		pack_repeat(t, round);
		bts_pack_put(t, 0, 0);
		pack_repeat(t, round + 1);
		bts_pack_put(t, 0, 0);
		bts_pack_one(test);
	}
}

/* Encode branches with a @distance or @diff (see pack_put_diff()) near each power of 2. */
static void bts_pack_test_differences(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int bit;
	u64 diff;
	int i, j;

	for (bit = 0; bit < 64; bit++) {
		t->nr = 0;
		t->last = 0x401000;
		for (i = -2; i <= 2; i++) {
			diff = (1ULL << bit) + i;
			for (j = 0; j < 16; j++) {
				pack_put_diff(t, j, diff);
				pack_put_diff(t, j, -diff);
				pack_put_diff(t, diff, j);
				pack_put_diff(t, -diff, j);
				pack_put_diff(t, diff, diff);
				pack_put_diff(t, 0, 16 * diff - (t->last & 15));
			}
		}
		pack_round_trip(test, MAX_CODE);
	}
}

/* Return the encoded size of a branch that follows the branch 0x401000 -> 0x401000. */
static size_t pack_bytes_of(struct kunit *test, u64 distance, u64 diff)
{
	struct pack_test *t = test->priv;

	t->nr = 0;
	bts_pack_put(t, 0x401000, 0x401000);
	pack_put_diff(t, distance, diff);
	return bts_pack_one(test) - 2;
}

/* Test how many bytes encode a branch, for addresses at the limits that unpack.c specifies. */
static void bts_pack_test_kinds(struct kunit *test)
{
	static const struct {
		u64	distance;
		u64	diff;
		size_t	bytes;
	} kinds[] = {
		{ 0x00, 0x00, 2 },	{ 0x7f, 0x00, 2 },	{ 0x80, 0x00, 3 },
		{ 0x17f, 0x00, 3 },	{ 0x180, 0x00, 4 },	{ -1ULL, 0x00, 4 },
		{ 0x7fff, 0x00, 4 },	{ 0x8000, 0x00, 5 },	{ -0x8000ULL, 0x00, 4 },
		{ 0x01, 0x3f, 2 },	{ 0x01, 0x40, 3 },	{ 0x01, -0x40ULL, 2 },
		{ 0x01, -0x41ULL, 3 },	{ 0x01, 0x17ff, 3 },	{ 0x01, 0x1800, 4 },
		{ 0x01, -0x1800ULL, 3 }, { 0x02, -0x1801ULL, 4 },
		{ 0x00, 0x7ff0, 3 },	{ 0x00, 0x8000, 4 },	{ 0x00, -0x8000ULL, 3 },
		{ 0x00, -0x8010ULL, 4 }, { 0x00, 0x7ffff0, 4 },	{ 0x00, 0x800000, 6 },
		{ 0x00, -0x800000ULL, 4 }, { 0x00, -0x800010ULL, 6 },
		{ 0x01, 0x7fffffff, 6 }, { 0x01, 0x80000000, 7 },
		{ 0x01, S64_MAX, 10 },	{ 0x01, 1ULL << 63, 10 },
		{ 1ULL << 63, 1ULL << 63, 18 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		KUNIT_EXPECT_EQ_MSG(test, kinds[i].bytes,
				    pack_bytes_of(test, kinds[i].distance, kinds[i].diff),
				    "kind %u", i);
	}
}

/*
 * If a call instruction has 2 to 7 bytes, and at most 255 new nodes (see unpack.c) follow the call,
 * the return is encoded in two or three bytes. Otherwise, the return is encoded in six bytes.
 */
static void bts_pack_test_calls(struct kunit *test)
{
	static const unsigned int backs[] = { 0, 1, 31, 32, 33, 255, 256, 300 };
	struct pack_test *t = test->priv;
	unsigned int i, j, length;
	size_t before, bytes;
	u64 ret;

	for (i = 0; i < ARRAY_SIZE(backs); i++) {
		for (length = 1; length <= 8; length++) {
			t->nr = 0;
			bts_pack_put(t, 0x401000, 0x10000000);
			ret = 0x401000 + length;
			for (j = 0; j < backs[i]; j++)
				pack_put_diff(t, 64, 64);
			before = bts_pack_one(test);
			pack_put_diff(t, 3, ret - t->last - 3);
			bytes = bts_pack_one(test) - before;
			if (length == BTS_CALL_LENGTH && backs[i] < 32)
				KUNIT_EXPECT_EQ(test, bytes, 2U);
			else if (length < 2 || length > 7 || backs[i] > 255)
				KUNIT_EXPECT_EQ(test, bytes, 6U);
			else
				KUNIT_EXPECT_EQ(test, bytes, 3U);
		}
	}
}

static void pack_repeat_times(struct pack_test *t, unsigned int i, unsigned int times)
{
	while (times--)
		pack_repeat(t, i);
}

/* Encode runs of various lengths, before each kind of token and at the end of a pack. */
static void bts_pack_test_runs(struct kunit *test)
{
	static const unsigned int runs[] = {
		0, 1, 2, 14, 15, 16, 17, 30, 31, 32, 33, 47, 48, 49, 50, 255, 256, 257, 400,
	};
	struct pack_test *t = test->priv;
	unsigned int i, x, y;

	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		t->nr = 0;
		bts_pack_put(t, 0x1008, 0x1000);
		pack_repeat_times(t, 0, runs[i]);
		x = t->nr;
		bts_pack_put(t, 0x1010, 0x1000);
		/* The second copy of branch 0 is not predicted. The later copies are predicted. */
		pack_repeat_times(t, 0, 2 + runs[i]);
		pack_repeat(t, x);
		pack_repeat_times(t, 0, 2 + runs[i]);
		y = t->nr;
		bts_pack_put(t, 0x1018, 0x1000);
		pack_repeat_times(t, 0, 2 + runs[i]);
		pack_repeat(t, x);
		pack_repeat_times(t, 0, 2 + runs[i]);
		bts_pack_one(test);
		pack_repeat(t, y);
		bts_pack_one(test);
	}
}

/* The sequence that needs the most room: a long run, a distant branch, and another long run. */
static void bts_pack_test_room(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int i, round, far;
	size_t size;

	bts_pack_put(t, 0, 0);
	pack_repeat_times(t, 0, 99);
	for (round = 0; round < 20; round++) {
		far = t->nr;
		bts_pack_put(t, (1ULL << 62) + round, 1ULL << 63 | round);
		/* Records 0 and @far alternate, so the coder learns to predict both of them. */
		for (i = 0; i < 50; i++) {
			pack_repeat(t, 0);
			pack_repeat(t, far);
		}
	}
	for (size = BTS_PACK_WORST; size < 5 * BTS_PACK_WORST; size++)
		pack_round_trip(test, size);
	/* This pack fills its buffer to the last byte. */
	t->nr = 201;
	KUNIT_EXPECT_EQ(test, pack_round_trip(test, BTS_PACK_WORST), 1U);
	KUNIT_EXPECT_EQ(test, t->c.out - t->c.start, BTS_PACK_WORST);
}

/* If B and C follow A in turn (A B A C ...), both are encoded as @other (see unpack.c). */
static void bts_pack_test_other(struct kunit *test)
{
	struct pack_test *t = test->priv;
	size_t len;
	int i;

	bts_pack_put(t, 0x1000, 0x1004);
	bts_pack_put(t, 0x1008, 0x1000);
	bts_pack_put(t, 0x1000, 0x1004);
	bts_pack_put(t, 0x100c, 0x1000);
	len = bts_pack_one(test);
	for (i = 0; i < 200; i++) {
		/* Branch 0 is predicted, and branch 1 or 3 is its @other. One byte encodes both. */
		pack_repeat(t, 0);
		pack_repeat(t, i & 1 ? 3 : 1);
	}
	/* In the first iteration, branch 0 is mispredicted and needs its own token of two bytes. */
	KUNIT_EXPECT_EQ(test, bts_pack_one(test), len + 200 + 2);
}

/* Encode branches that resemble the branches of real programs. */
static void bts_pack_test_programs(struct kunit *test)
{
	static const unsigned int spread[] = { 1, 2, 5, 20, 300, 10000 };
	static const size_t size[] = { BTS_PACK_WORST, 100, 4040, MAX_CODE };
	struct pack_test *t = test->priv;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(spread); i++) {
		bts_pack_walk(t, MAX_RECORDS, spread[i]);
		for (j = 0; j < ARRAY_SIZE(size); j++)
			pack_round_trip(test, size[j]);
	}
}

/* Encode addresses with any number of bits, in any order, and repeat some branches. */
static void bts_pack_test_random(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int round, bits;

	for (round = 0; round < 50; round++) {
		for (t->nr = 0; t->nr < MAX_RECORDS; ) {
			bits = 1 + bts_pack_below(t, 64);
			if (t->nr && bts_pack_below(t, 3))
				pack_repeat(t, bts_pack_below(t, t->nr));
			else
				pack_put_diff(t, bts_pack_random(t) >> (64 - bits),
					      bts_pack_random(t) >> bts_pack_below(t, 64));
		}
		pack_round_trip(test, round & 1 ? 4040 : MAX_CODE);
	}
}

/* Encode new branches that need up to BTS_TOKEN_MAX bytes each, in packs of many sizes. */
static void bts_pack_test_misses(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int nr;
	size_t size;

	while (t->nr < MAX_RECORDS)
		pack_put_diff(t, bts_pack_random(t) | 1ULL << 62, bts_pack_random(t) | 1ULL << 62);
	for (size = BTS_PACK_WORST; size < 4 * BTS_PACK_WORST; size++)
		pack_round_trip(test, size);
	pack_round_trip(test, 4040);
	/* Even a large pack contains at most BTS_PACK_NODES - 1 different branches. */
	nr = pack_round_trip(test, MAX_CODE);
	KUNIT_EXPECT_EQ(test, nr, DIV_ROUND_UP(MAX_RECORDS, BTS_PACK_NODES - 1));
}

/* A full pack accepts no more branches. bts_coder_end() then encodes the last accepted branches. */
static void bts_pack_test_full(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int n, done;
	size_t size, len;

	bts_pack_walk(t, MAX_RECORDS, 300);
	for (size = BTS_PACK_WORST; size < 200; size++) {
		bts_coder_begin(&t->c, t->code, size);
		done = bts_coder_add_all(&t->c, t->rec, t->nr);
		n = done;
		KUNIT_ASSERT_EQ(test, 0U, bts_coder_add_all(&t->c, t->rec + n, 1));
		KUNIT_ASSERT_EQ(test, 0U, bts_coder_add_all(&t->c, t->rec + n, t->nr - n));
		len = bts_coder_end(&t->c);
		KUNIT_ASSERT_LE(test, len, size);
		KUNIT_ASSERT_GT(test, len, size - BTS_PACK_WORST);
		KUNIT_ASSERT_EQ(test, t->c.nr, done);
		bts_pack_expect(test, len, 0, done);
	}
}

/* A pack has at most BTS_PACK_MAX branches. */
static void bts_pack_test_max(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int i;

	bts_pack_put(t, 0x1008, 0x1000);
	pack_repeat_times(t, 0, MAX_RECORDS - 1);
	KUNIT_EXPECT_EQ(test, pack_round_trip(test, MAX_CODE), 2U);

	bts_coder_begin(&t->c, t->code, MAX_CODE);
	for (i = 0; bts_coder_add_all(&t->c, t->rec + i, 1); i++)
		KUNIT_ASSERT_LT(test, i, BTS_PACK_MAX);
	KUNIT_EXPECT_EQ(test, i, BTS_PACK_MAX);
	bts_pack_expect(test, bts_coder_end(&t->c), 0, i);
}

/* The coder writes the same bytes whether branches are added one by one or together. */
static void bts_pack_test_add(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int i, n, step;
	size_t len;

	for (step = 1; step < 40; step++) {
		bts_pack_walk(t, 300, 5);
		len = bts_pack_one(test);
		KUNIT_ASSERT_LT(test, len, MAX_CODE / 2);
		memcpy(t->code + MAX_CODE / 2, t->code, len);
		bts_coder_begin(&t->c, t->code, 4040);
		for (i = 0; i < t->nr; i += n) {
			n = min(step, t->nr - i);
			KUNIT_ASSERT_EQ(test, n, bts_coder_add_all(&t->c, t->rec + i, n));
			if (i + n == t->nr)
				break;
			KUNIT_ASSERT_EQ(test, 1U, bts_coder_add_all(&t->c, t->rec + i + n, 1));
			n++;
		}
		KUNIT_ASSERT_EQ(test, len, bts_coder_end(&t->c));
		KUNIT_EXPECT_MEMEQ(test, t->code + MAX_CODE / 2, t->code, len);
		KUNIT_ASSERT_EQ(test, t->c.nr, t->nr);
		bts_pack_expect(test, len, 0, t->nr);
	}
}

/* The result does not depend on how many branches the reader decodes at once. */
static void bts_pack_test_cursor(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int step, n, i;
	struct bts_pair pair;
	size_t len;

	bts_pack_walk(t, 400, 5);
	len = bts_pack_one(test);
	for (step = 1; step < 50; step++) {
		bts_decoder_begin(&t->d, t->code, len, t->rec[0].from, t->nr);
		for (i = 0; ; i += n) {
			n = bts_decoder_rest(&t->d, t->out + i, step);
			if (n < step)
				break;
		}
		KUNIT_ASSERT_EQ(test, i + n, t->nr);
		KUNIT_ASSERT_FALSE(test, bts_decoder_damaged(&t->d));
		for (i = 0; i < t->nr; i++) {
			KUNIT_ASSERT_EQ(test, t->out[i].from, t->rec[i].from);
			KUNIT_ASSERT_EQ(test, t->out[i].to, t->rec[i].to);
		}
	}
	bts_decoder_begin(&t->d, t->code, len, t->rec[0].from, t->nr);
	for (i = 0; bts_decoder_rest(&t->d, &pair, 1); i++)
		KUNIT_ASSERT_EQ(test, pair.from, t->rec[i].from);
	KUNIT_EXPECT_EQ(test, i, t->nr);
	KUNIT_EXPECT_EQ(test, 0U, bts_decoder_rest(&t->d, &pair, 1));
}

static struct kunit_case bts_pack_test_cases[] = {
	KUNIT_CASE(bts_pack_test_format),
	KUNIT_CASE(bts_pack_test_one),
	KUNIT_CASE(bts_pack_test_zero),
	KUNIT_CASE(bts_pack_test_differences),
	KUNIT_CASE(bts_pack_test_kinds),
	KUNIT_CASE(bts_pack_test_calls),
	KUNIT_CASE(bts_pack_test_runs),
	KUNIT_CASE(bts_pack_test_room),
	KUNIT_CASE(bts_pack_test_other),
	KUNIT_CASE(bts_pack_test_programs),
	KUNIT_CASE(bts_pack_test_random),
	KUNIT_CASE(bts_pack_test_misses),
	KUNIT_CASE(bts_pack_test_full),
	KUNIT_CASE(bts_pack_test_max),
	KUNIT_CASE(bts_pack_test_add),
	KUNIT_CASE(bts_pack_test_cursor),
	KUNIT_CASE(bts_unpack_test_padding),
	KUNIT_CASE(bts_unpack_test_cut),
	KUNIT_CASE(bts_unpack_test_length),
	KUNIT_CASE(bts_unpack_test_damage),
	KUNIT_CASE(bts_unpack_test_random),
	KUNIT_CASE(bts_unpack_test_invalid),
	KUNIT_CASE(bts_unpack_test_nodes),
	KUNIT_CASE(bts_unpack_test_empty),
	{ }
};

static struct kunit_suite bts_pack_test_suite = {
	.name		= "trace_bts_pack",
	.init		= pack_test_init,
	.test_cases	= bts_pack_test_cases,
};

kunit_test_suite(bts_pack_test_suite);
