// SPDX-License-Identifier: GPL-2.0
/*
 * The host's messages to the guest: the job, and what happens to its streams. They are
 * queued, because the guest reads its port only after it has booted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "host.h"

static char *queue;		/* for the control port, not yet sent */
static size_t queue_len;

void queue_message(uint32_t type, const void *data, size_t len)
{
	struct wire_head head = { .type = type, .len = len };

	if (len > WIRE_MAX) {
		errno = E2BIG;
		die("the command");
	}
	queue = realloc(queue, queue_len + sizeof(head) + len);
	if (!queue)
		die("the job");
	memcpy(queue + queue_len, &head, sizeof(head));
	if (len)
		memcpy(queue + queue_len + sizeof(head), data, len);
	queue_len += sizeof(head) + len;
}

static void queue_string(uint32_t type, const char *s)
{
	queue_message(type, s, strlen(s));
}

bool queue_waits(void)
{
	return queue_len > 0;
}

void queue_flush(void)
{
	ssize_t n = send(ports[CONTROL], queue, queue_len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n <= 0)
		return;
	queue_len -= n;
	memmove(queue, queue + n, queue_len);
}

void queue_size(uint32_t type)
{
	struct wire_size size = { .rows = 24, .cols = 80 };
	struct winsize ws;

	if (!ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		size.rows = ws.ws_row;
		size.cols = ws.ws_col;
	}
	queue_message(type, &size, sizeof(size));
}

/* Many tools of tracing are in sbin, which is not in an ordinary user's PATH. */
static void queue_path(const char *path)
{
	char *entry;

	if (asprintf(&entry, "PATH=%s%s", path,
		     strstr(path, "/usr/sbin") ? "" : ":/usr/local/sbin:/usr/sbin:/sbin") < 0)
		die("PATH");
	queue_string(WIRE_ENV, entry);
	free(entry);
}

/* Without TMPDIR: that directory may not exist in the guest, /tmp does. */
static void queue_environment(void)
{
	const char *path = getenv("PATH");
	char **env;

	for (env = environ; *env; env++)
		if (strncmp(*env, "PATH=", 5) && strncmp(*env, "TMPDIR=", 7))
			queue_string(WIRE_ENV, *env);
	queue_path(path ? path : "/usr/local/bin:/usr/bin:/bin");
}

static void queue_seed(void)
{
	char seed[64] = { 0 };

	/* Zeros if two runs have to be the same. */
	if (!opt.repeatable && getrandom(seed, sizeof(seed), 0) != sizeof(seed))
		die("getrandom");
	queue_message(WIRE_SEED, seed, sizeof(seed));
}

void queue_job(void)
{
	char **arg;
	int i;

	queue_seed();
	for (arg = opt.command; *arg; arg++)
		queue_string(WIRE_ARG, *arg);
	queue_environment();
	queue_string(WIRE_CWD, opt.cwd);
	for (i = 0; i < opt.nr_keep; i++)
		queue_string(WIRE_KEEP, opt.keep[i]);
	for (i = 0; i < opt.nr_share; i++)
		queue_string(WIRE_SHARE, opt.share[i]);
	if (opt.tty)
		queue_size(WIRE_TTY);
	else if (same_file(STDOUT_FILENO, STDERR_FILENO))
		queue_message(WIRE_MERGE, NULL, 0);
	queue_message(WIRE_GO, NULL, 0);
}
