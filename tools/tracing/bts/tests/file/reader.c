// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read generated traces in each format that the tracer has ever used, and in a format that a later
 * tracer may use. Also read traces with damaged entries. Print KTAP.
 *
 *	reader FILE
 *
 * Each trace overwrites the previous one in FILE. The tests of damaged files are in damaged.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/causes.h"
#include "bts/unpack.h"
#include "made.h"

#define DAMAGED		1000000
#define DAMAGED_ONCE	50000

static int test, failed;

void ok(int good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++test, name);
	fflush(stdout);
	failed |= !good;
}

/* Both intact packs must have been read. Only the damaged entry between the packs may be lost. */
static int is_between(const struct result *r)
{
	return r->branches == 2 * NR && !r->others && r->first == NR &&
	       !r->lost[LOSS_MISSED] && !r->losses[LOSS_MISSED];
}

/* The reader must find @nr branches, and losses (see put_lost()) of @lost branches in total. */
static int is_whole(const struct result *r, uint64_t nr, uint64_t lost)
{
	return r->branches == nr && !r->others && !*r->error && r->lost[3] == lost &&
	       !r->lost[LOSS_MISSED] && !r->losses[LOSS_MISSED];
}

/* ---- The tests --------------------------------------------------------- */

static void test_formats(void)
{
	struct result r;

	begin();
	put_branches();
	put_lost_0();
	put_branches();
	write_file(lost_text_0, NULL);
	r = read_file();
	ok(is_whole(&r, 2 * NR, 7), "a trace written by the tracer's first version, without packs");

	begin();
	put_pack_0(0);
	put_lost(NR);
	put_pack_0(NR + 7);
	write_file(lost_text, pack_text_0);
	r = read_file();
	ok(is_whole(&r, 2 * NR, 7), "packs without a format number");

	begin();
	put_pack(0);
	put_lost(NR);
	put_pack(NR + 7);
	r = write_and_read();
	ok(is_whole(&r, 2 * NR, 7), "packs of format 1");

	begin();
	put_pack(0);
	put_branches();
	put_pack(2 * NR);
	r = write_and_read();
	ok(is_whole(&r, 3 * NR, 0), "unpacked branches between packs are not reported as a loss");
}

/* Read an entry between two intact packs. @seq is the sequence number of the second pack. */
static struct result read_between(const struct entry *e, uint32_t size, uint64_t seq)
{
	begin();
	put_pack(0);
	put_entry(e, size);
	put_pack(seq);
	return write_and_read();
}

static void test_foreign(void)
{
	struct entry e = make_pack(NR);
	struct result r;
	int good = 1;

	for (e.format = 2; e.format; e.format++) {
		char words[64];

		snprintf(words, sizeof(words), "CPU 0: a pack in unknown format %u",
			 e.format);
		r = read_between(&e, PACK_SIZE, 2 * NR);
		good &= is_between(&r) && r.lost[LOSS_DAMAGED] == NR && strstr(r.error, words);
	}
	ok(good, "a pack of unknown format is reported as a loss, and the error names the format");
}

/* The reader must not use bytes of the next pack as the missing end of a truncated entry. */
static void test_cut(void)
{
	static const struct { uint16_t type; uint32_t size; } entries[] = {
		{ PACK_ID, HEAD }, { BRANCH_ID, BRANCH_SIZE }, { LOST_ID, LOST_SIZE },
	};
	int good = 1;

	for (int i = 0; i < 3; i++) {
		for (uint32_t size = 4; size < entries[i].size; size += 4) {
			struct entry e = make_pack(NR);
			struct result r;

			e.type = entries[i].type;
			r = read_between(&e, size, 1000);
			good &= is_between(&r) && !r.lost[LOSS_DAMAGED] &&
				r.losses[LOSS_DAMAGED] == 1 &&
				strstr(r.error, "a truncated entry");
		}
	}
	ok(good, "a truncated entry between two packs is a loss, and both packs are read");
}

static void test_malformed(void)
{
	struct entry e = make_pack(NR);
	struct result r;
	int good = 1;

	e.nr = 0;
	r = read_between(&e, PACK_SIZE, NR);
	good &= is_between(&r) && r.losses[LOSS_DAMAGED] == 1 &&
		strstr(r.error, "a malformed pack");
	e.nr = BTS_PACK_MAX + 1;
	r = read_between(&e, PACK_SIZE, NR + e.nr);
	good &= is_between(&r) && r.losses[LOSS_DAMAGED] == 1 &&
		strstr(r.error, "a malformed pack");
	ok(good, "a pack with no branches, or with too many branches");
	e = make_pack(NR);
	e.code[2] = 0x79;
	r = read_between(&e, PACK_SIZE, 2 * NR);
	good = r.first == NR + 1 && r.branches + r.others == 2 * NR + 1 &&
	       r.lost[LOSS_DAMAGED] == NR - 1 && strstr(r.error, "a damaged pack");
	ok(good, "in a damaged pack, only the branches after the damage are lost");
}

static uint64_t seed = 88172645463325252ULL;

/* Marsaglia's xorshift */
static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % n;
}

/* Write an entry of a random type and size. Damage some bytes, but not the type and the PID. */
static void put_damaged(void)
{
	static const uint16_t types[] = { BRANCH_ID, LOST_ID, PACK_ID, PACK_ID };
	struct entry e = make_pack(below(1000));

	e.type = types[below(4)];
	e.pid = OTHER_PID;
	for (uint32_t n = below(5); n; n--)
		((uint8_t *)&e)[8 + below(60)] = below(256);
	put_entry(&e, 4 + 4 * below(24));
}

/* An intact pack follows each damaged entry. The reader must read every intact pack. */
static void test_damage(void)
{
	int good = 1;

	for (int done = 0; done < DAMAGED && good; done += DAMAGED_ONCE) {
		struct result r;

		begin();
		for (int i = 0; i < DAMAGED_ONCE; i++) {
			put_damaged();
			put_pack(0);
		}
		r = write_and_read();
		good = r.branches == (uint64_t)DAMAGED_ONCE * NR && !r.others;
	}
	ok(good, "the intact packs between a million damaged entries are read");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	path = argv[1];
	puts("TAP version 13\n1..19");
	test_formats();
	test_foreign();
	test_cut();
	test_malformed();
	test_damage();
	test_damaged_files();
	remove(path);
	return failed;
}
