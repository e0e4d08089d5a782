// SPDX-License-Identifier: GPL-2.0
/*
 * bts_sigio - copy a trace pipe to stdout, and read only when a signal says so
 *
 *   bts_sigio FILE
 *
 * Asks for a signal of its choice, with the file's descriptor in it, when there is
 * something to read (F_SETOWN, F_SETSIG, O_ASYNC), and then reads all there is. A
 * FILE of "-" is standard input, which the caller has opened. SIGRTMAX, which comes
 * after all the others, ends it. On standard error it says "0" when it waits for the
 * first, and in the end how many there were. The status is 1 if one came from elsewhere.
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

static void copy_all(int fd)
{
	static char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		if (write(1, buf, n) != n)
			die("write");
	}
	if (n < 0 && errno != EAGAIN)
		die("read");
}

/* The next signal. A stop and SIGCONT end sigwaitinfo() with EINTR: wait again. */
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
	siginfo_t info;
	sigset_t set;

	if (argc != 2) {
		fprintf(stderr, "usage: bts_sigio FILE\n");
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
			die("a signal that is not the file's");
		count++;
		copy_all(fd);
	}
	fprintf(stderr, "%d\n", count);
	return 0;
}
