/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the role of a function by its name. The role describes how the function is entered and left.
 *
 * Included by: symbols/, flow/, diff/.
 */
#ifndef BTS_ROLES_H
#define BTS_ROLES_H

#include "object.h"

enum sym_role {
	ROLE_UNKNOWN,		/* not yet determined */
	ROLE_ORDINARY,
	ROLE_SETJMP,		/* returns again at each longjmp() */
	ROLE_SWITCH,		/* is called on one stack and returns on another stack */
	ROLE_THUNK,		/* executes a branch for its caller, usually by ret (retpoline) */
};

/* Find the role of a function, and store the role in sym->role. */
enum sym_role sym_find_role(struct sym *sym);

static inline enum sym_role sym_role(struct sym *sym)
{
	return sym->role ? sym->role : sym_find_role(sym);
}

/*
 * Report whether the compiler split @part from @whole. Compilers move rarely executed code of f to
 * f.cold. If a compiler inlines the start of f into other functions, the rest of f becomes
 * f.part.0. If @whole jumps to @part, both share one frame.
 */
bool sym_is_part(const struct sym *part, const struct sym *whole);
/* Report whether this suffix of a function's name marks a part of the function. */
bool suffix_is_part(const char *suffix);

#endif
