// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the parts that versions 6 and 7 of trace.dat have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "dat.h"
#include "dat_parts.h"
#include "trace_dat.h"

void dat_text(struct dat_text *text, struct dat_bytes *b, uint64_t size)
{
	const uint8_t *at = dat_skip(b, size);

	if (!at || text->text)
		return;
	text->text = mem_alloc(size + 1);
	memcpy(text->text, at, size);
	text->text[size] = 0;
	text->size = size;
}

static void dat_add_format(struct dat *dat, struct dat_bytes *b)
{
	struct dat_text text = {};

	dat_text(&text, b, dat_u64(b));
	if (!text.text)
		return;
	dat->formats = mem_realloc(dat->formats, dat->nr_formats + 1, sizeof(*dat->formats));
	dat->formats[dat->nr_formats++] = text;
}

void dat_header_info(struct dat *dat, struct dat_bytes *b)
{
	struct dat_text unused = {};

	if (strcmp(dat_string(b), "header_page"))
		b->bad = true;
	dat_text(&dat->header_page, b, dat_u64(b));
	if (strcmp(dat_string(b), "header_event"))
		b->bad = true;
	dat_text(&unused, b, dat_u64(b));
	free(unused.text);
}

void dat_ftrace_formats(struct dat *dat, struct dat_bytes *b)
{
	for (uint32_t n = dat_u32(b); n && !b->bad; n--)
		dat_add_format(dat, b);
}

void dat_event_formats(struct dat *dat, struct dat_bytes *b)
{
	for (uint32_t systems = dat_u32(b); systems && !b->bad; systems--) {
		dat_string(b);
		for (uint32_t n = dat_u32(b); n && !b->bad; n--)
			dat_add_format(dat, b);
	}
}

struct dat_cpu *dat_add_cpu(struct dat *dat, int cpu)
{
	struct dat_cpu *c;

	dat->cpus = mem_realloc(dat->cpus, dat->nr_cpus + 1, sizeof(*dat->cpus));
	c = &dat->cpus[dat->nr_cpus++];
	*c = (struct dat_cpu) { .cpu = cpu, .page_size = dat->page_size };
	return c;
}

bool dat_cpu_is_maps(const struct dat_cpu *cpu)
{
	return !strcmp(cpu->instance, DAT_MAPS);
}

/* Parse an option that versions 6 and 7 have in common. Skip any other option. */
void dat_option(struct dat *dat, unsigned int id, struct dat_bytes *b)
{
	uint64_t size = b->end - b->at;

	switch (id) {
	case DAT_OPTION_CPUSTAT:
		dat->stats = mem_realloc(dat->stats, dat->nr_stats + 1, sizeof(*dat->stats));
		dat->stats[dat->nr_stats] = (struct dat_text) {};
		dat_text(&dat->stats[dat->nr_stats++], b, size);
		break;
	case DAT_OPTION_CLOCK:
		dat_text(&dat->clock, b, size);
		break;
	case DAT_OPTION_UNAME:
		dat_text(&dat->uname, b, size);
		break;
	}
}
