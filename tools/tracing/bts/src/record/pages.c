// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fill ring-buffer pages, as the kernel does for the tracer. For the format of a page, see
 * file/ring_page.h.
 *
 * Consecutive branches of one task form a pack if they have the same time. The tracer's own coder
 * (kernel/trace/bts/pack.c) encodes each pack. A pack must fit into the free space of the page.
 * Full pages are collected and compressed 1 MiB at a time.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file/ring_page.h"
#include "lib/mem.h"
#include "bts/pack.h"
#include "made_formats.h"
#include "pages.h"
#include "writer.h"

enum {
	ENTRY_HEADER	= 8,		/* size of a long entry's header */
	TIME_EXTEND	= 8,
	CHUNK		= 1 << 20,
	/* If a page has fewer free bytes than this, the next pack of branches begins a new page. */
	PACK_LEAST	= 512,
};

#define ENTRY_SHORT_MAX		28	/* words */

/**
 * struct pages - a CPU's pages
 * @used:	bytes used in the page, including its header
 * @ts:		the time of the last entry
 * @seq:	the number of branches before @pack
 * @packing:	whether @pack is being filled
 * @pack_ts:	the time of @pack
 * @branches:	the number of branches in @chunk
 * @maps:	whether @chunk contains rows that describe mappings
 */
struct pages {
	struct writer_cpu	*out;
	bool			failed;
	uint32_t		used;
	uint64_t		ts;
	uint64_t		seq;
	uint64_t		pack_ts;
	bool			packing;
	uint8_t			*page;
	size_t			chunk_used;
	uint8_t			*chunk;
	unsigned long long	branches;
	bool			maps;
	union {
		struct made_pack	pack;
		uint8_t			bytes[MADE_PAGE];
	};
	struct bts_coder	coder;
};

struct pages *pages_open(struct writer *w, int cpu)
{
	struct pages *p = mem_zalloc(1, sizeof(*p));

	p->out = writer_add_cpu(w, "", cpu);
	if (!p->out) {
		free(p);
		return NULL;
	}
	p->chunk = mem_alloc(CHUNK);
	p->page = p->chunk;
	p->used = RING_PAGE_HEADER;
	return p;
}

static void end_chunk(struct pages *p)
{
	if (p->chunk_used && writer_write_pages(p->out, p->chunk, p->chunk_used, p->branches,
						p->maps))
		p->failed = true;
	p->chunk_used = 0;
	p->branches = 0;
	p->maps = false;
	p->page = p->chunk;
}

static void end_page(struct pages *p)
{
	uint64_t commit = p->used - RING_PAGE_HEADER;

	if (!commit)
		return;
	memcpy(p->page + 8, &commit, sizeof(commit));
	memset(p->page + p->used, 0, MADE_PAGE - p->used);
	p->used = RING_PAGE_HEADER;
	p->chunk_used += MADE_PAGE;
	p->page += MADE_PAGE;
	if (p->chunk_used == CHUNK)
		end_chunk(p);
}

/* Return the size of the largest entry that fits into the current page. */
static size_t room(const struct pages *p)
{
	size_t taken = p->used + ENTRY_HEADER + TIME_EXTEND;

	return taken < MADE_PAGE ? (MADE_PAGE - taken) & ~3U : 0;
}

static void put_word(struct pages *p, uint32_t word)
{
	memcpy(p->page + p->used, &word, sizeof(word));
	p->used += sizeof(word);
}

/* Return an entry's time delta. If the delta is too large, write a time extend and return 0. */
static uint32_t put_time(struct pages *p, uint64_t ts)
{
	uint64_t delta;

	if (p->used == RING_PAGE_HEADER) {
		p->ts = ts > p->ts ? ts : p->ts;
		memcpy(p->page, &p->ts, sizeof(p->ts));
	}
	delta = ts > p->ts ? ts - p->ts : 0;
	p->ts += delta;
	if (!(delta >> RING_DELTA_BITS))
		return delta;
	put_word(p, RING_ENTRY_TIME_EXTEND | (uint32_t)delta << 5);
	put_word(p, delta >> RING_DELTA_BITS);
	return 0;
}

static void put_entry(struct pages *p, uint64_t ts, const void *entry, size_t size)
{
	size_t words = (size + 3) / 4;
	uint32_t delta;

	if (words * 4 > room(p))
		end_page(p);
	delta = put_time(p, ts);
	if (words <= ENTRY_SHORT_MAX) {
		put_word(p, words | delta << 5);
	} else {
		put_word(p, delta << 5);
		put_word(p, words * 4 + 4);
	}
	memcpy(p->page + p->used, entry, size);
	memset(p->page + p->used + size, 0, words * 4 - size);
	p->used += words * 4;
}

static void end_pack(struct pages *p)
{
	size_t size;

	if (!p->packing)
		return;
	size = sizeof(p->pack) + bts_coder_end(&p->coder);
	p->pack.seq = p->seq;
	p->pack.from = p->coder.from;
	p->pack.to = p->coder.to;
	p->pack.nr = p->coder.nr;
	p->seq += p->coder.nr;
	p->packing = false;
	put_entry(p, p->pack_ts, p->bytes, size);
	p->branches += p->pack.nr;
}

static void begin_pack(struct pages *p, int pid, uint64_t ts)
{
	if (room(p) < PACK_LEAST)
		end_page(p);
	p->pack.entry = (struct made_entry) { .type = MADE_PACK, .pid = pid };
	p->pack.format = BTS_PACK_FORMAT;
	p->pack_ts = ts;
	p->packing = true;
	bts_coder_begin(&p->coder, p->bytes + sizeof(p->pack), room(p) - sizeof(p->pack));
}

void pages_branch(struct pages *p, int pid, uint64_t ts, uint64_t from, uint64_t to)
{
	const struct ds_bts_record rec = { .from = from, .to = to };

	if (p->packing && (p->pack.entry.pid != pid || p->pack_ts != ts))
		end_pack(p);
	if (!p->packing)
		begin_pack(p, pid, ts);
	if (bts_coder_add_all(&p->coder, &rec, 1))
		return;
	end_pack(p);
	begin_pack(p, pid, ts);
	bts_coder_add_all(&p->coder, &rec, 1);
}

void pages_row(struct pages *p, uint64_t ts, const void *row, size_t size)
{
	const struct made_entry *entry = row;

	end_pack(p);
	if (size > MADE_PAGE - RING_PAGE_HEADER - ENTRY_HEADER - TIME_EXTEND)
		return;
	put_entry(p, ts, row, size);
	p->maps |= entry->type == MADE_MAP;
}

void pages_lost(struct pages *p, uint64_t ts, int pid, unsigned int cause)
{
	struct made_lost row = {
		.entry = { .type = MADE_LOST, .pid = pid }, .cause = cause,
	};

	end_pack(p);
	row.seq = p->seq;
	put_entry(p, ts, &row, sizeof(row));
}

int pages_close(struct pages *p)
{
	int ret;

	end_pack(p);
	end_page(p);
	end_chunk(p);
	ret = p->failed ? -1 : 0;
	free(p->chunk);
	free(p);
	return ret;
}
