// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the decoder must return the branches that the coder packed
 *
 * The first 2 bytes of an input are the maximum size of a pack. Operations follow. Each operation
 * (op and the bytes that get() reads) makes one branch for the coder:
 *
 *	op		source				target
 *	0x00 - 0x7f	source of branch -(op + 1)	target of branch -(op + 1)
 *	0x80 - 0xbf	last target + (op & 63)		source + get(1)
 *	0xc0 - 0xdf	last target + 3			5 + source of branch -((op & 31) + 1)
 *	0xe0 - 0xef	last target + get((op & 7) + 1)	source + get(4)
 *	0xf0 - 0xff	last target + get(1)		source + get((op & 7) + 1)
 *
 * Branch -N is the Nth branch before the new branch. The function get(N) reads a signed number from
 * the next N bytes of the input.
 *
 * The coder is not reset between inputs, to check that earlier inputs do not affect the result.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bts/pack.h"

#define MAX_RECORDS	3000

static struct bts_coder coder;
static struct bts_decoder decoder;
static struct ds_bts_record records[MAX_RECORDS];
static struct bts_pair pairs[BTS_PACK_MAX];

static void die_unless(bool good)
{
	if (!good)
		abort();
}

/* Read a signed little-endian number of up to 8 bytes. Missing bytes are 0. */
static u64 get(const uint8_t **p, const uint8_t *end, unsigned int n)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (*p < end)
			value |= (u64)*(*p)++ << (8 * i);
	return (u64)((s64)(value << (64 - 8 * n)) >> (64 - 8 * n));
}

static unsigned int make_records(const uint8_t *p, const uint8_t *end)
{
	struct ds_bts_record *rec = records, *last;
	u64 to = 0x401000, from;
	unsigned int op;

	for (; p < end && rec < records + MAX_RECORDS; rec++) {
		op = *p++;
		last = op < 0xc0 ? rec - op - 1 : rec - (op & 31) - 1;
		from = to;
		if (op < 0x80) {
			*rec = last < records ? records[0] : *last;
			if (rec == records)
				*rec = (struct ds_bts_record){ 0 };
		} else {
			if (op < 0xc0) {
				from += op & 63;
				to = from + get(&p, end, 1);
			} else if (op < 0xe0) {
				from += 3;
				to = (last < records ? from : last->from) + 5;
			} else if (op < 0xf0) {
				from += get(&p, end, (op & 7) + 1);
				to = from + get(&p, end, 4);
			} else {
				from += get(&p, end, 1);
				to = from + get(&p, end, (op & 7) + 1);
			}
			*rec = (struct ds_bts_record){ .from = from, .to = to };
		}
		to = rec->to;
	}
	return rec - records;
}

static void check_pack(const uint8_t *code, size_t len, const struct ds_bts_record *rec)
{
	unsigned int i, nr = coder.nr;

	bts_decoder_begin(&decoder, code, len, coder.from, nr);
	die_unless(bts_decoder_rest(&decoder, pairs, BTS_PACK_MAX) == nr);
	die_unless(!bts_decoder_damaged(&decoder));
	for (i = 0; i < nr; i++)
		die_unless(pairs[i].from == rec[i].from && pairs[i].to == rec[i].to);
	die_unless(coder.from == rec[0].from && coder.to == rec[nr - 1].to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int nr, done, n;
	size_t room, len;
	uint8_t *code;

	if (size < 2)
		return 0;
	room = BTS_PACK_WORST + (data[0] | data[1] << 8) % 4096;
	nr = make_records(data + 2, data + size);
	code = malloc(room);
	die_unless(code);
	for (done = 0; done < nr; done += n) {
		bts_coder_begin(&coder, code, room);
		n = bts_coder_add_all(&coder, records + done, (nr - done + 1) / 2);
		while (done + n < nr && bts_coder_add_all(&coder, records + done + n, 1))
			n++;
		len = bts_coder_end(&coder);
		die_unless(n && coder.nr == n && len <= room);
		check_pack(code, len, records + done);
	}
	free(code);
	return 0;
}
