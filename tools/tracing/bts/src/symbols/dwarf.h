/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The debug information of an object, unit by unit.
 *
 * Included by: symbols/.
 */
#ifndef BTS_DWARF_H
#define BTS_DWARF_H

#include <elfutils/libdw.h>

#include "object.h"

/**
 * struct units - the units of compilation, one after the other
 * @die:	the current one, until the next or the end
 */
struct units {
	Dwarf_Die	die;
	Dwarf		*dwarf;
	Dwarf_Off	offset;
	int		fd;
};

void units_begin(struct units *u, const struct object *o);
/* Return false if there is no other unit. */
bool units_next(struct units *u);
void units_end(struct units *u);

#endif
