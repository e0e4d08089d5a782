// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load each LIBRARY, call its FUNCTION, and unload the library. Then fork, and execute another
 * program.
 *
 *	loads LIBRARY FUNCTION [LIBRARY FUNCTION]...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int child(int n)
{
	return n % 7;
}

int main(int argc, char **argv)
{
	int (*function)(int), status = 0, total = 0;
	void *library;

	for (int i = 1; i + 1 < argc; i += 2) {
		library = dlopen(argv[i], RTLD_NOW);
		if (!library)
			return 1;
		*(void **)&function = dlsym(library, argv[i + 1]);
		for (int j = 0; j < 10; j++)
			total += function(j);
		dlclose(library);
	}
	if (!fork())
		_exit(child(total));
	wait(&status);
	if (!fork()) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	wait(&status);
	printf("%d\n", total);
	return 0;
}
