// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile for llvm-bolt (fdata): a line for each edge between two places of functions,
 *
 *	1 main 1f 1 fib 0 0 1000	from, to, mispredictions, how often
 *
 * Branches are edges, and so are conditional jumps that were not taken. BTS does not say
 * what was predicted, so mispredictions are 0. Only edges within files are of use to
 * BOLT: the kernel and what has no symbol is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/tally.h"
#include "dump.h"

struct bolt {
	struct dump	*dump;
	struct tally	tally;
	uint64_t	count;
	uint64_t	end;
};

static bool named(const struct sym *s)
{
	return s != &s->object->whole && !s->object->kernel && !s->stub;
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

static int by_place(const void *left, const void *right)
{
	const struct tally_entry *l = left, *r = right;

	if (l->key.a_addr != r->key.a_addr)
		return l->key.a_addr < r->key.a_addr ? -1 : 1;
	if (l->key.b_addr != r->key.b_addr)
		return l->key.b_addr < r->key.b_addr ? -1 : 1;
	return strcmp(((struct sym *)l->key.a)->name, ((struct sym *)r->key.a)->name);
}

/* BOLT numbers local functions of the same name: foo/1, foo/2. */
static void print_name(FILE *out, const struct sym *s)
{
	unsigned int number = 1;

	fputs(s->linked, out);
	if (!s->local)
		return;
	for (const struct sym *other = s->object->syms; other < s; other++)
		number += other->local && !strcmp(other->linked, s->linked);
	fprintf(out, "/%u", number);
}

int dump_bolt(struct dump *d)
{
	struct bolt b = { .dump = d };
	struct tally_entry *list;
	int status;

	d->pipe.consumer = (struct consumer) { .ctx = &b, .fold = fold };
	status = pipe_run(&d->pipe);
	list = tally_sorted(&b.tally, by_place);
	for (size_t i = 0; i < b.tally.nr; i++) {
		const struct sym *from = list[i].key.a, *to = list[i].key.b;

		fputs("1 ", d->out);
		print_name(d->out, from);
		fprintf(d->out, " %llx 1 ", (unsigned long long)(list[i].key.a_addr - from->addr));
		print_name(d->out, to);
		fprintf(d->out, " %llx 0 %llu\n",
			(unsigned long long)(list[i].key.b_addr - to->addr),
			(unsigned long long)list[i].branches);
	}
	free(list);
	tally_free(&b.tally);
	return status;
}
