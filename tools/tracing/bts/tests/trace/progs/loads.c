// SPDX-License-Identifier: GPL-2.0-only
/* Load a library, call it, fork, and execute another program. */
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
	int (*twice)(int), status = 0, total = 0;
	void *library;

	(void)argc;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		return 1;
	*(void **)&twice = dlsym(library, "twice");
	for (int i = 0; i < 10; i++)
		total += twice(i);
	dlclose(library);
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
