// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program calls overloaded functions, and two static functions with the same name (see
 * names-more.cc). It also calls functions whose names are mangled as in Rust, a function through
 * its alias, and functions whose names have a compiler's suffix, such as .isra.0.
 */
#include <cstdio>

int more(int n);

static int init(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i ^ n;
	return sum;
}

int pick(int n)
{
	return n + 1;
}

double pick(double n)
{
	return n * 2;
}

template <class T> T twice(T n)
{
	return n + n;
}

template int twice<int>(int);

/* The first two names follow Rust's current scheme. The last two names follow the old scheme. */
int rust_add(int n) __asm__("_RNvCs1234_4rust3add");
int rust_max(int n) __asm__("_RINvNtCs1234_4rust3cmp3maxlE");
int rust_old(int n) __asm__("_ZN4rust3old17h05af221e174051e9E");
int rust_new(int n) __asm__("_ZN4rust3old17h9fc8b3d1e2a47c60E");

int rust_add(int n)
{
	return n + 3;
}

int rust_max(int n)
{
	return n > 4 ? n : 4;
}

int rust_old(int n)
{
	return n - 5;
}

int rust_new(int n)
{
	return n - 6;
}

extern "C" int first_name(int n)
{
	return n ^ 7;
}

extern "C" int second_name(int n) __attribute__((weak, alias("first_name")));

int copied(int n) __asm__("copied.constprop.0");
int copied_cplus(int n) __asm__("_ZN5space6copiedEi.isra.0");
int part(int n) __asm__("copied.part.0");

int copied(int n)
{
	return n ^ 8;
}

int copied_cplus(int n)
{
	return n ^ 9;
}

int part(int n)
{
	return n ^ 10;
}

int main()
{
	int sum = init(5) + init(6) + more(7) + twice(8) + second_name(9);

	sum += copied(1) + copied(2) + copied_cplus(3) + part(4);

	for (int i = 0; i < 3; i++)
		sum += rust_add(i) + rust_max(i) + rust_old(i);
	sum += rust_new(sum);

	for (int i = 0; i < 4; i++)
		sum += pick(i);
	std::printf("%d %g\n", sum, pick(0.5));
	return 0;
}
