// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the inlined calls from DWARF.
 *
 * The first look-up in an object reads all its inlined calls. The address ranges of the calls are
 * nested. They are converted to spans, which are sorted by address and do not overlap:
 *
 *	main()		[------------------------------]
 *	outer()		      [------------------]
 *	inner()		            [-----]
 *	spans		      outer inner outer
 *
 * All inlined calls of a function share one struct sym. A function is identified by the file and
 * line of its declaration and by its linkage name. If the function has no linkage name, its name
 * in the source is used instead.
 */
#include <dwarf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/sorted.h"
#include "dwarf.h"
#include "inlines.h"

/* The maximum depth of nested DIEs. Only a damaged file has a greater depth. */
#define NESTING_MAX	256

struct span {
	uint64_t		low;
	uint64_t		high;
	const struct inlined	*call;
};

/**
 * struct function - an inlined function
 * @sym:	must be the first member
 * @path:	the path of the source file that declares the function, or NULL
 * @line:	the line of the declaration in this source file
 */
struct function {
	struct sym	sym;
	const char	*path;
	int		line;
};

/**
 * struct inline_table - the inlined calls of an object
 * @spans:	sorted by address, without overlap
 * @calls:	the calls to which the spans point
 * @functions:	a tree of struct function, for tsearch()
 * @list:	the functions of the tree, for syms_tell_apart()
 * @dir:	the directory in which the current unit was compiled
 * @last:	the offset of the last DIE that was read
 */
struct inline_table {
	struct object	*object;
	const char	*dir;
	Dwarf_Off	last;
	struct span	*spans;
	size_t		nr_spans;
	struct inlined	**calls;
	size_t		nr_calls;
	void		*functions;
	struct sym	**list;
	size_t		nr_functions;
};

static int text_order(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

static int function_order(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	int order = strcmp(a->sym.linked, b->sym.linked);

	if (!order)
		order = text_order(a->sym.file, b->sym.file);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Make room for one more item in a list of @nr items. */
static void *list_room(void *list, size_t nr, size_t size)
{
	return nr & (nr - 1) ? list : mem_realloc(list, nr ? 2 * nr : 1, size);
}

static struct sym *function_get(struct inline_table *t, const struct function *wanted)
{
	struct function *f = mem_alloc(sizeof(*f));
	struct function **found;

	*f = *wanted;
	found = tsearch(f, &t->functions, function_order);
	if (found && *found != f) {
		free(f);
		return &(*found)->sym;
	}
	f->sym.linked = object_string(t->object, f->sym.linked);
	f->sym.plain = sym_demangle(t->object, f->sym.linked, false);
	f->sym.name = f->sym.plain;
	if (f->sym.file)
		f->sym.file = object_string(t->object, f->sym.file);
	f->path = unit_path(t->object, t->dir, f->path);
	t->list = list_room(t->list, t->nr_functions, sizeof(struct sym *));
	t->list[t->nr_functions++] = &f->sym;
	f->sym.inlined = t->nr_functions;
	return &f->sym;
}

/* Find or create the function of a DIE. */
static struct sym *function_of(struct inline_table *t, Dwarf_Die *die, uint64_t addr)
{
	struct function f = { .sym = { .object = t->object, .addr = addr, .local = true } };
	Dwarf_Attribute attr;
	const char *file;

	f.sym.linked = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));
	if (!f.sym.linked)
		f.sym.linked = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
	if (!f.sym.linked)
		return NULL;
	file = dwarf_decl_file(die);
	f.path = file;
	if (file && strrchr(file, '/'))
		file = strrchr(file, '/') + 1;
	f.sym.file = file;
	dwarf_decl_line(die, &f.line);
	return function_get(t, &f);
}

bool is_discarded(const struct object *o, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	bool any = false;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low < high && is_code(o, low))
			return false;
		any = true;
	}
	return any && !at;
}

/* Add a call and return it. If the call has no code or no name, only return @outer. */
static struct inlined *call_add(struct inline_table *t, Dwarf_Die *die, struct inlined *outer)
{
	struct inlined *call = NULL;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (low >= high || !is_code(t->object, low))
			continue;
		if (!call) {
			call = mem_zalloc(1, sizeof(*call));
			call->sym = function_of(t, die, low + t->object->debug_bias);
			call->outer = outer;
			call->depth = outer ? outer->depth + 1 : 1;
			t->calls = list_room(t->calls, t->nr_calls, sizeof(*t->calls));
			t->calls[t->nr_calls++] = call;
			call->number = t->nr_calls;
		}
		if (!call->sym)
			break;
		t->spans = list_room(t->spans, t->nr_spans, sizeof(*t->spans));
		t->spans[t->nr_spans++] = (struct span) {
			.low = low + t->object->debug_bias,
			.high = high + t->object->debug_bias, .call = call,
		};
	}
	return call && call->sym ? call : outer;
}

