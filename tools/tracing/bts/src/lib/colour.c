// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print text in colour.
 *
 * The lines of two compared runs are cyan and yellow, because red and green would suggest that one
 * run is wrong, and some people cannot distinguish red from green.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "colour.h"
#include "msg.h"
#include "terminal.h"

static enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } mode;

static const char *const sequences[COLOURS] = {
	[COLOUR_NONE]	= "\033[m",
	[COLOUR_BOLD]	= "\033[1m",
	[COLOUR_DIM]	= "\033[2m",
	[COLOUR_A]	= "\033[36m",
	[COLOUR_B]	= "\033[33m",
	[COLOUR_BAD]	= "\033[31m",
	[COLOUR_GOOD]	= "\033[32m",
};

int colour_option(const char *command, const char *when)
{
	if (!when || !strcmp(when, "always"))
		mode = COLOUR_ALWAYS;
	else if (!strcmp(when, "never"))
		mode = COLOUR_NEVER;
	else if (!strcmp(when, "auto"))
		mode = COLOUR_AUTO;
	else
		return msg_misuse(command, "--color %s: must be always, auto or never", when);
	return STATUS_OK;
}

static bool is_wanted(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (mode != COLOUR_AUTO)
		return mode == COLOUR_ALWAYS;
	return out == stdout && isatty(STDOUT_FILENO) && !(no && *no) && term && *term &&
	       strcmp(term, "dumb");
}

void colour(FILE *out, enum colour c)
{
	if (is_wanted(out))
		terminal_control(out, sequences[c]);
}

void colour_line(FILE *out, enum colour c, const char *format, ...)
{
	va_list args;

	colour(out, c);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	colour(out, COLOUR_NONE);
	fputc('\n', out);
}
