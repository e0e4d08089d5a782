/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find inlined functions, whose code the compiler copied into their callers.
 *
 * Included by: symbols/, flow/, dump/, cmd/.
 */
#ifndef BTS_INLINES_H
#define BTS_INLINES_H

#include "object.h"

/**
 * struct inlined - an inlined call
 * @sym:	the function; its name ends in " [inlined]"
 * @outer:	the inlined call that contains this call, or NULL
 * @depth:	1 if @outer is NULL, otherwise 1 + outer->depth
 */
struct inlined {
	struct sym		*sym;
	const struct inlined	*outer;
	unsigned int		depth;
};

/*
 * Return the innermost inlined call that contains the code at @addr, or NULL. The result is the
 * same up to address *@end. @end may be NULL.
 */
const struct inlined *object_inlined(struct object *o, uint64_t addr, uint64_t *end);
void inlines_free(struct object *o);

#endif
