// SPDX-License-Identifier: GPL-2.0-only
/*
 * Iterate over the ring-buffer pages of one CPU, and decompress the pages if necessary.
 *
 *	not compressed:	page page page ...		read PIECE bytes at a time
 *	compressed:	number of chunks | size, decompressed size, bytes of each chunk
 *
 * If the file has an index, the iterator skips chunks before the wanted time range. But it reads
 * chunks with mapping rows, because code that runs later may be in these mappings.
 *
 * If a chunk cannot be decompressed, the iterator skips the chunk. If the next chunk or page cannot
 * be found, the iterator skips the rest of the CPU's data.
 *
 * Each iterator belongs to one thread. All iterators can share the file descriptor, because
 * pread() does not use the descriptor's offset.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "dat.h"
#include "dat_parts.h"
#include "trace_dat.h"

#define PIECE		(1U << 20)
#define CHUNK_MAX	(256U << 20)

static void truncated(struct dat_pages *p)
{
	dat_damage(p->dat, p->at, "the file is truncated in the data of CPU %d", p->cpu->cpu);
	p->lost = true;
}

void dat_pages_open(struct dat_pages *p, struct dat *dat, struct dat_cpu *cpu)
{
	*p = (struct dat_pages) { .dat = dat, .cpu = cpu, .at = cpu->offset };
	if (cpu->page_size < 4096 || cpu->page_size > PIECE ||
	    (cpu->page_size & (cpu->page_size - 1))) {
		dat_damage(dat, cpu->offset, "CPU %d: unsupported page size %u", cpu->cpu,
			   cpu->page_size);
		p->at = cpu->offset + cpu->size;
		p->lost = true;
		return;
	}
	if (cpu->offset > dat->size || cpu->size > dat->size - cpu->offset)
		dat_damage(dat, dat->size, "the file is truncated in the data of CPU %d",
			   cpu->cpu);
	if (!cpu->compressed)
		return;
	if (dat_read(dat, &p->chunks, 4, p->at) != 4) {
		p->chunks = 0;
		truncated(p);
	}
	p->at += 4;
}

static void room(uint8_t **buffer, size_t *have, size_t want)
{
	if (want <= *have)
		return;
	free(*buffer);
	*buffer = NULL;
	*have = 0;
	*buffer = mem_alloc(want);
	*have = want;
}

static bool next_piece(struct dat_pages *p)
{
	uint64_t left = p->cpu->offset + p->cpu->size - p->at;
	size_t want = left < PIECE ? left : PIECE;

	if (p->at >= p->cpu->offset + p->cpu->size)
		return false;
	room(&p->pages, &p->pages_room, PIECE);
	p->pages_size = dat_read(p->dat, p->pages, want, p->at);
	p->page_offset = p->at;
	p->at += p->pages_size;
	if (!p->pages_size)
		truncated(p);
	return p->pages_size;
}

/* Return the time at which a chunk begins, or UINT64_MAX if there is no such chunk or no index. */
static uint64_t chunk_time(const struct dat_pages *p, uint32_t chunk)
{
	const struct dat_cpu *cpu = p->cpu;

	if (chunk >= p->chunks || cpu->nr_times != p->chunks)
		return UINT64_MAX;
	return cpu->times[chunk] & ~DAT_INDEX_MAPS;
}

/* Report whether the next chunk ends before the wanted time range and has no mapping rows. */
static bool is_unwanted(const struct dat_pages *p)
{
	return chunk_time(p, p->chunk + 1) < p->dat->time_from &&
	       !(p->cpu->times[p->chunk] & DAT_INDEX_MAPS);
}

/* Read the next chunk's sizes. Return false if the CPU's data ends here or is damaged. */
static bool chunk_sizes(struct dat_pages *p, uint32_t *sizes)
{
	if (p->chunk >= p->chunks) {
		if (p->at < p->cpu->offset + p->cpu->size) {
			dat_damage(p->dat, p->at, "bytes after the last chunk of CPU %d",
				   p->cpu->cpu);
			p->lost = true;
		}
		return false;
	}
	if (dat_read(p->dat, sizes, 8, p->at) != 8) {
		truncated(p);
		return false;
	}
	if (!sizes[0] || !sizes[1] || sizes[0] > CHUNK_MAX || sizes[1] > CHUNK_MAX ||
	    sizes[0] > p->dat->size - p->at) {
		dat_damage(p->dat, p->at,
			   "invalid chunk sizes (%u bytes, %u compressed) for CPU %d", sizes[1],
			   sizes[0], p->cpu->cpu);
		p->lost = true;
		return false;
	}
	return true;
}

static bool read_chunk(struct dat_pages *p, const uint32_t *sizes)
{
	size_t have;

	room(&p->raw, &p->raw_size, sizes[0]);
	room(&p->pages, &p->pages_room, sizes[1]);
	have = dat_read(p->dat, p->raw, sizes[0], p->at + 8);
	if (have != sizes[0] || !dat_inflate(p->raw, have, p->pages, sizes[1])) {
		dat_damage(p->dat, p->at, "a chunk of CPU %d cannot be decompressed", p->cpu->cpu);
		p->lost = true;
		return false;
	}
	p->page_offset = p->at;
	p->pages_size = sizes[1];
	return true;
}

static bool next_chunk(struct dat_pages *p)
{
	bool found = false;
	uint32_t sizes[2];

	while (!found && chunk_sizes(p, sizes)) {
		found = !is_unwanted(p) && read_chunk(p, sizes);
		p->at += 8 + sizes[0];
		p->chunk++;
	}
	return found;
}

const uint8_t *dat_pages_next(struct dat_pages *p)
{
	uint32_t size = p->cpu->page_size;
	const uint8_t *page;

	/* If the page size is invalid (such as 0), dat_pages_open() has skipped all data. */
	while (!p->pages_size || p->next + size > p->pages_size) {
		if (p->next < p->pages_size) {
			dat_damage(p->dat, p->page_offset + p->next,
				   "an incomplete page of CPU %d", p->cpu->cpu);
			p->lost = true;
		}
		p->next = 0;
		p->pages_size = 0;
		if (!(p->cpu->compressed ? next_chunk(p) : next_piece(p)))
			return NULL;
	}
	page = p->pages + p->next;
	p->next += size;
	p->bytes += size;
	return page;
}

bool dat_pages_early(const struct dat_pages *p)
{
	uint64_t next;

	if (p->next + sizeof(next) > p->pages_size)
		return p->cpu->compressed && chunk_time(p, p->chunk) < p->dat->time_from;
	memcpy(&next, p->pages + p->next, sizeof(next));
	return next < p->dat->time_from;
}

void dat_pages_close(struct dat_pages *p)
{
	free(p->raw);
	free(p->pages);
}
