// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with a large unused function, which the linker discards (--gc-sections). The script
 * record.sh creates the file discarded.h with the statements of this function.
 */
static volatile int sink;

static inline __attribute__((always_inline)) int large(int n)
{
	int s = n;

#include "discarded.h"
	return s;
}

int unused(int n);

int unused(int n)
{
	return large(n);
}

static __attribute__((noinline)) void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}

int main(void)
{
	for (int i = 0; i < 20; i++)
		work(i);
	return 0;
}
