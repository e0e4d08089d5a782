// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts record --repeat: record the same command again and again.
 *
 * Each run is recorded into FILE. If the command's exit status is 0, FILE is then renamed to
 * FILE.passed.N. If the exit status is not 0, or if a signal ended the command, FILE is renamed to
 * FILE.failed.N. If FILE ends with ".dat", the new names end with ".dat", too. Each recording runs
 * in a new process, so that no state remains from earlier recordings.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/process.h"
#include "lib/text.h"
#include "symbols/archive.h"
#include "cmd.h"
#include "record_repeat.h"

static volatile sig_atomic_t interrupted;

static char *name_of(const char *file, bool failed, unsigned long nr)
{
	size_t length = strlen(file);
	bool dat = length > 4 && !strcmp(file + length - 4, ".dat");

	return mem_format("%.*s.%s.%lu%s", (int)(dat ? length - 4 : length), file,
			  failed ? "failed" : "passed", nr, dat ? ".dat" : "");
}

/* Rename the trace and its archive. Replace any trace and archive that have the new names. */
static int rename_trace(const char *from, const char *to)
{
	if (rename(from, to))
		return msg_errno("rename", from);
	return archive_keep(from, to);
}

static struct record_result one_run(const struct record_options *options,
				    struct record_result (*once)(const struct record_options *))
{
	struct record_result result = { .status = RECORD_FAILED };
	pid_t pid, parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC)) {
		msg_errno("create a pipe", NULL);
		return result;
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		/* If bts is killed, end the recording. */
		if (!process_ends_with(parent))
			_exit(RECORD_FAILED);
		result = once(options);
		_exit(write(fds[1], &result, sizeof(result)) != sizeof(result));
	}
	close(fds[1]);
	if (pid < 0)
		msg_errno("fork", NULL);
	else if (read(fds[0], &result, sizeof(result)) != sizeof(result))
		result = (struct record_result) { .status = RECORD_FAILED };
	close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return result;
}

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

int record_repeat(const struct record_options *options,
		  struct record_result (*once)(const struct record_options *options))
{
	const struct sigaction action = { .sa_handler = note_interrupt, .sa_flags = SA_RESTART };
	unsigned long runs[2] = {};

	/*
	 * Handle Ctrl-C in this process, too. The child process ends its recording on Ctrl-C, but
	 * misses a Ctrl-C that arrives before the recording or while bts completes the trace.
	 */
	sigaction(SIGINT, &action, NULL);
	while (!interrupted && runs[0] + runs[1] < options->repeat &&
	       (!options->until_fail || runs[1] < options->until_fail)) {
		struct record_result result = one_run(options, once);
		bool failed = result.wait_status;
		char *name;
		int ret;

		if (result.status)
			return result.status;
		if (!result.ended)
			break;
		name = name_of(options->output, failed, ++runs[failed]);
		ret = rename_trace(options->output, name);
		free(name);
		if (ret)
			return RECORD_FAILED;
	}
	fprintf(stderr, "%lu run%s passed, %lu failed\n", runs[0], text_plural(runs[0], "s"),
		runs[1]);
	return STATUS_OK;
}
