// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call inlined functions that contain other inlined functions, and that call other functions. If
 * built with INLINED=, the program makes the same calls, but without inlining. Without INLINED=,
 * the program also contains unused copies of the inlined functions.
 */
#ifndef INLINED
#define INLINED __attribute__((always_inline))
#endif

static volatile int total;

__attribute__((noinline)) void told(int n)
{
	total += n;
}

extern inline INLINED void inner(int n)
{
	told(n);
	if (n & 1)
		told(-n);
}

extern inline INLINED void outer(int n)
{
	told(n + 100);
	inner(n);
	told(n + 200);
}

static __attribute__((noinline)) int sum(int n)
{
	return n ? n + sum(n - 1) : 0;
}

__attribute__((noinline)) void first(int n)
{
	outer(n);
	told(n);
}

__attribute__((noinline)) int second(int n)
{
	inner(n);
	inner(n + 1);
	return sum(n);
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		first(i);
	return second(4) != 10;
}
