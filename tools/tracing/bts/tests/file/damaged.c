// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read damaged and truncated files, and traces in which pages are missing. The reader must read all
 * undamaged entries that it can find, and must report each loss once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/causes.h"
#include "lib/msg.h"
#include "made.h"

#define PAGE_PACKS	((PAGE - 16) / (4 + PACK_SIZE))
#define CHUNK_BRANCHES	(CHUNK_PAGES * PAGE_PACKS * NR)

/* Fill all pages of all chunks with packs. Page N has the time 100 * N. */
static void put_packs(void)
{
	begin();
	for (int i = 0; i < CHUNKS * CHUNK_PAGES * PAGE_PACKS; i++)
		put_pack(i * NR);
	for (uint32_t i = 0; i <= page; i++)
		*(uint64_t *)pages[i] = 100 * i;
}

static void spoil_bytes(uint32_t at)
{
	overwrite(at + 8, 0);
}

static void spoil_size(uint32_t at)
{
	overwrite(at, UINT32_MAX);
}

/* Make the stored number of chunks too small. */
static void spoil_number(uint32_t at)
{
	(void)at;
	overwrite(0, spoil_chunk);
}

static void cut_before(uint32_t at)
{
	if (truncate(path, DATA + at))
		exit(msg_errno("truncate", path));
}

static void cut_inside(uint32_t at)
{
	cut_before(at + 20);
}

/*
 * Each branch must be either read or reported as lost. Chunks after the loss must be read if their
 * offset is known. If a pack follows, its sequence number shows how many branches were lost.
 */
static int is_damage(const struct result *r, bool continues)
{
	uint32_t all = CHUNKS, last = all - 1, before = spoil_chunk;
	bool exact = continues && before && before < last;
	uint64_t whole = before + (continues ? last - before : 0);

	return r->branches == whole * CHUNK_BRANCHES && !r->others && *r->error &&
	       r->first == before * CHUNK_BRANCHES &&
	       r->lost[LOSS_DAMAGED] == (exact ? CHUNK_BRANCHES : 0) &&
	       r->losses[LOSS_DAMAGED] == !exact &&
	       !r->lost[LOSS_MISSED] && !r->losses[LOSS_MISSED];
}

/* Damage one chunk at a time, once before the file is opened, and once afterwards. */
static void test_chunks(void)
{
	static const struct {
		void		(*spoil)(uint32_t at);
		bool		continues;
		const char	*name;
	} cases[] = {
		{ spoil_bytes,	true,	"damaged bytes of a chunk" },
		{ spoil_size,	false,	"a damaged chunk size" },
		{ spoil_number,	false,	"a damaged number of chunks" },
		{ cut_before,	false,	"a file that ends before a chunk" },
		{ cut_inside,	false,	"a file that ends within a chunk" },
	};
	char name[100];

	chunked = true;
	put_packs();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int good = 1;

		for (int n = 0; n < 2 * CHUNKS; n++) {
			struct result r;

			spoil = cases[i].spoil;
			spoil_chunk = n / 2;
			spoil_opened = n & 1;
			r = write_and_read();
			good &= is_damage(&r, cases[i].continues);
		}
		snprintf(name, sizeof(name), "%s: the rest is read, and the loss is reported",
			 cases[i].name);
		ok(good, name);
	}
	spoil = NULL;
	chunked = false;
}

/* The selected time range ends in a damaged chunk. The loss must have a time in this range. */
static void test_damage_in_window(void)
{
	struct result r;

	chunked = true;
	put_packs();
	spoil = spoil_bytes;
	spoil_chunk = 1;
	time_to = 100 * CHUNK_PAGES + 50;
	r = write_and_read();
	ok(is_damage(&r, true) && r.lost_ts <= time_to, "damage at the end of the time range");
	time_to = UINT64_MAX;
	spoil = NULL;
	chunked = false;
}

/* Cut off page 3 and all later pages. The pages are not compressed. */
static void cut_pages(uint32_t at)
{
	(void)at;
	cut_before(3 * PAGE);
}

static void test_pages(void)
{
	const uint64_t page_branches = PAGE_PACKS * NR;
	struct result r;
	int good = 1;

	spoil = cut_pages;
	for (int n = 0; n < 2; n++) {
		put_packs();
		spoil_opened = n;
		r = write_and_read();
		good &= r.branches == 3 * page_branches && r.first == r.branches && *r.error &&
			r.losses[LOSS_DAMAGED] == 1 && !r.losses[LOSS_MISSED];
	}
	ok(good, "a truncated uncompressed file ends with a loss");
	spoil = NULL;

	put_packs();
	*(uint64_t *)(pages[1] + 8) = PAGE;
	r = write_and_read();
	good = r.branches == page * page_branches && r.first == page_branches &&
	       r.lost[LOSS_DAMAGED] == page_branches && !r.lost[LOSS_MISSED];
	put_packs();
	*(uint32_t *)(pages[1] + 16 + (PAGE_PACKS - 1) * (4 + PACK_SIZE)) = 28;
	r = write_and_read();
	good &= r.first == 2 * page_branches - NR && r.lost[LOSS_DAMAGED] == NR &&
		!r.lost[LOSS_MISSED];
	ok(good, "the unreadable part of a page is reported as a loss");
}

/* Write a pack, and a new page that begins with an event (see put_row()). */
static void put_row_page(bool missed)
{
	begin();
	put_pack(0);
	new_page(missed);
	put_row();
}

/* The reader must report one loss, before the event. @lost: size of the loss, 0 if unknown. */
static int is_one_loss(uint64_t packs, uint64_t lost)
{
	struct result r = write_and_read();

	return r.branches == packs * NR && !r.others && r.rows == 1 && r.first == NR &&
	       !r.first_rows && r.lost[LOSS_MISSED] == lost && r.losses[LOSS_MISSED] == !lost;
}

/* Lose entries before a page that begins with an event. An event has no sequence number. */
static void test_missed_row(void)
{
	int good;

	put_row_page(true);
	put_pack(6 * NR);
	put_pack(7 * NR);
	good = is_one_loss(3, 5 * NR);
	put_row_page(true);
	put_lost(6 * NR);
	good &= is_one_loss(1, 5 * NR);
	ok(good, "an event before a pack does not change the size of a loss");

	put_row_page(true);
	new_page(false);
	put_pack(6 * NR);
	good = is_one_loss(2, 0);
	put_row_page(true);
	put_branches();
	put_pack(9 * NR);
	good &= is_one_loss(3, 0);
	put_row_page(true);
	good &= is_one_loss(1, 0);
	ok(good, "a loss is reported once, even if its size remains unknown");
}

void test_damaged_files(void)
{
	test_missed_row();
	test_chunks();
	test_damage_in_window();
	test_pages();
}
