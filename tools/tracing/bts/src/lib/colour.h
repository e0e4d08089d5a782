/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print text in colour.
 *
 * Included by: any file.
 */
#ifndef BTS_COLOUR_H
#define BTS_COLOUR_H

#include <stdio.h>

enum colour {
	COLOUR_NONE,
	COLOUR_BOLD,
	COLOUR_DIM,
	COLOUR_A,		/* the first of two runs */
	COLOUR_B,
	COLOUR_BAD,
	COLOUR_GOOD,
	COLOURS
};

/* The part of a command's help that describes --color. */
#define COLOUR_HELP \
	"  --color[=WHEN]     colour the text: always, never, or auto (default; terminals only)\n"

/*
 * Handle a command's option --color. @when is "always", "auto" or "never". NULL means "always".
 * Return STATUS_OK. If @when is any other word, print a message and return STATUS_MISUSE.
 */
int colour_option(const char *command, const char *when);
/*
 * If colours are on, print the following text in this colour. In auto mode, colours are on only for
 * standard output to a terminal. They are off if TERM is unset, empty or "dumb", or if NO_COLOR is
 * set and not empty.
 */
void colour(FILE *out, enum colour c);
/* Print a line in this colour, and add a newline. */
void colour_line(FILE *out, enum colour c, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
