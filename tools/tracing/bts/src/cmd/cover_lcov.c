// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write coverage in lcov's tracefile format (see geninfo(1)), which genhtml converts to web pages:
 *
 *	TN:test  SF:file  FN:line,function  FNDA:count,function
 *	BRDA:line,0,branch,count  DA:line,count  end_of_record
 *
 * A line that did not run is listed with a count of 0 if the debug information contains the line. A
 * conditional jump has two branches, taken and not taken. If the jump never ran, both counts are
 * "-". Jumps that never ran are found by decoding the functions. A source file that is not on this
 * machine is left out, because genhtml would fail.
 *
 * Functions have their linked (mangled) names, as in geninfo's output. A demangled C++ name may
 * contain a comma, and genhtml would cut the name at the comma.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "cover.h"

struct item {
	const char	*file;
	unsigned int	line;
	enum { ITEM_FN, ITEM_BR, ITEM_DA } type;
	uint64_t	addr;
	uint64_t	count;
	uint64_t	other;
	const char	*name;
};

struct items {
	struct item	*list;
	size_t		nr;
	size_t		room;
};

static struct item *add(struct items *all, const char *file, unsigned int line, int type)
{
	struct item *i;

	if (all->nr == all->room) {
		all->room = all->room ? 2 * all->room : 1024;
		all->list = mem_realloc(all->list, all->room, sizeof(*all->list));
	}
	i = &all->list[all->nr++];
	*i = (struct item) { .file = file, .line = line, .type = type };
	return i;
}

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	if (order)
		return order;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->name && b->name ? strcmp(a->name, b->name) : 0;
}

static uint64_t calls_into(struct cover *c, const struct sym *sym)
{
	struct tally_key key = { .a = sym->object, .a_addr = sym->addr };

	return tally_get(&c->calls, &key)->calls;
}

/* Add the conditional jumps of a function, including jumps that never ran. */
static void add_conds(struct cover *c, struct object *o, const struct sym *s)
{
	enum branch_kind kind;
	uint32_t length;

	for (uint64_t addr = s->addr; addr < s->end; addr += length) {
		length = branch_kind_at(o, addr, &kind);
		if (!length)
			return;
		if (kind == BRANCH_COND)
			cover_cond(c, o, addr);
	}
}

/* Add the functions that exist only as inlined copies. */
static void add_copies(struct items *all, struct copies *copies)
{
	for (size_t i = 0; i < copies->nr; i++) {
		const struct copy *copy = &copies->list[i];
		struct item *fn;

		if (copy->merged || !copy->path || copy->line <= 0)
			continue;
		fn = add(all, copy->path, copy->line, ITEM_FN);
		fn->name = copy->sym->linked;
		fn->count = copy->entries;
	}
	free(copies->list);
}

static void add_object(struct cover *c, struct items *all, struct object *o)
{
	struct copies copies = {};
	const char *file;
	unsigned int line;

	/* Look up an arbitrary address, so that the object's line table is read. */
	object_line(o, 0, &file, &line);
	for (size_t i = 0; i < o->nr_lines; i++)
		if (o->lines[i].file && o->lines[i].line)
			add(all, o->lines[i].file, o->lines[i].line, ITEM_DA);
	if (c->options->inlines)
		cover_copies(c, o, &copies);
	for (size_t i = 0; o->nr_lines && i < o->nr_syms; i++) {
		struct sym *s = &o->syms[i];

		if (object_line(o, s->addr, &file, &line)) {
			struct item *fn = add(all, file, line, ITEM_FN);

			fn->name = s->linked;
			fn->count = calls_into(c, s) + cover_copies_of(&copies, s, file);
			add_conds(c, o, s);
		}
	}
	add_copies(all, &copies);
}

static void add_counts(struct cover *c, struct items *all)
{
	const char *file;
	unsigned int line;

	for (size_t i = 0; i < c->lines.room; i++) {
		const struct tally_entry *e = &c->lines.slots[i];

		if (e->key.a)
			add(all, e->key.a, e->key.a_addr, ITEM_DA)->count = e->branches;
	}
	for (size_t i = 0; i < c->conds.room; i++) {
		const struct tally_entry *e = &c->conds.slots[i];
		struct item *br;

		if (!e->key.a || !object_line((struct object *)e->key.a, e->key.a_addr, &file,
					      &line))
			continue;
		br = add(all, file, line, ITEM_BR);
		br->addr = e->key.a_addr;
		br->count = e->calls;
		br->other = e->branches;
	}
}

/* Return the index of the next item that differs from item @i. The caller merges equal items. */
static size_t skip_equal(const struct item *list, size_t nr, size_t i)
{
	size_t next = i + 1;

	while (next < nr && list[next].line == list[i].line && list[next].addr == list[i].addr &&
	       (!list[i].name || !strcmp(list[next].name, list[i].name)))
		next++;
	return next;
}

