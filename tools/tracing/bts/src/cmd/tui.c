// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts tui: browse a trace in a terminal.
 *
 *	trace -> trees of calls, sums (tui/tree.c) -> screen (tui/screen.c, tui/source.c)
 */
#include <unistd.h>

#include "lib/msg.h"
#include "lib/terminal.h"
#include "tui/tui.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts tui [OPTIONS] [FILE]\n"
	"       bts tui [OPTIONS] A B\n\n"
	"Browse a trace's calls, functions and source in a terminal, or compare two traces.\n\n"
	"  -h, --help         this text\n\n"
	"Keys: up, down, page keys, Home, End: move the cursor\n"
	"      left, right  fold call, unfold call     d, D  next difference, previous difference\n"
	"      Enter        fold or unfold the call    x     show the difference in the other run\n"
	"      e, c         unfold all, fold all       t, r  show functions, show calls\n"
	"      /, n         search, search again       s     show the source of the function\n"
	"      l, Tab       next loss, next task       q     quit\n";

/**
 * struct tuis - the traces to browse
 * @paths:	the names of one or two traces
 */
struct tuis {
	const char		*paths[2];
	unsigned int		nr;
	struct tui		runs[2];
	struct marks		marks[2];
	struct comparison	comparison;
};

static int find_differences_of(struct tuis *t, const struct options *options)
{
	int status;

	t->comparison.run[0].path = t->paths[0];
	t->comparison.run[1].path = t->paths[1];
	status = compare(&t->comparison, options);
	for (unsigned int i = 0; i < 2; i++) {
		marks_init(&t->marks[i], &t->comparison, i);
		t->runs[i].marks = &t->marks[i];
	}
	return status;
}

static int browse(struct tuis *t, const struct options *options)
{
	int status = t->nr > 1 ? find_differences_of(t, options) : STATUS_OK;

	for (unsigned int i = 0; i < t->nr && !status; i++)
		status = tui_read(&t->runs[i], t->paths[i], options);
	return status ? status : tui_screen(t->runs, t->nr);
}

/* The screen is closed. Guard the terminal against control characters in the summaries. */
static int end(struct tuis *t, int status)
{
	terminal_guard();
	for (unsigned int i = 0; i < t->nr; i++) {
		if (!t->runs[i].pipe.private)
			continue;
		tui_free(&t->runs[i]);
		if (!status)
			pipe_bill(&t->runs[i].pipe, stdout);
		if (pipe_close(&t->runs[i].pipe))
			status = status ? status : STATUS_FAILURE;
	}
	if (t->nr < 2)
		return status;
	marks_free(&t->marks[0]);
	marks_free(&t->marks[1]);
	return comparison_free(&t->comparison) ? STATUS_FAILURE : status;
}

static int run(void *ctx, const struct options *options)
{
	struct tuis *t = ctx;

	/* Check for a terminal first, because reading the trace may take a while. */
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return msg_error("open the terminal", isatty(STDIN_FILENO) ?
				 "standard output" : "standard input", "not a terminal");
	/* With two traces, bts tui counts calls to find differences. --inline would add calls. */
	if (t->nr > 1 && options->inlines)
		return msg_misuse("bts tui", "--inline cannot be used with two traces");
	if (t->nr < 2)
		t->paths[0] = options->path;
	return end(t, browse(t, options));
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct tuis *t = ctx;

	if (command_no_places(o, argv[0]))
		return STATUS_MISUSE;
	t->nr = argc - optind == 2 ? 2 : 1;
	if (t->nr == 1)
		return command_input(o, argv[0], argc, argv);
	t->paths[0] = argv[optind++];
	t->paths[1] = argv[optind++];
	return command_no_input(o, argv[0]);
}

int cmd_tui(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "h", .longs = longs,
		.operands = operands, .run = run,
	};
	struct tuis t = {};

	return command_main(&command, &t, argc, argv);
}
