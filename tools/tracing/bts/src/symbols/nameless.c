// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give names such as [FILE+0x1180] to functions without symbols, for example in a stripped file.
 * The unwinder's tables contain the addresses of these functions. A part that the compiler has
 * split from a function is treated as a separate function.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lsda.h"

/* The functions without symbols, in the order of the unwinder's tables. */
struct nameless {
	struct object	*object;
	struct sym	*list;
	size_t		nr;
};

static void add(void *ctx, uint64_t begin, uint64_t end)
{
	struct nameless *n = ctx;

	if (object_sym(n->object, begin) != &n->object->whole)
		return;
	if (!(n->nr & (n->nr - 1)))
		n->list = mem_realloc(n->list, n->nr ? 2 * n->nr : 1, sizeof(*n->list));
	n->list[n->nr++] = (struct sym) {
		.addr = begin, .end = end, .object = n->object, .local = true,
		.nameless = true,
	};
}

static void name_it(struct sym *s)
{
	char *name = mem_format("[%s+%#llx]", s->object->name, (unsigned long long)s->addr);

	s->name = object_string(s->object, name);
	s->plain = s->name;
	s->linked = s->name;
	free(name);
}

static int compare(const void *left, const void *right)
{
	const struct sym *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

void nameless_syms(struct object *o)
{
	struct nameless n = { .object = o };
	size_t nr = 0;

	lsda_each(o, add, &n);
	if (!n.nr)
		return;
	o->syms = mem_realloc(o->syms, o->nr_syms + n.nr, sizeof(*o->syms));
	memcpy(o->syms + o->nr_syms, n.list, n.nr * sizeof(*n.list));
	free(n.list);
	n.nr += o->nr_syms;
	qsort(o->syms, n.nr, sizeof(*o->syms), compare);
	/* Shorten functions that overlap the next one. A damaged file may list a function twice. */
	for (size_t i = 0; i < n.nr; i++) {
		if (nr && o->syms[nr - 1].addr == o->syms[i].addr)
			continue;
		if (nr && o->syms[nr - 1].end > o->syms[i].addr)
			o->syms[nr - 1].end = o->syms[i].addr;
		o->syms[nr++] = o->syms[i];
	}
	o->nr_syms = nr;
	for (size_t i = 0; i < nr; i++)
		if (!o->syms[i].name)
			name_it(&o->syms[i]);
}
