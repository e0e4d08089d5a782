// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count how often inlined functions were entered, for bts cover --inline.
 *
 * If the compiler inlines a function into only some callers, the function also exists out of line.
 * As in gcov, the count of such a function is the number of calls of the out-of-line code plus the
 * number of entries into all inlined copies.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/inlines.h"
#include "cover.h"

static int by_linked(const void *left, const void *right)
{
	const struct copy *a = left, *b = right;

	return strcmp(a->sym->linked, b->sym->linked);
}

void cover_copies(struct cover *c, struct object *o, struct copies *copies)
{
	struct sym *const *list;

	copies->nr = object_inlined_list(o, &list);
	copies->list = mem_zalloc(copies->nr + 1, sizeof(*copies->list));
	for (size_t i = 0; i < copies->nr; i++) {
		struct copy *copy = &copies->list[i];

		copy->sym = list[i];
		copy->path = inlined_declaration(list[i], &copy->line);
		copy->entries = cover_inlined(c, o, list[i])->calls;
	}
	qsort(copies->list, copies->nr, sizeof(*copies->list), by_linked);
}

static bool is_of(const struct copy *copy, const struct sym *s, const char *file)
{
	return !strcmp(copy->sym->linked, s->linked) && copy->path && !strcmp(copy->path, file);
}

uint64_t cover_copies_of(struct copies *copies, const struct sym *s, const char *file)
{
	const struct copy wanted = { .sym = s };
	size_t low = 0, high = copies->nr, mid;
	uint64_t entries = 0;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (by_linked(&copies->list[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < copies->nr && !strcmp(copies->list[low].sym->linked, s->linked); low++) {
		struct copy *copy = &copies->list[low];

		if (copy->merged || !is_of(copy, s, file))
			continue;
		copy->merged = true;
		entries += copy->entries;
	}
	return entries;
}
