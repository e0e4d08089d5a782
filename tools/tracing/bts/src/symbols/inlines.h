/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find inlined functions, whose code the compiler copied into their callers.
 *
 * Included by: symbols/, flow/, api/, diff/, dump/, tui/, cmd/.
 */
#ifndef BTS_INLINES_H
#define BTS_INLINES_H

#include "object.h"

#define INLINED_SUFFIX	" [inlined]"

/**
 * struct inlined - an inlined call
 * @sym:	the function; its name ends in INLINED_SUFFIX
 * @outer:	the inlined call that contains this call, or NULL
 * @depth:	1 if @outer is NULL, otherwise 1 + outer->depth
 * @number:	identifies the call in the object (1, 2, 3 ...), and is the same in every trace
 */
struct inlined {
	struct sym		*sym;
	const struct inlined	*outer;
	unsigned int		depth;
	uint32_t		number;
};

/*
 * Return the innermost inlined call that contains the code at @addr, or NULL. The result is the
 * same for all addresses from @addr to *@end - 1. The pointer @end may be NULL.
 */
const struct inlined *object_inlined(struct object *o, uint64_t addr, uint64_t *end);
/* Return the call at @depth that contains @in, or @in if its depth is at most @depth. */
const struct inlined *inlined_at(const struct inlined *in, unsigned int depth);
/*
 * Find the declaration of an inlined function. Return the path of the source file, or NULL if
 * unknown. Set *@line to the line, or 0 if unknown.
 */
const char *inlined_declaration(const struct sym *inlined, int *line);
/* Set *@list to the inlined functions of the object, in the order of their numbers. */
size_t object_inlined_list(struct object *o, struct sym *const **list);
void inlines_free(struct object *o);

#endif
