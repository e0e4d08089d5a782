// SPDX-License-Identifier: GPL-2.0
/*
 * switch [-s SLEEPERS] ROUNDS: print the time of a task switch, in nanoseconds
 *
 * Two processes on one CPU call sched_yield(), and each call switches to the other process. Both
 * have a real-time priority, so that no other task runs. With machine/vm/run --icount, the printed
 * time is the number of instructions of one sched_yield(), including the switch. The first process
 * also creates SLEEPERS threads, which only sleep.
 */

#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *sleeper(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void make_sleepers(int n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	while (n-- > 0) {
		if (pthread_create(&thread, &attr, sleeper, NULL))
			errx(1, "cannot create a thread");
	}
}

static void alone_on_cpu(void)
{
	struct sched_param param = { .sched_priority = 10 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "sched_setaffinity");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "sched_setscheduler");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double measure(int rounds)
{
	double start;
	int i;

	/* Wait until the other process has started, and both have called sched_yield(). */
	for (i = 0; i < 100; i++)
		sched_yield();
	start = now();
	for (i = 0; i < rounds; i++)
		sched_yield();
	return (now() - start) / (2.0 * rounds);
}

int main(int argc, char **argv)
{
	int sleepers = 0, rounds, opt;
	pid_t other;

	while ((opt = getopt(argc, argv, "s:")) != -1) {
		if (opt != 's')
			return 2;
		sleepers = atoi(optarg);
	}
	rounds = argc == optind + 1 ? atoi(argv[optind]) : 0;
	if (rounds <= 0)
		errx(2, "usage: switch [-s SLEEPERS] ROUNDS");

	make_sleepers(sleepers);
	alone_on_cpu();
	other = fork();
	if (other < 0)
		err(1, "fork");
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			sched_yield();
	}
	printf("%.1f\n", measure(rounds));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return 0;
}
