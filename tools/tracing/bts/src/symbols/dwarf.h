/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walk through the compilation units in the debug information of an object.
 *
 * Included by: symbols/.
 */
#ifndef BTS_DWARF_H
#define BTS_DWARF_H

#include <elfutils/libdw.h>

#include "object.h"

/**
 * struct units - a walk through the compilation units
 * @die:	the current unit, valid until units_next() or units_end()
 */
struct units {
	Dwarf_Die	die;
	Dwarf		*dwarf;
	Dwarf_Off	offset;
	int		fd;
};

void units_begin(struct units *u, const struct object *o);
/* Set u->die to the next unit. Return false after the last unit. */
bool units_next(struct units *u);
void units_end(struct units *u);
/*
 * lines.c: return the path of the file @name in a unit that was compiled in @dir. Return NULL if
 * @name is NULL.
 */
const char *unit_path(struct object *o, const char *dir, const char *name);
/* lines.c: return the directory in which the unit was compiled, or NULL. */
const char *unit_dir(Dwarf_Die *unit);
/*
 * lines.c: report whether @addr, an address in the debug information, is in the code of the object.
 * For discarded functions (--gc-sections, COMDAT), @addr is near 0 or near UINT64_MAX.
 */
bool is_code(const struct object *o, uint64_t addr);
/* inlines.c: report whether the linker discarded all code of @die; false if @die never had code. */
bool is_discarded(const struct object *o, Dwarf_Die *die);

#endif
