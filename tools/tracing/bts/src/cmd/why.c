// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts why: find the check in the kernel that made a system call fail.
 *
 * history.c reads the system calls of the trace, each with its call tree and its result. trail.c
 * lists the conditional jumps that a system call executed. rank.c finds the condition at which the
 * failed call and a successful call diverge. Without a successful call, rank.c lists the most
 * likely causes of the failure. show.c prints the result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/colour.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "why/rank.h"
#include "cmd.h"
#include "command.h"

/* The kernel's error numbers are below this number. */
#define ERRORS_MAX	4096

static const char usage[] =
	"Usage: bts why [OPTIONS] [FILE]\n\n"
	"Finds out why a system call failed. Compares the last failed call with a successful call\n"
	"to the same system call, and prints the conditional jumps in the kernel that most likely\n"
	"caused the failure. Without a successful call, these jumps are only hypotheses.\n"
	"Record with: bts record -e raw_syscalls:sys_exit -- CMD\n\n"
	"  --errno E          the last failed call with this error, such as EINVAL or 22\n"
	"  --call NAME        the last failed call of this name, such as openat\n"
	"  --against FILE     compare the failed call with successful calls in the trace FILE\n"
	"  --alone            do not compare with another call\n"
	"  -n, --rows N       print at most N jumps (default 5), or all jumps if N is 0\n"
	"  --json             print one JSON object\n"
	COLOUR_HELP
	"  -h, --help         this text\n";

struct why {
	struct history	history;
	char		*paths[2];
	const char	*name;
	unsigned long	rows;
	int		error;
	bool		alone;
	bool		json;
};

/* strerrorname_np() never returns these aliases of error names. */
static const struct {
	const char	*name;
	int		error;
} aliases[] = {
	{ "EDEADLOCK", EDEADLOCK }, { "ENOTSUP", ENOTSUP }, { "EWOULDBLOCK", EWOULDBLOCK },
};

/* Return the number of an error such as "EINVAL" or "22", or 0 if the error is unknown. */
static int error_number(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (*text && !*end)
		return number > 0 && number < ERRORS_MAX ? number : 0;
	for (int i = 1; i < ERRORS_MAX; i++)
		if (strerrorname_np(i) && !strcmp(strerrorname_np(i), text))
			return i;
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(aliases[i].name, text))
			return aliases[i].error;
	return 0;
}

static int no_failure(const struct why *w)
{
	const struct history *h = &w->history;

	if (!h->events)
		return msg_error("why", w->paths[0],
				 "the trace has no system calls; record with "
				 "-e raw_syscalls:sys_exit");
	if (!h->nr)
		return msg_error("why", w->paths[0],
				 "the trace has no kernel side; record without -u");
	return msg_error("why", w->paths[0], w->error || w->name ? "options match no failed call" :
								   "no system call failed");
}

static int show(struct why *w)
{
	size_t failures = history_failures(&w->history);
	const struct system_call *failed;
	struct ranking r;

	failed = history_failure(&w->history, w->error, w->name);
	if (!failed)
		return no_failure(w);
	if (!rank(&r, &w->history, failed, w->alone))
		return STATUS_FAILURE;
	if (w->json) {
		why_show_json(&w->history, &r, stdout);
	} else {
		why_show(&w->history, &r, w->rows, stdout);
		printf("# %zu system call%s of the trace failed\n", failures,
		       text_plural(failures, "s"));
	}
	ranking_free(&r);
	return STATUS_OK;
}

static int run(void *ctx, const struct options *options)
{
	struct why *w = ctx;
	struct options kernel = *options;
	int status, failed;

	if (options->user || options->dso || options->from || options->to)
		return msg_misuse("bts why", "--user, --dso, --from and --to cannot be used, "
				  "because all branches of the kernel are needed");
	kernel.kernel = true;
	w->paths[0] = options->path;
	status = history_read(&w->history, w->paths, &kernel);
	if (!status)
		status = show(w);
	failed = history_free(&w->history);
	return status ? status : failed;
}

static int option(void *ctx, int option, const char *command)
{
	struct why *w = ctx;

	switch (option) {
	case 'e':
		w->error = error_number(optarg);
		if (!w->error)
			return msg_misuse(command, "--errno %s: no such error", optarg);
		return STATUS_OK;
	case 'c':
		w->name = optarg;
		return STATUS_OK;
	case 'b':
		w->paths[1] = optarg;
		return STATUS_OK;
	case 'a':
		w->alone = true;
		return STATUS_OK;
	case 'j':
		w->json = true;
		return STATUS_OK;
	case 'o':
		return colour_option(command, optarg);
	case 'n':
		return msg_number(command, "--rows", optarg, 0, &w->rows);
	}
	return STATUS_MISUSE;
}

int cmd_why(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "errno", required_argument, NULL, 'e' },
		{ "call", required_argument, NULL, 'c' },
		{ "against", required_argument, NULL, 'b' },
		{ "alone", no_argument, NULL, 'a' },
		{ "rows", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "color", optional_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "n:h", .longs = longs,
		.option = option, .run = run,
	};
	struct why w = { .rows = 5 };

	return command_main(&command, &w, argc, argv);
}
