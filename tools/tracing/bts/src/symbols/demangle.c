// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of C++ functions, by the C++ library if it is there. It is looked for when the
 * first such name is met: the tool does not depend on it.
 *
 * Arguments are left out, unless they tell functions apart: a name stands in trees and
 * tables, with parentheses after it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

typedef char *(*demangle_fn)(const char *linked, char *buffer, size_t *size, int *status);

static demangle_fn cxa_demangle;

static void load_demangle(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (library)
		*(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
}

static demangle_fn find_demangle(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_demangle);
	return cxa_demangle;
}

/* "int f<A>(B, C) const" without "(B, C) const". */
static void cut_arguments(char *name)
{
	size_t end = strlen(name);
	int depth = 0;

	if (end > 6 && !strcmp(name + end - 6, " const"))
		end -= 6;
	if (!end || name[end - 1] != ')')
		return;
	while (end--) {
		depth += name[end] == ')';
		depth -= name[end] == '(';
		if (!depth)
			break;
	}
	if (end && !depth)
		name[end] = 0;
}

const char *sym_demangle(struct object *o, const char *linked, bool arguments)
{
	demangle_fn demangle;
	const char *copy = linked;
	int status = 1;
	char *name;

	if (linked[0] != '_' || linked[1] != 'Z')
		return linked;
	demangle = find_demangle();
	name = demangle ? demangle(linked, NULL, NULL, &status) : NULL;
	if (name && !status) {
		if (!arguments)
			cut_arguments(name);
		copy = object_string(o, name);
	}
	free(name);
	return copy;
}
