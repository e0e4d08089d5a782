// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the decoder of packed branches: packs that are padded, cut, damaged, empty
 * or too long. These tests are in the suite of pack_kunit.c.
 */

#include <linux/string.h>

#include "pack_kunit.h"

/* Up to three bytes of padding, with any values, may follow the encoded branches. */
void bts_unpack_test_padding(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int value, n;
	size_t len;

	bts_pack_walk(t, 100, 5);
	len = bts_pack_one(test);
	for (value = 0; value < 256; value++) {
		memset(t->code + len, value, 4);
		for (n = 0; n <= BTS_PACK_PADDING; n++)
			bts_pack_expect(test, len + n, 0, t->nr);
	}
	bts_decoder_begin(&t->d, t->code, len + n, t->rec[0].from, t->nr);
	KUNIT_EXPECT_EQ(test, bts_decoder_rest(&t->d, t->out, MAX_RECORDS), t->nr);
	KUNIT_EXPECT_TRUE(test, bts_decoder_damaged(&t->d));
}

/* Decode a pack that may be damaged. The decoder must return at most @nr branches. */
static unsigned int pack_decode_any(struct kunit *test, size_t len, unsigned int nr)
{
	struct pack_test *t = test->priv;
	struct bts_pair *guard = &t->out[nr < BTS_PACK_MAX ? nr : BTS_PACK_MAX];
	unsigned int n;

	guard->from = 0x5a5a5a5a;
	bts_decoder_begin(&t->d, t->code, len, t->rec[0].from, nr);
	n = bts_decoder_rest(&t->d, t->out, MAX_RECORDS + 1);
	KUNIT_ASSERT_LE(test, n, nr);
	KUNIT_ASSERT_EQ(test, guard->from, 0x5a5a5a5aULL);
	KUNIT_ASSERT_EQ(test, 0U, bts_decoder_rest(&t->d, t->out, 1));
	if (n < nr)
		KUNIT_ASSERT_TRUE(test, bts_decoder_damaged(&t->d));
	return n;
}

/* If a pack is cut off, the branches before the cut are decoded. */
void bts_unpack_test_cut(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int i, n, before = 0;
	size_t len, cut;

	bts_pack_walk(t, 300, 300);
	len = bts_pack_one(test);
	for (cut = 0; cut < len; cut++) {
		n = pack_decode_any(test, cut, t->nr);
		KUNIT_ASSERT_LT(test, n, t->nr);
		KUNIT_ASSERT_GE(test, n, before);
		for (i = 0; i < n; i++)
			KUNIT_ASSERT_EQ(test, t->out[i].to, t->rec[i].to);
		before = n;
	}
}

/* The decoder rejects lengths that are too large. As a size_t, a negative length is too large. */
void bts_unpack_test_length(struct kunit *test)
{
	static const size_t lengths[] = { BTS_CODE_MAX + 1, 1UL << 32, -1UL, -2UL, -36UL };
	struct pack_test *t = test->priv;
	unsigned int i;

	bts_pack_walk(t, 100, 5);
	bts_pack_one(test);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		KUNIT_EXPECT_EQ(test, 0U, pack_decode_any(test, lengths[i], t->nr));
		KUNIT_EXPECT_TRUE(test, bts_decoder_damaged(&t->d));
	}
}

/* Decode packs in which one byte has been replaced. Try many values for each byte. */
void bts_unpack_test_damage(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int value;
	size_t len, pos;
	u8 was;

	bts_pack_walk(t, 100, 20);
	len = bts_pack_one(test);
	for (pos = 0; pos < len; pos++) {
		was = t->code[pos];
		for (value = pos % 7; value < 256; value += 7) {
			t->code[pos] = value;
			pack_decode_any(test, len, t->nr);
		}
		t->code[pos] = was;
	}
}

/* The default. If this test is built for user space, the Makefile sets a larger number. */
#ifndef BTS_DAMAGED_PACKS
#define BTS_DAMAGED_PACKS	100000
#endif

/* Decode truncated packs in which some or all bytes may have been changed. */
void bts_unpack_test_random(struct kunit *test)
{
	struct pack_test *t = test->priv;
	unsigned int i, n;
	u8 whole[64];

	bts_pack_walk(t, 100, 20);
	KUNIT_ASSERT_GE(test, bts_pack_one(test), sizeof(whole));
	memcpy(whole, t->code, sizeof(whole));
	for (i = 0; i < BTS_DAMAGED_PACKS; i++) {
		memcpy(t->code, whole, sizeof(whole));
		n = i % 8 ? bts_pack_below(t, 5) : 64;
		while (n--)
			t->code[n < 5 ? bts_pack_below(t, 64) : n] = bts_pack_random(t) >> 32;
		pack_decode_any(test, bts_pack_below(t, 65), bts_pack_below(t, 400));
	}
}

/* The decoder detects invalid tokens, missing nodes and wrong numbers of branches. */
void bts_unpack_test_invalid(struct kunit *test)
{
	static const struct {
		unsigned int	nr;
		u8		code[4];
		size_t		len;
	} packs[] = {
		{ 1, { 0x79 }, 1 },		{ 1, { 0x7f }, 1 },
		{ 1, { 0x80, 0xfe }, 2 },	{ 1, { 0x80, 0xff }, 2 },
		{ 1, { 0x80, 0xd1 }, 2 },	{ 1, { 0x80, 0xf0, 1 }, 3 },
		{ 1, { 0x50, 1 }, 2 },		{ 1, { 0x60, 0 }, 2 },
		{ 1, { 0x31 }, 1 },		{ 1, { 0x01 }, 1 },
		{ 9, { 0x70, 0, 0 }, 3 },	{ 9, { 0x70, 10, 0 }, 3 },
		{ 1, { 0 }, 0 },		{ BTS_PACK_MAX + 1, { 0x70, 1, 8 }, 3 },
	};
	struct pack_test *t = test->priv;
	unsigned int i;

	bts_pack_put(t, 0x1000, 0x1000);
	for (i = 0; i < ARRAY_SIZE(packs); i++) {
		memcpy(t->code, packs[i].code, packs[i].len);
		KUNIT_EXPECT_EQ_MSG(test, 0U, pack_decode_any(test, packs[i].len, packs[i].nr),
				    "pack %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, bts_decoder_damaged(&t->d), "pack %u", i);
	}
}

/* A pack has at most BTS_PACK_NODES - 1 different branches. */
void bts_unpack_test_nodes(struct kunit *test)
{
	struct pack_test *t = test->priv;

	memset(t->code, 0x80, MAX_CODE);
	bts_pack_put(t, 0x1000, 0x1000);
	KUNIT_EXPECT_EQ(test, pack_decode_any(test, 4040, 2000), BTS_PACK_NODES - 1);
}

/* An empty pack is valid. */
void bts_unpack_test_empty(struct kunit *test)
{
	struct pack_test *t = test->priv;

	bts_coder_begin(&t->c, t->code, MAX_CODE);
	KUNIT_EXPECT_EQ(test, bts_coder_end(&t->c), 0U);
	KUNIT_EXPECT_EQ(test, t->c.nr, 0U);
	bts_pack_expect(test, 0, 0, 0);
}
