// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a profile for llvm-bolt (fdata), with a line for each edge between two instructions:
 *
 *	1 main 1f 1 fib 0 0 1000	from, to, mispredictions, count
 *
 * An edge is a taken branch, or the way from an untaken conditional jump to the next instruction.
 * BTS does not record predictions, so the number of mispredictions is 0. BOLT uses only edges
 * inside a file, so edges between files are left out. An edge is also left out if it begins or ends
 * in the kernel, in a PLT stub, in code without a symbol, or in memory without a file. If several
 * edges have the same text in "from" and "to", one line contains the sum of their counts.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/tally.h"
#include "lib/mem.h"
#include "dump.h"

struct bolt {
	struct dump	*dump;
	struct tally	tally;
	uint64_t	count;
	uint64_t	end;
};

static bool named(const struct sym *s)
{
	return s != &s->object->whole && s->object->is_file && !s->object->kernel && !s->stub;
}

static void edge(struct bolt *b, struct sym *from, uint64_t from_addr, struct sym *to,
		 uint64_t to_addr)
{
	struct tally_key key = { .a = from, .a_addr = from_addr, .b = to, .b_addr = to_addr };
	const char *dso = b->dump->pipe.options->dso;

	if (named(from) && named(to) && from->object == to->object &&
	    (!dso || object_is_named(from->object, dso)))
		tally_get(&b->tally, &key)->branches += b->count;
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct bolt *b = ctx;
	enum branch_kind kind;

	if (addr == b->end || !branch_kind_at(sym->object, addr, &kind) || kind != BRANCH_COND)
		return;
	edge(b, sym, addr, object_sym(sym->object, addr + length), addr + length);
}

static void fold(void *ctx, struct step *s)
{
	struct bolt *b = ctx;

	if (!s->count || !(s->flags & STEP_SHOWN) || is_kernel(s->from))
		return;
	b->count = s->count;
	b->end = s->at_from.addr;
	step_each(&b->dump->pipe, s, one_insn, b);
	if (!is_kernel(s->to))
		edge(b, s->at_from.sym, s->at_from.addr, s->at_to.sym, s->at_to.addr);
}

static int by_linked(const void *left, const void *right)
{
	const struct sym *a = *(const struct sym *const *)left;
	const struct sym *b = *(const struct sym *const *)right;
	int order = strcmp(a->linked, b->linked);

	return order ? order : (a > b) - (a < b);
}

/* Local functions with the same name get the numbers 1, 2, 3 ... Other functions get 0. */
static unsigned int *local_numbers(const struct object *o)
{
	const struct sym **list = mem_alloc(o->nr_syms * sizeof(*list));
	unsigned int *numbers = mem_zalloc(o->nr_syms, sizeof(*numbers));
	size_t nr = 0;

	for (size_t i = 0; i < o->nr_syms; i++)
		if (o->syms[i].local)
			list[nr++] = &o->syms[i];
	if (nr)
		qsort(list, nr, sizeof(*list), by_linked);
	for (size_t i = 0; i < nr; i++) {
		bool same = i && !strcmp(list[i]->linked, list[i - 1]->linked);

		numbers[list[i] - o->syms] = same ? numbers[list[i - 1] - o->syms] + 1 : 1;
	}
	free(list);
	return numbers;
}

/* Return BOLT's name for @s, such as "foo/2" for the second local foo. The caller frees it. */
static char *name_of(const struct sym *s)
{
	struct object *o = s->object;
	const unsigned int *numbers;

	if (!s->local)
		return mem_strdup(s->linked);
	if (!o->priv)
		o->priv = local_numbers(o);
	numbers = o->priv;
	return mem_format("%s/%u", s->linked, numbers[s - o->syms]);
}

/* The edges of all traces, as text, because their symbols are freed at the end of each trace. */
struct bolt_sums {
	struct bolt_line {
		char		*text;
		uint64_t	count;
	}		*lines;
	size_t		nr;
};

static void add_line(struct bolt_sums *sums, const struct tally_entry *e)
{
	const struct sym *from = e->key.a, *to = e->key.b;
	char *from_name = name_of(from), *to_name = name_of(to);

	sums->lines[sums->nr++] = (struct bolt_line) {
		.text = mem_format("1 %s %llx 1 %s %llx 0", from_name,
				   (unsigned long long)(e->key.a_addr - from->addr), to_name,
				   (unsigned long long)(e->key.b_addr - to->addr)),
		.count = e->branches,
	};
	free(from_name);
	free(to_name);
}

static bool same_builds(struct dump *d)
{
	const char *dso = d->pipe.options->dso;

	for (const struct object *o = d->pipe.objects.list; o; o = o->next)
		if (o->is_file && (!dso || object_is_named(o, dso)) && !dump_same_build(d, o))
			return false;
	return true;
}

int dump_bolt(struct dump *d)
{
	struct bolt b = { .dump = d };
	struct bolt_sums *sums = d->sums;
	int status;

	if (!sums) {
		sums = mem_zalloc(1, sizeof(*sums));
		d->sums = sums;
	}
	d->pipe.consumer = (struct consumer) { .ctx = &b, .fold = fold };
	status = pipe_run(&d->pipe) || !same_builds(d);
	sums->lines = mem_realloc(sums->lines, sums->nr + b.tally.nr, sizeof(*sums->lines));
	for (size_t i = 0; !status && i < b.tally.room; i++)
		if (b.tally.slots[i].key.a)
			add_line(sums, &b.tally.slots[i]);
	for (struct object *o = d->pipe.objects.list; o; o = o->next) {
		free(o->priv);
		o->priv = NULL;
	}
	tally_free(&b.tally);
	return status;
}

static int by_text(const void *left, const void *right)
{
	const struct bolt_line *l = left, *r = right;

	return strcmp(l->text, r->text);
}

void dump_bolt_end(struct dump *d)
{
	struct bolt_sums *sums = d->sums;

	if (!sums)
		return;
	if (sums->nr)
		qsort(sums->lines, sums->nr, sizeof(*sums->lines), by_text);
	for (size_t i = 0; i < sums->nr; i++) {
		const struct bolt_line *line = &sums->lines[i];

		if (i + 1 < sums->nr && !strcmp(line->text, line[1].text))
			sums->lines[i + 1].count += line->count;
		else
			fprintf(d->out, "%s %llu\n", line->text, (unsigned long long)line->count);
		free(line->text);
	}
	free(sums->lines);
	free(sums);
}
