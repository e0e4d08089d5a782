// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read trace.dat version 7, which is a chain of sections.
 *
 *	header | section | section | ...	section: id, flags, size, bytes
 *
 * Option sections contain the offsets of the other sections. The last option section is at the end
 * of the file, so a truncated file lacks it. Therefore, this reader ignores these offsets and reads
 * the sections in file order. Each data section has a BUFFER option with the file offset of each
 * CPU's pages. If this option is missing, dat_salvage() searches the data section for the pages.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "dat.h"
#include "dat_parts.h"
#include "trace_dat.h"

#define SECTION_MAX		(1ULL << 30)
/* zstd never reaches this compression ratio, so a section that claims a larger ratio is damaged. */
#define SECTION_RATIO		(1U << 14)

struct section {
	uint64_t	offset;
	uint64_t	size;
	unsigned int	id;
	bool		compressed;
	bool		described;
};

struct sections {
	struct section	*list;
	size_t		nr;
};

/* Return a section's decompressed bytes, or NULL if the section is damaged. */
static uint8_t *section_bytes(struct dat *dat, const struct section *s, size_t *size)
{
	uint8_t *raw, *out = NULL;
	struct dat_bytes b;
	uint32_t in_size, out_size;

	raw = mem_alloc(s->size);
	*size = dat_read(dat, raw, s->size, s->offset);
	if (!s->compressed)
		return raw;
	b = (struct dat_bytes) { .at = raw, .end = raw + *size };
	in_size = dat_u32(&b);
	out_size = dat_u32(&b);
	if (!b.bad && in_size <= b.end - b.at && out_size <= SECTION_MAX &&
	    out_size / SECTION_RATIO <= in_size) {
		out = mem_alloc(out_size);
		if (!dat_inflate(b.at, in_size, out, out_size)) {
			free(out);
			out = NULL;
		}
	}
	if (!out)
		dat_damage(dat, s->offset, "section %u cannot be decompressed", s->id);
	free(raw);
	*size = out_size;
	return out;
}

static struct section *section_at(struct sections *all, uint64_t offset)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].offset == offset + DAT_SECTION_HEADER)
			return &all->list[i];
	return NULL;
}

/* Parse a BUFFER option, which describes a data section, and add the CPUs of that section. */
static void option_buffer(struct dat *dat, struct sections *all, struct dat_bytes *b)
{
	struct section *s = section_at(all, dat_u64(b));
	const char *name = dat_string(b);
	uint32_t page_size, nr;
	struct dat_cpu *c;

	dat_string(b);
	page_size = dat_u32(b);
	nr = dat_u32(b);
	if (b->bad || !s || s->id != DAT_SECTION_DATA)
		return;
	s->described = true;
	for (; nr; nr--) {
		uint32_t cpu = dat_u32(b);
		uint64_t offset = dat_u64(b), size = dat_u64(b);

		if (b->bad)
			break;
		if (!size)
			continue;
		c = dat_add_cpu(dat, cpu);
		c->offset = offset;
		c->size = size;
		c->page_size = page_size;
		c->compressed = s->compressed;
		c->instance = mem_strdup(name);
	}
}

static void section_options(struct dat *dat, struct sections *all, struct dat_bytes *b)
{
	while (b->at < b->end && !b->bad) {
		unsigned int id = dat_u16(b);
		uint32_t size = dat_u32(b);
		const uint8_t *at = dat_skip(b, size);
		struct dat_bytes option = { .at = at };

		if (!at || id == DAT_OPTION_DONE)
			break;
		option.end = at + size;
		if (id == DAT_OPTION_BUFFER)
			option_buffer(dat, all, &option);
		else
			dat_option(dat, id, &option);
		if (option.bad)
			b->bad = true;
	}
}

