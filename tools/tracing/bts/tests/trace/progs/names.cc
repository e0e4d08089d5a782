// SPDX-License-Identifier: GPL-2.0-only
/* Overloads, and with names-more.cc two static functions of one name. */
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

int main()
{
	int sum = init(5) + init(6) + more(7);

	for (int i = 0; i < 4; i++)
		sum += pick(i);
	std::printf("%d %g\n", sum, pick(0.5));
	return 0;
}
