// SPDX-License-Identifier: GPL-2.0
/*
 * bts_reader - copy a trace pipe to stdout, slowly and irregularly
 *
 *	bts_reader [-s SEED] [-u MICROSECONDS] [-b BYTES] [-p] [-t] FILE
 *
 * The program reads 1 to BYTES (default 4096) bytes at a time. The program pauses before about a
 * quarter of the reads, for up to MICROSECONDS (default 2000). Sizes and pauses are pseudo-random;
 * the seed is SEED (default 1). With -p, the program waits in poll() instead of read(). If FILE is
 * "-", the program reads standard input, which the caller has opened.
 *
 * After SIGTERM, the program reads the data that is still in the pipe, and ends with status 0. With
 * -t, a second thread does the reading. After SIGTERM, only this thread ends, so the file stays
 * open.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES 65536

static unsigned int seed = 1, bytes = 4096, pause_us = 2000;
static bool poller, threaded;
static int fd;
static volatile sig_atomic_t ending;

static void end(int sig)
{
	(void)sig;
	ending = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "bts_reader: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int one_of(unsigned int n)
{
	return n ? rand_r(&seed) % n : 0;
}

static void put(const char *buf, ssize_t n)
{
	ssize_t done, part;

	for (done = 0; done < n; done += part) {
		part = write(1, buf + done, n - done);
		if (part < 0)
			die("write");
	}
}

/* Copy some data. Return: false if the pipe is empty after SIGTERM. */
static bool copy(void)
{
	static char buf[MAX_BYTES];
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	ssize_t n;

	n = read(fd, buf, 1 + one_of(bytes));
	if (n > 0) {
		put(buf, n);
		return true;
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		die("read");
	if (ending)
		return n < 0 && errno == EINTR;
	/* Use a timeout, because the pipe may have less data than poll() waits for. */
	if (poller)
		poll(&pollfd, 1, 100);
	else if (!n)
		usleep(1000);
	return true;
}

static void *copy_all(void *unused)
{
	(void)unused;
	do {
		if (!one_of(4))
			usleep(one_of(pause_us));
		if (ending)
			fcntl(fd, F_SETFL, O_NONBLOCK);
	} while (!(ending && threaded) && copy());
	return NULL;
}

static void copy_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, copy_all, NULL) || pthread_join(thread, NULL))
		die("thread");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	/* Do not set SA_RESTART, so that the signal interrupts a sleeping read. */
	struct sigaction action = { .sa_handler = end };
	int opt;

	while ((opt = getopt(argc, argv, "s:u:b:pt")) != -1) {
		switch (opt) {
		case 's':
			seed = atoi(optarg);
			break;
		case 'u':
			pause_us = atoi(optarg);
			break;
		case 'b':
			bytes = atoi(optarg);
			break;
		case 'p':
			poller = true;
			break;
		case 't':
			threaded = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc || !bytes || bytes > MAX_BYTES) {
		fprintf(stderr, "usage: bts_reader [-s SEED] [-u MICROSECONDS] "
			"[-b BYTES] [-p] [-t] FILE\n");
		return 2;
	}
	fd = strcmp(argv[optind], "-") ? open(argv[optind], O_RDONLY) : 0;
	if (fd < 0 || (poller && fcntl(fd, F_SETFL, O_NONBLOCK)))
		die(argv[optind]);
	sigaction(SIGTERM, &action, NULL);
	if (threaded)
		copy_in_thread();
	copy_all(NULL);
	return 0;
}
