// SPDX-License-Identifier: GPL-2.0-only
/* Throw exceptions through several functions, and start threads. */
#include <cstdio>
#include <pthread.h>
#include <stdexcept>

static int deep(int n)
{
	if (n == 0)
		throw std::runtime_error("deep");
	return deep(n - 1) + 1;
}

int attempt(int n)
{
	try {
		return deep(n);
	} catch (const std::runtime_error &) {
		return n;
	}
}

long work(long n)
{
	long s = 0;

	for (long i = 0; i < n; i++)
		s += i ^ n;
	return s;
}

static void *thread(void *arg)
{
	long *n = static_cast<long *>(arg);

	*n = work(*n);
	return nullptr;
}

int main()
{
	pthread_t threads[3];
	long numbers[3] = { 100, 200, 300 };
	int total = 0;

	for (int i = 0; i < 4; i++)
		total += attempt(i);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], nullptr, thread, &numbers[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], nullptr);
	std::printf("%d %ld\n", total, numbers[0] + numbers[1] + numbers[2]);
	return 0;
}
