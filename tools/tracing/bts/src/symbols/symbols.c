// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build symbol tables from ELF files, /proc/kallsyms and the maps of JIT compilers.
 *
 * First collect all symbols, then sort them. If an address has several names, the name with the
 * highest rank (global, then weak, then local) becomes the function's name. Among names of equal
 * rank, symbols with a size are preferred, then shorter names. A name that may mark the start or
 * end of a kernel section is used only if the address has no other name. The other names of the
 * address, except labels, become aliases. Users may also refer to the function by an alias. A
 * symbol whose size is unknown, or that overlaps the next symbol, ends at the next symbol.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "object.h"
#include "roles.h"

/* The assumed size of the last symbol, if its true size is unknown. */
#define SYM_OPEN	4096

void sym_list_add(struct sym_list *list, uint64_t addr, uint64_t size, const char *name,
		  unsigned int rank)
{
	if (list->nr == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->list = mem_realloc(list->list, list->room, sizeof(*list->list));
	}
	list->list[list->nr++] = (struct sym_add) {
		.addr = addr, .size = size, .name = name, .rank = rank,
	};
}

static int compare(const void *left, const void *right)
{
	const struct sym_add *a = left, *b = right;
	size_t a_length, b_length;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->bound != b->bound)
		return a->bound ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	a_length = strlen(a->name);
	b_length = strlen(b->name);
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Return a copy of the string. The copy is freed with the object. */
char *object_string(struct object *o, const char *string)
{
	char *copy = mem_strdup(string);
	size_t nr = o->nr_names;

	if (!(nr & (nr - 1)))
		o->names = mem_realloc(o->names, nr ? 2 * nr : 1, sizeof(*o->names));
	o->names[o->nr_names++] = copy;
	return copy;
}

/* Shorten printf@@GLIBC_2.2.5 to printf, but keep printf@plt. */
static char *sym_name(struct object *o, const char *name)
{
	char *copy = object_string(o, name), *at = strchr(copy, '@');

	if (at && at != copy && strcmp(at, "@plt"))
		*at = 0;
	return copy;
}

static bool is_stub(const char *name)
{
	return strstr(name, "@plt") || !strcmp(name, "[plt]") ||
	       !strncmp(name, "_dl_runtime_resolve", 19);
}

static void add_alias(struct object *o, const struct sym_add *a)
{
	char *linked = sym_name(o, a->name);
	size_t nr = o->nr_aliases;

	/* Remove the tab and the name of the kernel module. */
	linked[strcspn(linked, "\t")] = 0;
	if (!(nr & (nr - 1)))
		o->aliases = mem_realloc(o->aliases, nr ? 2 * nr : 1, sizeof(*o->aliases));
	o->aliases[o->nr_aliases++] = (struct alias) {
		.addr = a->addr, .linked = linked, .plain = sym_demangle(o, linked, false),
	};
}

/*
 * Skip labels (symbols without type and size) inside a function. But if the size of the function is
 * unknown, keep global labels: they may be functions, because assemblers such as NASM set neither
 * the type nor the size of a function.
 */
void object_set_syms(struct object *o, struct sym_list *list)
{
	struct sym *syms = mem_zalloc(list->nr, sizeof(*syms));
	bool open = false;
	size_t nr = 0;

	o->nr_aliases = 0;
	if (list->nr)
		qsort(list->list, list->nr, sizeof(*list->list), compare);
	for (size_t i = 0; i < list->nr; i++) {
		struct sym_add *a = &list->list[i];
		struct sym *s = &syms[nr];

		if (nr && syms[nr - 1].addr == a->addr) {
			if (a->rank > 1)
				add_alias(o, a);
			continue;
		}
		if (nr && a->rank <= 1 && a->addr < syms[nr - 1].end && !a->size &&
		    !(open && a->global))
			continue;
		open = a->open;
		s->addr = a->addr;
		s->end = a->size ? a->addr + a->size : UINT64_MAX;
		s->name = a->name;
		s->file = a->file;
		s->object = o;
		s->local = a->rank <= 2;
		if (nr && syms[nr - 1].end > s->addr)
			syms[nr - 1].end = s->addr;
		nr++;
	}
	if (nr && syms[nr - 1].end == UINT64_MAX)
		syms[nr - 1].end = syms[nr - 1].addr + SYM_OPEN;
	/* Copy the names, because they are in memory that will be freed. */
	for (size_t i = 0; i < nr; i++) {
		syms[i].linked = sym_name(o, syms[i].name);
		syms[i].plain = sym_demangle(o, syms[i].linked, false);
		syms[i].name = syms[i].plain;
		if (syms[i].file && syms[i].local)
			syms[i].file = object_string(o, syms[i].file);
		else
			syms[i].file = NULL;
		syms[i].stub = is_stub(syms[i].linked);
	}
	free(o->syms);
	o->syms = syms;
	o->nr_syms = nr;
	free(list->list);
	*list = (struct sym_list) {};
}

