// SPDX-License-Identifier: GPL-2.0-only
/*
 * The compilers of C++ and Rust mangle the names of functions for the linker. Use GNU libiberty to
 * convert mangled names to the names in the sources. Examples ("linked" is the mangled name):
 *
 *	linked				plain		with arguments
 *	_Z1fi				f		f(int)
 *	_Z1fi.cold			f.cold		f(int) [clone .cold]
 *	_Z1fIiEvT_			f<int>		void f<int>(int)
 *	_RNvCsgi7_1m1f			m::f		m[...]::f
 *	_ZN1m1f17h0123456789abcdefE	m::f		m::f::h0123456789abcdef
 *
 * A Rust function has no overloads, but may have several instances, which differ in crate or hash.
 */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* Both libiberty and lib/mem.h define this macro. */
#undef ARRAY_SIZE
#include "lib/mem.h"
#include "object.h"

/* Keep suffixes such as .cold (added by the compiler) and @plt (a stub in the PLT). */
static char *plain_cplus(const char *linked)
{
	size_t length = strcspn(linked, ".@");
	char *base = mem_format("%.*s", (int)length, linked);
	char *name = cplus_demangle_v3(base, DMGL_NO_OPTS), *whole = NULL;

	if (name)
		whole = mem_format("%s%s", name, linked + length);
	free(name);
	free(base);
	return whole;
}

const char *sym_demangle(struct object *o, const char *linked, bool arguments)
{
	const char *copy = linked;
	char *name;

	if (linked[0] != '_' || (linked[1] != 'Z' && linked[1] != 'R'))
		return linked;
	/* Try Rust first, because names from older Rust compilers are also valid C++ names. */
	name = rust_demangle(linked, arguments ? DMGL_VERBOSE : DMGL_NO_OPTS);
	if (!name)
		name = arguments ? cplus_demangle_v3(linked, DMGL_PARAMS | DMGL_ANSI) :
				   plain_cplus(linked);
	if (name)
		copy = object_string(o, name);
	free(name);
	return copy;
}
