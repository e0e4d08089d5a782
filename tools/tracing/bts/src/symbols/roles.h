/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a function's name says about how it is entered and left.
 *
 * Included by: symbols/, flow/.
 */
#ifndef BTS_ROLES_H
#define BTS_ROLES_H

#include "object.h"

enum sym_role {
	ROLE_UNKNOWN,		/* not looked at yet */
	ROLE_ORDINARY,
	ROLE_SETJMP,		/* returns once more for each longjmp() */
	ROLE_SWITCH,		/* returns on another stack than the one that it was called on */
	ROLE_THUNK,		/* its ret stands for an indirect call or jump */
};

/* The role is found once for each function. */
enum sym_role sym_find_role(struct sym *sym);

static inline enum sym_role sym_role(struct sym *sym)
{
	return sym->role ? sym->role : sym_find_role(sym);
}

/*
 * Has the compiler cut @part out of @whole? Compilers move code that rarely runs to another
 * section, as f.cold, and the rest of a function of which callers have the beginning to
 * f.part.0. The frame is that of @whole if @whole jumps there.
 */
bool sym_is_part(const struct sym *part, const struct sym *whole);

#endif
