// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make short recordings, one after the other. For each recording, start bts record with -p or -a,
 * and end it with SIGINT a few seconds later. Then show and remove the trace.
 *
 * Nothing is recorded while a trace is processed and shown. If the recording continued, bts could
 * not keep up with busy tasks, so branches would be lost, or the tasks would have to wait.
 *
 * The traces are in a temporary directory in /tmp. At the end, this directory is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/process.h"
#include "symbols/archive.h"
#include "live.h"

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Return the PIDs to record, such as "1,2,3", or NULL to record all tasks. */
static char *pid_list(const struct options *o)
{
	char *list = NULL;

	for (size_t i = 0; i < o->nr_pids; i++) {
		char *longer = list ? mem_format("%s,%d", list, o->pids[i]) :
				      mem_format("%d", o->pids[i]);

		free(list);
		list = longer;
	}
	return list;
}

static void become_recorder(const struct live *l, pid_t parent, const char *trace, const char *log)
{
	char *pids = pid_list(l->options);
	char *all[] = { "bts", "record", "-o", (char *)trace, "-a", NULL, NULL, NULL };
	int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	/* If bts is killed, end the recording. */
	if (!process_ends_with(parent))
		_exit(STATUS_FAILURE);
	if (fd >= 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
	if (pids) {
		all[4] = "-p";
		all[5] = pids;
	}
	if (l->options->user || l->options->kernel)
		all[pids ? 6 : 5] = l->options->user ? "-u" : "-k";
	execv("/proc/self/exe", all);
	_exit(STATUS_FAILURE);
}

/* Wait for @seconds. Return true if the recorder exits by itself during this time. */
static bool ended_within(pid_t pid, double seconds, int *status)
{
	struct timespec slice = { .tv_nsec = 20000000 };
	double waited = 0;

	while (waited < seconds && !stopped) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		nanosleep(&slice, NULL);
		waited += .02;
	}
	return false;
}

static void show_log(const char *log)
{
	FILE *file = fopen(log, "r");
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		fputs(line, stderr);
	if (file)
		fclose(file);
}

static int record(const struct live *l, const char *trace, const char *log)
{
	pid_t pid, parent = getpid();
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return msg_errno("fork", NULL);
	if (!pid)
		become_recorder(l, parent, trace, log);
	if (!ended_within(pid, l->seconds, &status)) {
		kill(pid, SIGINT);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == 128 + SIGINT))
		return STATUS_OK;
	show_log(log);
	return STATUS_FAILURE;
}

static void remove_trace(const char *trace)
{
	archive_remove(trace);
	unlink(trace);
}

/* Catch signals, so that bts removes /tmp/bts-live-XXXXXX. Under nohup(1), still ignore SIGHUP. */
static void stop_on_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGHUP };
	/*
	 * Let the kernel restart an interrupted write() to a pipe. Otherwise, stdio would drop the
	 * output. If the reader of the pipe hangs, a second signal ends bts.
	 */
	struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESTART | SA_RESETHAND };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i] != SIGHUP || !process_ignores_hangup())
			sigaction(signals[i], &action, NULL);
}

int live_run(struct live *l)
{
	char directory[] = "/tmp/bts-live-XXXXXX";
	int status = STATUS_OK;
	char *trace, *log;

	if (!mkdtemp(directory))
		return msg_errno("create a directory", directory);
	trace = mem_format("%s/trace.dat", directory);
	log = mem_format("%s/log", directory);
	stop_on_signals();
	for (unsigned long i = 0; !stopped && !status && (!l->count || i < l->count); i++) {
		status = record(l, trace, log);
		if (!status)
			status = l->show(l->ctx, trace);
		remove_trace(trace);
	}
	unlink(log);
	rmdir(directory);
	free(trace);
	free(log);
	return status;
}
