/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_PACK_KUNIT_H
#define _LINUX_KERNEL_TRACE_BTS_PACK_KUNIT_H

/* Declarations that the KUnit tests in pack_kunit.c and unpack_kunit.c share */

#include <kunit/test.h>
#include <linux/types.h>

#include "pack.h"

/* More records than fit into a pack. */
#define MAX_RECORDS	(2 * BTS_PACK_MAX)

/* The room for data in a sub-buffer of 64 KiB. Most test cases use less. */
#define MAX_CODE	0xffe0

/**
 * struct pack_test - the data of a test case
 * @c:		the coder
 * @d:		the decoder
 * @seed:	state of the random number generator
 * @last:	target address of the last record
 * @nr:		number of records
 * @rec:	the records
 * @out:	the decoded branches
 * @code:	the encoded branches of a pack
 */
struct pack_test {
	struct bts_coder	c;
	struct bts_decoder	d;
	u64			seed;
	u64			last;
	unsigned int		nr;
	struct ds_bts_record	rec[MAX_RECORDS];
	struct bts_pair		out[MAX_RECORDS + 1];
	u8			code[MAX_CODE + 8];
};

/* pack_kunit.c */
u64 bts_pack_random(struct pack_test *t);
unsigned int bts_pack_below(struct pack_test *t, unsigned int n);
void bts_pack_put(struct pack_test *t, u64 from, u64 to);
void bts_pack_expect(struct kunit *test, size_t len, unsigned int first, unsigned int nr);
size_t bts_pack_one(struct kunit *test);
void bts_pack_walk(struct pack_test *t, unsigned int nr, unsigned int spread);

/* unpack_kunit.c */
void bts_unpack_test_padding(struct kunit *test);
void bts_unpack_test_cut(struct kunit *test);
void bts_unpack_test_length(struct kunit *test);
void bts_unpack_test_damage(struct kunit *test);
void bts_unpack_test_random(struct kunit *test);
void bts_unpack_test_invalid(struct kunit *test);
void bts_unpack_test_nodes(struct kunit *test);
void bts_unpack_test_empty(struct kunit *test);

#endif /* _LINUX_KERNEL_TRACE_BTS_PACK_KUNIT_H */
