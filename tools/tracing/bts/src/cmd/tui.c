// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts tui: browse a trace in a terminal.
 *
 *	trace -> trees of calls, sums (tui/tree.c) -> screen (tui/screen.c, tui/source.c)
 */
#include <unistd.h>

#include "lib/msg.h"
#include "tui/tui.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts tui [OPTIONS] [FILE]\n\n"
	"Browse calls, functions and source in a terminal.\n\n"
	"  -h, --help         this text\n\n"
	"Keys: arrows, page keys, Home and End move. Enter, left and right fold and unfold, e\n"
	"and c unfold and fold all. / searches, n searches again, l finds the next loss. Tab\n"
	"shows the next task, t functions, r calls, s the source of the selected function.\n"
	"q quits.\n";

static int run(void *ctx, const struct options *options)
{
	struct tui t = {};
	int status, closed;

	(void)ctx;
	/* Check this before reading the trace, which may take a while. */
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return msg_error("open the terminal", isatty(STDIN_FILENO) ?
				 "standard output" : "standard input", "not a terminal");
	status = tui_read(&t, options);
	if (!t.pipe.private)
		return status;
	if (!status)
		status = tui_screen(&t);
	tui_free(&t);
	pipe_bill(&t.pipe, stdout);
	closed = pipe_close(&t.pipe);
	return status ? status : closed;
}

int cmd_tui(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "h", .longs = longs,
		.run = run,
	};

	return command_main(&command, NULL, argc, argv);
}
