// SPDX-License-Identifier: GPL-2.0-only
/*
 * Undo the tool's changes in tracefs when the tool ends, whether it returns from main(), calls
 * exit(), or is killed by a signal such as SIGKILL.
 *
 *	bts ----- "PATH\nTEXT\n" through a pipe ----> the guard, a child
 *	    ----- end of file, however bts ended ---> writes each TEXT into its PATH,
 *						      in reverse order
 *
 * If TEXT is empty, the guard removes the directory PATH. The guard has its own session, so Ctrl-C
 * does not reach the guard. When bts is killed, the kernel may close the pipe before it closes the
 * trace_pipe_raw files of the instance. While one of these files is open, the instance cannot be
 * removed, so the guard retries the removal for a while.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "undo.h"

enum {
	MAX_ENTRIES	= 64,
	TRIES		= 200,
	PAUSE_US	= 10000,
};

static pid_t guard;
static pid_t guarded;
static int to_guard = -1;

static void put_back(const char *path, const char *text)
{
	for (int i = 0; i < TRIES; i++) {
		if (!(*text ? path_append(path, text) : rmdir(path)) || errno != EBUSY)
			return;
		usleep(PAUSE_US);
	}
}

static void run_guard(int fd)
{
	char *line[2 * MAX_ENTRIES];
	FILE *from = fdopen(fd, "r");
	size_t size;
	int n = 0;

	while (from && n < 2 * MAX_ENTRIES) {
		line[n] = NULL;
		size = 0;
		if (getline(&line[n], &size, from) < 0)
			break;
		line[n][strcspn(line[n], "\n")] = 0;
		n++;
	}
	/* Ignore the last entry if bts did not finish writing it. */
	for (n &= ~1; n > 0; n -= 2)
		put_back(line[n - 2], line[n - 1]);
	_exit(0);
}

/* In the child, move @fd to descriptor 3. Close all other files, so no other pipe stays open. */
static void leave_all_but(int fd)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (fd != 3)
		dup2(fd, 3);
	close_range(4, ~0U, 0);
}

static void start_guard(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC)) {
		msg_errno("create a pipe", NULL);
		exit(STATUS_FAILURE);
	}
	fflush(NULL);
	guard = fork();
	if (guard < 0) {
		msg_errno("fork", NULL);
		exit(STATUS_FAILURE);
	}
	if (!guard) {
		leave_all_but(ends[0]);
		run_guard(3);
	}
	close(ends[0]);
	to_guard = ends[1];
	guarded = getpid();
	atexit(undo_all);
}

static void tell_guard(const char *path, const char *text)
{
	char *entry = mem_format("%s\n%s\n", path, text);
	ssize_t length = strlen(entry);

	if (to_guard < 0)
		start_guard();
	if (write(to_guard, entry, length) != length) {
		msg_errno("register the cleanup of", path);
		exit(STATUS_FAILURE);
	}
	free(entry);
}

void undo_write(const char *path, const char *text)
{
	tell_guard(path, text);
}

void undo_rmdir(const char *path)
{
	tell_guard(path, "");
}

void undo_all(void)
{
	/* A forked child inherits this exit handler, but only bts itself may stop the guard. */
	if (to_guard < 0 || guarded != getpid())
		return;
	close(to_guard);
	to_guard = -1;
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
}
