// SPDX-License-Identifier: GPL-2.0-only
/* Load a library, use it, unload it, and do the same with another library at the same address. */
#include <dlfcn.h>
#include <stdio.h>

static int call(const char *path, const char *name, void **place)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*function)(int), total = 0;

	if (!library)
		return -1;
	*place = dlsym(library, name);
	*(void **)&function = *place;
	for (int i = 0; i < 10; i++)
		total += function(i);
	dlclose(library);
	return total;
}

int main(int argc, char **argv)
{
	void *first, *second;

	if (argc != 3 || call(argv[1], "twice", &first) != call(argv[2], "thrice", &second))
		return 1;
	printf("%d\n", first == second);
	return first != second;
}
