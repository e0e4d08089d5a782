// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let two threads with different names call work(). The kernel cuts the second name after 15 bytes,
 * in the middle of a character.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>

static volatile int sum[2];

static __attribute__((noinline)) void work(int i)
{
	for (int n = 0; n < 100; n++)
		sum[i] += n;
}

static void *thread(void *arg)
{
	int i = arg == &sum[1];

	prctl(PR_SET_NAME, i ? "second\u00e4\u00e4\u00e4\u00e4\u00e4" : "first");
	work(i);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)&sum[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