/*
 * Report whether @name consists of @wanted and the suffix of a copy or of a nested function. For
 * example, if @wanted is f, accept f.constprop.0 (a copy of f) and f.1 (a nested function f).
 */
static bool is_copy(const char *name, const char *wanted)
{
	const char *suffix = name + strlen(wanted);

	if (strncmp(name, wanted, strlen(wanted)))
		return false;
	return *suffix == '.' && !suffix_is_part(suffix);
}

static bool name_is(const char *plain, const char *linked, const char *wanted)
{
	if (!strcmp(plain, wanted) || !strcmp(linked, wanted))
		return true;
	if (*wanted && is_copy(plain, wanted))
		return true;
	return strpbrk(wanted, "*?") &&
	       (!fnmatch(wanted, plain, 0) || !fnmatch(wanted, linked, 0));
}

const struct alias *sym_aliases(const struct sym *s, size_t *nr)
{
	const struct object *o = s->object->code;
	size_t low = 0, high = o->nr_aliases, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (o->aliases[mid].addr < s->addr)
			low = mid + 1;
		else
			high = mid;
	}
	while (high < o->nr_aliases && o->aliases[high].addr == s->addr)
		high++;
	*nr = high - low;
	return *nr ? o->aliases + low : NULL;
}

bool sym_is(const struct sym *s, const char *wanted)
{
	const struct alias *alias;
	size_t nr;

	if (name_is(s->plain, s->linked, wanted) || !strcmp(s->name, wanted))
		return true;
	alias = sym_aliases(s, &nr);
	for (size_t i = 0; i < nr; i++)
		if (name_is(alias[i].plain, alias[i].linked, wanted))
			return true;
	return false;
}

/* Find or create the object of a kernel module. */
static struct object *module_get(struct objects *all, const char *module)
{
	struct object *o;

	for (o = all->list; o; o = o->next)
		if (o->kernel && !strcmp(o->name, module))
			return o;
	o = object_new(all, module, module);
	o->kernel = true;
	o->code = all->kernel;
	return o;
}

/* Parse "address type name". If the symbol is in a module, a tab and "[module]" follow the name. */
static const char *kallsyms_line(char *line, uint64_t *addr, char *type)
{
	char *rest;

	*addr = strtoull(line, &rest, 16);
	if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ' || !*addr)
		return NULL;
	*type = rest[1];
	return strchr("tTwW", *type) ? rest + 3 : NULL;
}

/* Report whether the kernel's linker script may define this name (see scripts/kallsyms.c). */
static bool is_bound(const char *name)
{
	if (name[0] != '_')
		return false;
	return !fnmatch("__*_start", name, 0) || !fnmatch("__*_end", name, 0) ||
	       !strncmp(name, "__start_", 8) || !strncmp(name, "__stop_", 7) ||
	       !strncmp(name, "__end_", 6) || !strcmp(name, "_text") ||
	       !fnmatch("_[se]text", name, 0) || !fnmatch("_[se]inittext", name, 0);
}

/*
 * The kernel and its modules share one table, because all their addresses are absolute, and kcore
 * contains the code of all of them.
 */
void kernel_syms(struct objects *all, const char *kallsyms)
{
	struct object *kernel = all->kernel;
	char *copy = mem_strdup(kallsyms), *save = NULL, type;
	struct sym_list list = {};
	const char *name;
	uint64_t addr;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		name = kallsyms_line(line, &addr, &type);
		if (!name)
			continue;
		sym_list_add(&list, addr, 0, name, type == 'T' ? 4 : 2);
		list.list[list.nr - 1].bound = is_bound(name);
	}
	object_set_syms(kernel, &list);
	free(copy);
	for (size_t i = 0; i < kernel->nr_syms; i++) {
		char *tab = strchr(kernel->syms[i].name, '\t');

		if (!tab)
			continue;
		/* The names of a module's symbols are not demangled yet, so demangle them now. */
		*tab = 0;
		kernel->syms[i].plain = sym_demangle(kernel, kernel->syms[i].linked, false);
		kernel->syms[i].name = kernel->syms[i].plain;
		kernel->syms[i].object = module_get(all, tab + 1);
	}
}
