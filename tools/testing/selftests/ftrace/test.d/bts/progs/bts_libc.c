// SPDX-License-Identifier: GPL-2.0
/*
 * Use a signal handler and the C library's startup code, allocator, printf and qsort, as ordinary
 * programs do. The thousands of branches are too many to list by hand, so bts_step lists them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signalled;

static void handler(int sig)
{
	signalled = sig;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char **)a, *(char **)b);
}

int main(void)
{
	char *words[16], text[32];
	size_t total = 0;
	int i;

	for (i = 0; i < 16; i++) {
		snprintf(text, sizeof(text), "word %d", i * 5 % 16);
		words[i] = strdup(text);
		if (!words[i])
			return 1;
	}
	qsort(words, 16, sizeof(words[0]), compare);
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	for (i = 0; i < 16; i++) {
		total += strlen(words[i]);
		free(words[i]);
	}
	return signalled != SIGUSR1 || total != 16 * 7 - 10;
}
