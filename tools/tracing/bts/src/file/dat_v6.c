// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read trace.dat version 6, whose parts have a fixed order and no index.
 *
 *	header_page header_event | formats | kallsyms | printk | command lines |
 *	number of CPUs | options | "flyrecord": offset and size of each CPU's pages
 *
 * All parts before the pages, usually a few MB, are read in one go. If these parts are larger than
 * 256 MiB, the file is treated as damaged. Only the branches of the top-level instance are read.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "dat.h"
#include "dat_parts.h"

/* The maximum total size of the parts before the pages (formats, kallsyms, command lines). */
#define V6_HEAD_MAX	(256ULL << 20)

static void v6_options(struct dat *dat, struct dat_bytes *b)
{
	for (;;) {
		unsigned int id = dat_u16(b);
		const uint8_t *at;
		uint32_t size;

		if (b->bad || !id)
			return;
		size = dat_u32(b);
		at = dat_skip(b, size);
		if (at) {
			struct dat_bytes option = { .at = at, .end = at + size };

			dat_option(dat, id, &option);
		}
	}
}

static void v6_cpus(struct dat *dat, struct dat_bytes *b, uint32_t nr)
{
	for (uint32_t cpu = 0; cpu < nr && !b->bad; cpu++) {
		uint64_t offset = dat_u64(b), size = dat_u64(b);
		struct dat_cpu *c;

		if (b->bad || !size)
			continue;
		c = dat_add_cpu(dat, cpu);
		c->offset = offset;
		c->size = size;
		c->instance = mem_strdup("");
	}
}

void dat_read_v6(struct dat *dat, uint64_t offset)
{
	struct dat_text unused = {};
	struct dat_bytes b;
	const char *kind;
	uint8_t *head;
	uint64_t size;
	uint32_t nr;

	size = dat->size - offset < V6_HEAD_MAX ? dat->size - offset : V6_HEAD_MAX;
	head = mem_alloc(size);
	b = (struct dat_bytes) { .at = head };
	b.end = head + dat_read(dat, head, size, offset);
	dat_header_info(dat, &b);
	dat_ftrace_formats(dat, &b);
	dat_event_formats(dat, &b);
	dat_text(&dat->kallsyms, &b, dat_u32(&b));
	dat_text(&unused, &b, dat_u32(&b));
	dat_text(&dat->cmdlines, &b, dat_u64(&b));
	nr = dat_u32(&b);
	kind = (const char *)dat_skip(&b, 10);
	if (kind && !strncmp(kind, "options", 7)) {
		v6_options(dat, &b);
		kind = (const char *)dat_skip(&b, 10);
	}
	if (kind && !strncmp(kind, "flyrecord", 9))
		v6_cpus(dat, &b, nr);
	else
		dat_damage(dat, offset + (b.at - head), "the table of CPUs is missing");
	if (b.bad)
		dat_damage(dat, offset + (b.at - head), "the file is truncated");
	free(unused.text);
	free(head);
}
