// SPDX-License-Identifier: GPL-2.0-only
/*
 * If several functions in a file have the same name, make the names unique by adding the arguments
 * (C++ overloads), the source file (static functions) or the address:
 *
 *	pick(int)	pick(double)	init [a.c]	init [b.c]	init [0x1180]
 *
 * Global functions with the same symbol name, for example two memcpy() in the C library, differ
 * only in their symbol versions. These functions are not renamed, and neither are PLT stubs.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "object.h"

typedef const char *(*longer_fn)(struct object *o, const struct sym *s);

static const char *with_arguments(struct object *o, const struct sym *s)
{
	return sym_demangle(o, s->linked, true);
}

static const char *keep(struct object *o, char *name)
{
	const char *kept = object_string(o, name);

	free(name);
	return kept;
}

static const char *with_file(struct object *o, const struct sym *s)
{
	return s->file ? keep(o, mem_format("%s [%s]", s->name, s->file)) : s->name;
}

static const char *with_addr(struct object *o, const struct sym *s)
{
	if (!s->local)
		return s->name;
	return keep(o, mem_format("%s [%#llx]", s->plain, (unsigned long long)s->addr));
}

static int by_name(const void *left, const void *right)
{
	const struct sym *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

/* Remove the functions with a unique name from the list. Return the new length of the list. */
static size_t keep_equal(struct sym **list, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(list, nr, sizeof(*list), by_name);
	for (size_t first = 0, end; first < nr; first = end) {
		for (end = first + 1; end < nr && !by_name(&list[first], &list[end]); end++)
			;
		for (size_t i = first; end - first > 1 && i < end; i++)
			list[kept++] = list[i];
	}
	return kept;
}

void syms_tell_apart(struct object *o, struct sym *const *syms, size_t nr)
{
	static const longer_fn longer[] = { with_arguments, with_file, with_addr };
	struct sym **list = mem_alloc(nr * sizeof(struct sym *));

	if (nr)
		memcpy(list, syms, nr * sizeof(struct sym *));
	for (size_t way = 0; way < ARRAY_SIZE(longer); way++) {
		nr = keep_equal(list, nr);
		for (size_t i = 0; i < nr; i++)
			list[i]->name = longer[way](o, list[i]);
	}
	free(list);
}

void object_tell_apart(struct object *o)
{
	struct sym **list = mem_alloc(o->nr_syms * sizeof(struct sym *));
	size_t nr = 0;

	for (size_t i = 0; i < o->nr_syms; i++)
		if (!o->syms[i].stub)
			list[nr++] = &o->syms[i];
	syms_tell_apart(o, list, nr);
	free(list);
}