static void read_children(struct inline_table *t, Dwarf_Die *parent, struct inlined *outer,
			  unsigned int nesting)
{
	Dwarf_Die die;

	if (nesting == NESTING_MAX || dwarf_child(parent, &die))
		return;
	do {
		struct inlined *inner = outer;

		/* In a damaged file, the next sibling may be a DIE that was already read. */
		if (dwarf_dieoffset(&die) <= t->last)
			return;
		t->last = dwarf_dieoffset(&die);
		if (dwarf_tag(&die) == DW_TAG_subprogram) {
			if (is_discarded(t->object, &die))
				continue;
			inner = NULL;
		}
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			inner = call_add(t, &die, outer);
		read_children(t, &die, inner, nesting + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/* Sort a call after the calls that contain it. */
static int span_order(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->call->depth > b->call->depth) - (a->call->depth < b->call->depth);
}

struct flat {
	struct span	*spans;
	size_t		nr;
	struct span	*open;
	size_t		nr_open;
	uint64_t	done;
};

/* Add a span from f->done to @addr for the innermost call that has not ended, if any. */
static void flat_to(struct flat *f, uint64_t addr)
{
	if (f->nr_open && f->done < addr)
		f->spans[f->nr++] = (struct span) {
			.low = f->done, .high = addr, .call = f->open[f->nr_open - 1].call,
		};
	f->done = addr;
}

static void flat_close(struct flat *f, uint64_t addr)
{
	while (f->nr_open && f->open[f->nr_open - 1].high <= addr) {
		flat_to(f, f->open[f->nr_open - 1].high);
		f->nr_open--;
	}
}

static void flatten(struct inline_table *t)
{
	struct flat f = {
		.spans = mem_zalloc(2 * t->nr_spans, sizeof(*t->spans)),
		.open = mem_zalloc(t->nr_spans, sizeof(*t->spans)),
	};

	if (t->nr_spans)
		qsort(t->spans, t->nr_spans, sizeof(*t->spans), span_order);
	for (size_t i = 0; i < t->nr_spans; i++) {
		struct span s = t->spans[i];

		flat_close(&f, s.low);
		flat_to(&f, s.low);
		/* Spans nest, unless the file is damaged. */
		if (f.nr_open && s.high > f.open[f.nr_open - 1].high)
			s.high = f.open[f.nr_open - 1].high;
		f.open[f.nr_open++] = s;
	}
	flat_close(&f, UINT64_MAX);
	free(f.open);
	free(t->spans);
	t->spans = f.spans;
	t->nr_spans = f.nr;
}

static void name_functions(struct inline_table *t)
{
	syms_tell_apart(t->object, t->list, t->nr_functions);
	for (size_t i = 0; i < t->nr_functions; i++) {
		char *name = mem_format("%s%s" INLINED_SUFFIX, t->list[i]->name,
					t->object->proof == OBJECT_UNPROVEN ? "?" : "");

		t->list[i]->name = object_string(t->object, name);
		free(name);
	}
}

/* Read the DIEs of a unit. With -gsplit-dwarf, the DIEs are in another file. */
static void read_unit(struct inline_table *t, Dwarf_Die *unit)
{
	Dwarf_Die apart = {};

	if (is_discarded(t->object, unit))
		return;
	t->dir = unit_dir(unit);
	if (!dwarf_cu_info(unit->cu, NULL, NULL, NULL, &apart, NULL, NULL, NULL) && apart.cu)
		unit = &apart;
	t->last = dwarf_dieoffset(unit);
	read_children(t, unit, NULL, 0);
}

static struct inline_table *table_of(struct object *o)
{
	struct inline_table *t = o->inlines;
	struct units units;

	if (t)
		return t;
	t = mem_zalloc(1, sizeof(*t));
	t->object = o;
	o->inlines = t;
	units_begin(&units, o);
	while (units_next(&units))
		read_unit(t, &units.die);
	t->dir = NULL;
	units_end(&units);
	flatten(t);
	name_functions(t);
	return t;
}

const struct inlined *object_inlined(struct object *o, uint64_t addr, uint64_t *end)
{
	struct inline_table *t = table_of(o);
	size_t low = sorted_upto(t->spans, t->nr_spans, sizeof(*t->spans), addr);
	const struct span *s;

	s = low && addr < t->spans[low - 1].high ? &t->spans[low - 1] : NULL;
	if (end)
		*end = s ? s->high : low < t->nr_spans ? t->spans[low].low : UINT64_MAX;
	return s ? s->call : NULL;
}

const struct inlined *inlined_at(const struct inlined *in, unsigned int depth)
{
	while (in && in->depth > depth)
		in = in->outer;
	return in;
}

const char *inlined_declaration(const struct sym *inlined, int *line)
{
	/* @sym is the first member of struct function. */
	const struct function *f = (const void *)inlined;

	*line = f->line;
	return f->path;
}

size_t object_inlined_list(struct object *o, struct sym *const **list)
{
	const struct inline_table *t = table_of(o);

	*list = t->list;
	return t->nr_functions;
}

void inlines_free(struct object *o)
{
	struct inline_table *t = o->inlines;

	if (!t)
		return;
	tdestroy(t->functions, free);
	for (size_t i = 0; i < t->nr_calls; i++)
		free(t->calls[i]);
	free(t->calls);
	free(t->list);
	free(t->spans);
	free(t);
	o->inlines = NULL;
}
