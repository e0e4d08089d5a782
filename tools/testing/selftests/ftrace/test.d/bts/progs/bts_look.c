// SPDX-License-Identifier: GPL-2.0
/*
 * bts_look - report whether a trace pipe has data to read
 *
 *	bts_look poll|read|splice|epoll|wait|splice-wait MILLISECONDS FILE
 *
 * The program opens FILE, writes 1 to tracing_on in the working directory, and checks for data 10
 * ms later. The first argument selects the system call that checks for data. The words "poll" and
 * "epoll" select poll() and epoll_wait(). The words "wait" and "splice-wait" select blocking calls
 * to read() and splice(). These four calls wait for up to MILLISECONDS. The words "read" and
 * "splice" select non-blocking calls. At the end, the program writes 0 to tracing_on, and prints
 * "ready" or "nothing". The exit status is 0 unless an error occurs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <signal.h>
#include <unistd.h>

static char buf[65536];

static void die(const char *what)
{
	fprintf(stderr, "bts_look: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void tracing_on(const char *text)
{
	int fd = open("tracing_on", O_WRONLY);

	if (fd < 0 || write(fd, text, 1) != 1)
		die("tracing_on");
	close(fd);
}

/* Report whether @n, the result of a system call, shows that data was available. */
static bool some(ssize_t n, const char *what)
{
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		die(what);
	return n > 0;
}

static bool ask_poll(int fd, int ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return some(poll(&pollfd, 1, ms), "poll");
}

static bool ask_read(int fd, int ms)
{
	(void)ms;
	return some(read(fd, buf, sizeof(buf)), "read");
}

static bool splice_some(int fd, unsigned int flags)
{
	int ends[2];

	if (pipe(ends))
		die("pipe");
	return some(splice(fd, NULL, ends[1], NULL, sizeof(buf), flags), "splice");
}

static bool ask_splice(int fd, int ms)
{
	(void)ms;
	return splice_some(fd, SPLICE_F_NONBLOCK);
}

static int queue;

/*
 * Call this function before the file contains data. epoll checks a file for data when the file is
 * added, and later only after a wakeup.
 */
static void prepare_epoll(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	queue = epoll_create1(0);
	if (queue < 0 || epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
}

static bool ask_epoll(int fd, int ms)
{
	struct epoll_event event;

	(void)fd;
	return some(epoll_wait(queue, &event, 1, ms), "epoll_wait");
}

static void wake(int sig)
{
	(void)sig;
}

/* After @ms milliseconds, interrupt a blocked system call with a signal (without SA_RESTART). */
static void end_in(int ms)
{
	struct sigaction action = { .sa_handler = wake };
	struct itimerval end = { .it_value.tv_sec = ms / 1000,
				 .it_value.tv_usec = ms % 1000 * 1000 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
}

static bool ask_wait(int fd, int ms)
{
	end_in(ms);
	return some(read(fd, buf, sizeof(buf)), "read");
}

static bool ask_splice_wait(int fd, int ms)
{
	end_in(ms);
	return splice_some(fd, 0);
}

static const struct {
	const char *name;
	int flags;
	void (*prepare)(int fd);
	bool (*ask)(int fd, int ms);
} ways[] = {
	{ "poll",	O_NONBLOCK,	NULL,		ask_poll },
	{ "read",	O_NONBLOCK,	NULL,		ask_read },
	{ "splice",	O_NONBLOCK,	NULL,		ask_splice },
	{ "epoll",	O_NONBLOCK,	prepare_epoll,	ask_epoll },
	{ "wait",	0,		NULL,		ask_wait },
	{ "splice-wait", 0,		NULL,		ask_splice_wait },
};

int main(int argc, char **argv)
{
	unsigned int i;
	bool ready;
	int fd;

	for (i = 0; argc == 4 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		fd = open(argv[3], O_RDONLY | ways[i].flags);
		if (fd < 0)
			die(argv[3]);
		if (ways[i].prepare)
			ways[i].prepare(fd);
		tracing_on("1");
		usleep(10000);
		ready = ways[i].ask(fd, atoi(argv[2]));
		tracing_on("0");
		printf("%s\n", ready ? "ready" : "nothing");
		return 0;
	}
	fprintf(stderr, "usage: bts_look poll|read|splice|epoll|wait|splice-wait "
		"MILLISECONDS FILE\n");
	return 2;
}
