// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the coverage by address. This needs no source code.
 *
 * With -f pcs, write a line "file+0x1234 count" for each instruction that was executed. With
 * -f drcov, write a table of the files and a table of the executed blocks (offset, size, file), in
 * DynamoRIO's format. Disassembler plugins such as Lighthouse read this format.
 *
 * The addresses in pcs are virtual addresses, as in the file's program headers. The offsets in
 * drcov are relative to the first page of the file's image or, for the kernel, to the first symbol
 * (_text).
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "cover.h"

static int by_addr(const void *left, const void *right)
{
	const struct tally_entry *a = left, *b = right;
	int order = 0;

	if (a->key.a != b->key.a) {
		order = strcmp(((struct object *)a->key.a)->path,
			       ((struct object *)b->key.a)->path);
		return order ? order : a->key.a < b->key.a ? -1 : 1;
	}
	return a->key.a_addr < b->key.a_addr ? -1 : a->key.a_addr > b->key.a_addr;
}

void cover_pcs(struct cover *c)
{
	struct tally_entry *list = tally_sorted(&c->insns, by_addr);

	for (size_t i = 0; i < c->insns.nr; i++) {
		const struct object *o = list[i].key.a;

		fprintf(c->out, "%s+0x%llx %llu\n", o->path,
			(unsigned long long)list[i].key.a_addr,
			(unsigned long long)list[i].insns);
	}
	free(list);
}

struct drcov_block {
	uint32_t	start;
	uint16_t	size;
	uint16_t	module;
};

/*
 * A line of the module table. Offsets in the module are relative to the address @base. The executed
 * instruction with the highest address ends at @end.
 */
struct module {
	const struct object	*object;
	uint64_t		base;
	uint64_t		end;
};

/* The kernel's base is its first symbol. The base of JIT code is the lowest executed address. */
static uint64_t base_of(const struct object *o, uint64_t first)
{
	if (o->is_file)
		return o->base;
	return o->kernel && o->nr_syms && o->syms[0].addr < first ? o->syms[0].addr : first;
}

static size_t find_modules(const struct tally_entry *list, size_t nr, struct module *modules)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct object *o = list[i].key.a;

		if (!n || modules[n - 1].object != o) {
			modules[n++] = (struct module) {
				.object = o, .base = base_of(o, list[i].key.a_addr),
			};
		}
		modules[n - 1].end = list[i].key.a_addr + list[i].calls;
	}
	return n;
}

/* A block consists of adjacent instructions that ran equally often. */
static size_t find_blocks(const struct tally_entry *list, size_t nr,
			  const struct module *modules, struct drcov_block *blocks)
{
	size_t n = 0, m = 0;
	uint64_t end = 0;

	for (size_t i = 0; i < nr; i++) {
		bool new_module = i && list[i].key.a != list[i - 1].key.a;

		m += new_module;
		if (i && !new_module && end == list[i].key.a_addr &&
		    list[i].insns == list[i - 1].insns && blocks[n - 1].size < 0xff00) {
			blocks[n - 1].size += list[i].calls;
		} else {
			blocks[n++] = (struct drcov_block) {
				.start = list[i].key.a_addr - modules[m].base,
				.size = list[i].calls, .module = m,
			};
		}
		end = list[i].key.a_addr + list[i].calls;
	}
	return n;
}

void cover_drcov(struct cover *c)
{
	struct tally_entry *list = tally_sorted(&c->insns, by_addr);
	size_t nr = c->insns.nr;
	struct module *modules = mem_alloc((nr + 1) * sizeof(*modules));
	struct drcov_block *blocks = mem_alloc((nr + 1) * sizeof(*blocks));
	size_t nr_modules = find_modules(list, nr, modules);
	size_t nr_blocks = find_blocks(list, nr, modules, blocks);

	fprintf(c->out, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n"
		"Module Table: version 2, count %zu\n"
		"Columns: id, base, end, entry, checksum, timestamp, path\n", nr_modules);
	for (size_t i = 0; i < nr_modules; i++)
		fprintf(c->out, "%3zu, 0x%016llx, 0x%016llx, 0x0, 0x0, 0x0, %s\n", i,
			(unsigned long long)modules[i].base, (unsigned long long)modules[i].end,
			modules[i].object->path);
	fprintf(c->out, "BB Table: %zu bbs\n", nr_blocks);
	if (nr_blocks)
		fwrite(blocks, sizeof(*blocks), nr_blocks, c->out);
	free(blocks);
	free(modules);
	free(list);
}