static void print_functions(FILE *out, const struct item *list, size_t nr)
{
	unsigned int found = 0, hit = 0;

	for (size_t i = 0; i < nr; i = skip_equal(list, nr, i), found++)
		fprintf(out, "FN:%u,%s\n", list[i].line, list[i].name);
	for (size_t i = 0, next; i < nr; i = next) {
		uint64_t count = 0;

		next = skip_equal(list, nr, i);
		for (size_t n = i; n < next; n++)
			count += list[n].count;
		fprintf(out, "FNDA:%llu,%s\n", (unsigned long long)count, list[i].name);
		hit += !!count;
	}
	fprintf(out, "FNF:%u\nFNH:%u\n", found, hit);
}

static void print_branch(FILE *out, const struct item *br, unsigned int branch, uint64_t count)
{
	fprintf(out, "BRDA:%u,0,%u,", br->line, branch);
	if (br->count || br->other)
		fprintf(out, "%llu\n", (unsigned long long)count);
	else
		fputs("-\n", out);
}

static void print_branches(FILE *out, const struct item *list, size_t nr)
{
	unsigned int hit = 0, branch = 0;

	for (size_t i = 0; i < nr; i++) {
		branch = i && list[i - 1].line == list[i].line ? branch + 2 : 0;
		print_branch(out, &list[i], branch, list[i].count);
		print_branch(out, &list[i], branch + 1, list[i].other);
		hit += !!list[i].count + !!list[i].other;
	}
	fprintf(out, "BRF:%zu\nBRH:%u\n", 2 * nr, hit);
}

struct sums {
	size_t		files;
	size_t		skipped;
	unsigned long	lines;
	unsigned long	hit;
};

static void print_lines(FILE *out, const struct item *list, size_t nr, struct sums *sums)
{
	unsigned int lines = 0, hit = 0;

	for (size_t i = 0, next; i < nr; i = next) {
		uint64_t count = 0;

		for (next = i; next < nr && list[next].line == list[i].line; next++)
			count += list[next].count;
		fprintf(out, "DA:%u,%llu\n", list[i].line, (unsigned long long)count);
		lines++;
		hit += !!count;
	}
	fprintf(out, "LF:%u\nLH:%u\n", lines, hit);
	sums->lines += lines;
	sums->hit += hit;
}

static size_t of_type(const struct item *list, size_t nr, int type)
{
	size_t n = 0;

	while (n < nr && list[n].type == (unsigned int)type)
		n++;
	return n;
}

/* @path comes from realpath(), because the path in the debug information may contain "..". */
static void print_file(const struct cover *c, const char *path, const struct item *list,
		       size_t nr, struct sums *sums)
{
	FILE *out = c->out;
	size_t n;

	fprintf(out, "TN:%s\nSF:%s\n", c->test ? c->test : "", path);
	n = of_type(list, nr, ITEM_FN);
	print_functions(out, list, n);
	list += n;
	nr -= n;
	n = of_type(list, nr, ITEM_BR);
	print_branches(out, list, n);
	print_lines(out, list + n, nr - n, sums);
	fprintf(out, "end_of_record\n");
	sums->files++;
}

static bool has_run(const struct cover *c, const struct object *o)
{
	for (size_t i = 0; i < c->insns.room; i++)
		if (c->insns.slots[i].key.a == o)
			return true;
	return false;
}

/* Warn that the output omits the executed files that have no line information. */
static void print_without(const struct cover *c, const struct pipe *pipe)
{
	const char *comma = "";
	FILE *out;
	char *names;
	size_t size;

	out = open_memstream(&names, &size);
	for (const struct object *o = pipe->objects.list; o && out; o = o->next) {
		if (o->priv != o || o->nr_lines || !c->wanted(c, o) || !has_run(c, o))
			continue;
		fprintf(out, "%s%s%s", comma, o->name, o->kernel ? " (use --vmlinux)" : "");
		comma = ", ";
	}
	if (!out)
		return;
	if (!fclose(out) && size)
		msg_warn("cover: no debug information: %s", names);
	free(names);
}

static void add_trace(struct cover *c, struct items *all, const struct pipe *pipe)
{
	for (struct object *o = pipe->objects.list; o; o = o->next)
		if (cover_object(c, o) == o && c->wanted(c, o))
			add_object(c, all, o);
}

void cover_lcov(struct cover *c)
{
	struct items all = {};
	struct sums sums = {};
	char *path;

	for (size_t i = 0; i < c->nr_pipes; i++)
		add_trace(c, &all, c->pipes[i]);
	add_counts(c, &all);
	if (all.nr)
		qsort(all.list, all.nr, sizeof(*all.list), compare);
	for (size_t i = 0, next; i < all.nr; i = next) {
		for (next = i; next < all.nr && !strcmp(all.list[next].file, all.list[i].file);)
			next++;
		path = realpath(all.list[i].file, NULL);
		if (!path || access(path, R_OK))
			sums.skipped++;
		else
			print_file(c, path, &all.list[i], next - i, &sums);
		free(path);
	}
	free(all.list);
	msg_warn("cover: %s%s%lu of %lu line%s ran; "
		 "files with source: %zu, without source (left out): %zu",
		 c->test ? c->test : "", c->test ? ": " : "", sums.hit, sums.lines,
		 text_plural(sums.lines, "s"), sums.files, sums.skipped);
	for (size_t i = 0; i < c->nr_pipes; i++)
		print_without(c, c->pipes[i]);
}