static void section_read(struct dat *dat, struct sections *all, struct section *s)
{
	struct dat_bytes b;
	uint8_t *bytes;
	size_t size;

	bytes = section_bytes(dat, s, &size);
	if (!bytes)
		return;
	b = (struct dat_bytes) { .at = bytes, .end = bytes + size };
	switch (s->id) {
	case DAT_SECTION_OPTIONS:
		section_options(dat, all, &b);
		break;
	case DAT_SECTION_HEADERS:
		dat_header_info(dat, &b);
		break;
	case DAT_SECTION_FTRACE:
		dat_ftrace_formats(dat, &b);
		break;
	case DAT_SECTION_EVENTS:
		dat_event_formats(dat, &b);
		break;
	case DAT_SECTION_KALLSYMS:
		dat_text(&dat->kallsyms, &b, dat_u32(&b));
		break;
	case DAT_SECTION_CMDLINES:
		dat_text(&dat->cmdlines, &b, dat_u64(&b));
		break;
	case DAT_SECTION_BTS:
		dat_text(&dat->info, &b, size);
		break;
	case DAT_SECTION_INDEX:
		dat_text(&dat->index, &b, size);
		break;
	}
	if (b.bad)
		dat_damage(dat, s->offset, "section %u ends inside a number or a name", s->id);
	free(bytes);
}

/* Return the end of the compressed chunks that begin at @offset, or 0 if a chunk is damaged. */
static uint64_t chunks_end(struct dat *dat, uint64_t offset, uint64_t end)
{
	uint32_t chunks, sizes[2];

	if (dat_read(dat, &chunks, 4, offset) != 4 || !chunks)
		return 0;
	offset += 4;
	for (; chunks && offset < end; chunks--) {
		if (dat_read(dat, sizes, 8, offset) != 8)
			break;
		if (!sizes[0] || sizes[1] % 4096)
			return 0;
		offset += 8 + sizes[0];
	}
	return offset < end ? offset : end;
}

/*
 * In a truncated file, the BUFFER option of a data section may be missing. If so, search the
 * section for each CPU's data, which begins at a page boundary. The real CPU numbers are unknown,
 * so number the CPUs from 0. In an uncompressed section, the end of a CPU's data is unknown, so
 * assign all data to CPU 0.
 */
static void dat_salvage(struct dat *dat, struct section *s)
{
	uint64_t end = s->offset + s->size, at = s->offset, next;
	struct dat_cpu *c;
	int cpu = 0;

	while (at < end) {
		at = (at + dat->page_size - 1) & ~(uint64_t)(dat->page_size - 1);
		if (at >= end)
			break;
		next = s->compressed ? chunks_end(dat, at, end) : end;
		if (!next)
			break;
		c = dat_add_cpu(dat, cpu++);
		c->offset = at;
		c->size = next - at;
		c->compressed = s->compressed;
		c->instance = mem_strdup("");
		at = next;
	}
}

/* Read the section header at *@offset, and advance to the next section. Return false at the end. */
static bool section_next(struct dat *dat, uint64_t *offset, struct section *s)
{
	uint8_t header[DAT_SECTION_HEADER];
	struct dat_bytes b = { .at = header, .end = header + sizeof(header) };
	unsigned int flags;

	if (*offset >= dat->size)
		return false;
	if (dat_read(dat, header, sizeof(header), *offset) != sizeof(header)) {
		dat_damage(dat, *offset, "the file is truncated");
		return false;
	}
	*s = (struct section) { .id = dat_u16(&b) };
	flags = dat_u16(&b);
	dat_u32(&b);
	s->size = dat_u64(&b);
	s->offset = *offset + DAT_SECTION_HEADER;
	s->compressed = flags & DAT_SECTION_COMPRESSED;
	if (s->size > dat->size - s->offset) {
		dat_damage(dat, dat->size, "the file is truncated in section %u at %#llx", s->id,
			   (unsigned long long)*offset);
		s->size = dat->size - s->offset;
		*offset = dat->size;
		return true;
	}
	*offset = s->offset + s->size;
	return true;
}

void dat_read_v7(struct dat *dat, uint64_t offset)
{
	struct sections all = {};
	struct section s;

	while (section_next(dat, &offset, &s)) {
		all.list = mem_realloc(all.list, all.nr + 1, sizeof(s));
		all.list[all.nr++] = s;
	}
	for (size_t i = 0; i < all.nr; i++)
		if (all.list[i].id != DAT_SECTION_DATA && all.list[i].size <= SECTION_MAX)
			section_read(dat, &all, &all.list[i]);
	dat_index(dat);
	for (size_t i = 0; i < all.nr; i++)
		if (all.list[i].id == DAT_SECTION_DATA && !all.list[i].described)
			dat_salvage(dat, &all.list[i]);
	free(all.list);
}
