/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions whose code the compiler has put into the code of their callers.
 *
 * Included by: symbols/, flow/, dump/, cmd/.
 */
#ifndef BTS_INLINES_H
#define BTS_INLINES_H

#include "object.h"

/**
 * struct inlined - a call that the compiler has replaced with the code of the function
 * @sym:	the function; its name ends in " [inlined]"
 * @outer:	the inlined call that contains this one, or NULL
 * @depth:	1 if @outer is NULL, otherwise one more than that of @outer
 */
struct inlined {
	struct sym		*sym;
	const struct inlined	*outer;
	unsigned int		depth;
};

/*
 * Return the innermost inlined call that contains the code at @addr, or NULL. The answer holds
 * for the addresses up to *@end, which may be NULL.
 */
const struct inlined *object_inlined(struct object *o, uint64_t addr, uint64_t *end);
void inlines_free(struct object *o);

#endif
