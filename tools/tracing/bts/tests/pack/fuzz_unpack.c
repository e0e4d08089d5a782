// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: decode arbitrary bytes as packed branches
 *
 * An input is the number of branches (2 bytes), the cursor's step (1 byte), the first branch's
 * source (8 bytes), and the packed branches. The packed branches and the array of decoded branches
 * are allocated with their exact sizes, so that the address sanitizer can detect each access beyond
 * their ends. A cursor decodes the branches in steps, and must return the same branches as a
 * decoder that decodes all branches in one call.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bts/unpack.h"

#define HEAD	11

static struct bts_decoder decoder, cursor;

static void die_unless(bool good)
{
	if (!good)
		abort();
}

/* Decode @step branches at a time. Return: the number of branches. */
static unsigned int decode_steps(struct bts_pair *out, unsigned int step)
{
	unsigned int n, done = 0;

	do {
		n = bts_decoder_rest(&cursor, out + done, step);
		die_unless(n <= step);
		done += n;
	} while (n == step);
	return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int nr, step, n, max;
	struct bts_pair *one, *two;
	uint8_t *code;
	u64 from;

	if (size < HEAD)
		return 0;
	nr = data[0] | data[1] << 8;
	step = data[2] ? data[2] : 1;
	memcpy(&from, data + 3, 8);
	max = nr < BTS_PACK_MAX ? nr : BTS_PACK_MAX;
	code = malloc(size - HEAD);
	one = malloc(max * sizeof(*one));
	two = malloc(max * sizeof(*two));
	die_unless((code || size == HEAD) && ((one && two) || !max));
	if (size > HEAD)
		memcpy(code, data + HEAD, size - HEAD);

	bts_decoder_begin(&decoder, code, size - HEAD, from, nr);
	n = bts_decoder_rest(&decoder, one, UINT32_MAX);
	die_unless(n <= max);
	die_unless(n == nr || bts_decoder_damaged(&decoder));
	die_unless(!bts_decoder_rest(&decoder, one, 1));

	bts_decoder_begin(&cursor, code, size - HEAD, from, nr);
	die_unless(decode_steps(two, step) == n);
	die_unless(bts_decoder_damaged(&cursor) == bts_decoder_damaged(&decoder));
	die_unless(!n || !memcmp(one, two, n * sizeof(*one)));

	free(code);
	free(one);
	free(two);
	return 0;
}
