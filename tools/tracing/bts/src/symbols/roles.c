// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recognize, by name, the functions that break the usual order of calls and returns.
 */
#include <string.h>

#include "roles.h"

struct role_name {
	const char	*name;
	enum sym_role	role;
};

static const struct role_name names[] = {
	{ "setjmp",			ROLE_SETJMP },
	{ "_setjmp",			ROLE_SETJMP },
	{ "__setjmp",			ROLE_SETJMP },
	{ "sigsetjmp",			ROLE_SETJMP },
	{ "__sigsetjmp",		ROLE_SETJMP },
	{ "getcontext",			ROLE_SETJMP },
	{ "runtime.deferproc",		ROLE_SETJMP },
	{ "runtime.deferprocStack",	ROLE_SETJMP },
	{ "swapcontext",		ROLE_SWITCH },
	{ "setcontext",			ROLE_SWITCH },
	{ "coroutine_transfer",		ROLE_SWITCH },
	{ "jump_fcontext",		ROLE_SWITCH },
	{ "make_fcontext",		ROLE_SWITCH },
	{ "runtime.gogo",		ROLE_SWITCH },
	{ "runtime.gogo.abi0",		ROLE_SWITCH },
	{ "gogo",			ROLE_SWITCH },
};

/* Name prefixes of the thunks that compilers use in place of indirect branches and returns. */
static const char *const thunks[] = {
	"__x86_indirect_", "__x86_return_", "__llvm_retpoline_", "__llvm_lvi_thunk_",
};

static enum sym_role role_of(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i].name))
			return names[i].role;
	for (size_t i = 0; i < sizeof(thunks) / sizeof(thunks[0]); i++)
		if (!strncmp(name, thunks[i], strlen(thunks[i])))
			return ROLE_THUNK;
	return ROLE_ORDINARY;
}

enum sym_role sym_find_role(struct sym *sym)
{
	sym->role = role_of(sym->linked);
	return sym->role;
}

bool suffix_is_part(const char *suffix)
{
	return !strncmp(suffix, ".cold", 5) || !strncmp(suffix, ".part.", 6);
}

static bool is_part(const char *part, const char *whole)
{
	size_t length = strlen(whole);

	return !strncmp(part, whole, length) && suffix_is_part(part + length);
}

bool sym_is_part(const struct sym *part, const struct sym *whole)
{
	const struct alias *alias;
	size_t nr;

	if (part->object != whole->object || !strchr(part->linked, '.'))
		return false;
	/* A constructor has two names (C1, C2), and its split parts may be named after either. */
	alias = sym_aliases(whole, &nr);
	for (size_t i = 0; i < nr; i++)
		if (is_part(part->linked, alias[i].linked))
			return true;
	return is_part(part->linked, whole->linked);
}
