// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find functions in a file by any of their names, without a trace. If the file is stripped, the
 * symbols come from the debug information.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "find.h"
#include "object.h"

/*
 * Find the file offset of an address. Return false if the address is outside the code of the file.
 */
static bool file_offset(const struct object *o, uint64_t addr, uint64_t *offset)
{
	const struct segment *s = object_segment(o, addr);

	if (!s)
		return false;
	*offset = s->offset + (addr - s->vaddr);
	return true;
}

size_t file_functions(const char *path, const char *wanted, uint64_t **offsets)
{
	struct objects all = {};
	struct object *o = object_new(&all, path, path);
	size_t nr = 0;

	*offsets = NULL;
	if (elf_read(o, path, NULL, NULL)) {
		*offsets = mem_zalloc(o->nr_syms, sizeof(**offsets));
		for (size_t i = 0; i < o->nr_syms; i++)
			if (!o->syms[i].stub && sym_is(&o->syms[i], wanted) &&
			    file_offset(o, o->syms[i].addr, &(*offsets)[nr]))
				nr++;
	}
	objects_free(&all);
	return nr;
}
