// SPDX-License-Identifier: GPL-2.0
/*
 * bts_sigio - copy a trace pipe to stdout, reading only after a signal
 *
 *	bts_sigio [-b BYTES] FILE
 *
 * The program requests a real-time signal for new data in FILE (F_SETOWN, F_SETSIG, O_ASYNC). The
 * signal contains the file's descriptor. After each signal, the program reads all data, or, with
 * -b, calls read() once for at most BYTES. If FILE is "-", the program reads standard input, which
 * the caller has opened. SIGRTMAX ends the program. The kernel delivers SIGRTMAX only when no other
 * signal is pending. On standard error, the program prints "0" before it waits for the first
 * signal, and the number of signals at the end. The exit status is 1 if the requested signal has
 * any cause other than new data in FILE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "bts_sigio: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char buf[65536];

/* Return: the number of copied bytes, or 0 if there is no data. */
static ssize_t copy_some(int fd, size_t size)
{
	ssize_t n = read(fd, buf, size);

	if (n < 0 && errno != EAGAIN)
		die("read");
	if (n > 0 && write(1, buf, n) != n)
		die("write");
	return n > 0 ? n : 0;
}

static void copy_all(int fd)
{
	while (copy_some(fd, sizeof(buf)))
		;
}

/* Return the next signal. If SIGCONT interrupts the wait (EINTR), wait again. */
static int wait_for(const sigset_t *set, siginfo_t *info)
{
	int sig;

	do
		sig = sigwaitinfo(set, info);
	while (sig < 0 && errno == EINTR);
	return sig;
}

int main(int argc, char **argv)
{
	int ready = SIGRTMIN + 1, count = 0, fd;
	size_t once = 0;
	siginfo_t info;
	sigset_t set;

	if (argc == 4 && !strcmp(argv[1], "-b")) {
		once = strtoul(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	if (argc != 2 || once > sizeof(buf)) {
		fprintf(stderr, "usage: bts_sigio [-b BYTES] FILE\n");
		return 2;
	}
	sigemptyset(&set);
	sigaddset(&set, ready);
	sigaddset(&set, SIGRTMAX);
	sigprocmask(SIG_BLOCK, &set, NULL);

	fd = strcmp(argv[1], "-") ? open(argv[1], O_RDONLY) : 0;
	if (fd < 0 || fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETSIG, ready) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC))
		die(argv[1]);

	fprintf(stderr, "0\n");
	while (wait_for(&set, &info) == ready) {
		if (info.si_fd != fd || !(info.si_band & POLLIN))
			die("received a signal, but the file has no new data");
		count++;
		if (once)
			copy_some(fd, once);
		else
			copy_all(fd);
	}
	fprintf(stderr, "%d\n", count);
	return 0;
}
