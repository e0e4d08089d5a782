// SPDX-License-Identifier: GPL-2.0-only
/* Recursion, loops, a switch, indirect calls and a tail call. All runs take the same branches. */
#include <stdio.h>
#include <stdlib.h>

int fib(int n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

long sum(int n)
{
	long s = 0;
	int i;

	for (i = 0; i < n; i++)
		s += i;
	return s;
}

static int add(int a, int b)
{
	return a + b;
}

static int mul(int a, int b)
{
	return a * b;
}

int apply(int (*op)(int, int), int a, int b)
{
	return op(a, b);
}

int choose(int i)
{
	switch (i % 6) {
	case 0:
		return apply(add, i, 1);
	case 1:
		return apply(mul, i, 2);
	case 2:
		return fib(5);
	case 3:
		return -1;
	case 4:
		return i;
	default:
		return 0;
	}
}

int even(int n);

int odd(int n)
{
	if (n == 0)
		return 0;
	return even(n - 1);
}

int even(int n)
{
	if (n == 0)
		return 1;
	return odd(n - 1);
}

int never(int n)
{
	if (n > 3)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12;
	long total = 0;
	int i;

	for (i = 0; i < 60; i++)
		total += choose(i);
	total += sum(200);
	total += fib(n);
	if (even(31))
		total = never(total);
	while (total > 1000)
		total /= 2;
	printf("%ld\n", total);
	return 0;
}
