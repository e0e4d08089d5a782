/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands that read a trace have in common, besides the pipeline.
 *
 * Included by: cmd/.
 */
#ifndef BTS_COMMAND_H
#define BTS_COMMAND_H

#include <getopt.h>
#include <libbts.h>

#include "flow/pipeline.h"

/**
 * struct command - a command that reads a trace
 * @usage:	its own part of the help
 * @print_usage: in place of @usage
 * @shorts:	its own options for getopt_long(), with h
 * @longs:	the same, with help
 * @option:	one of them, its value in optarg: STATUS_OK or, after a message, STATUS_MISUSE. NULL
 *		if there are none
 * @operands:	takes what the command wants from argv[optind] on; the same. NULL: nothing
 *		but the trace's name
 * @run:	the command; its exit status
 */
struct command {
	const char		*usage;
	void			(*print_usage)(void);
	const char		*shorts;
	const struct option	*longs;
	int	(*option)(void *ctx, int option, const char *command);
	int	(*operands)(void *ctx, struct options *o, int argc, char **argv);
	int	(*run)(void *ctx, const struct options *o);
};

/* Help for the common options, one line each. */
extern const char options_help[];

/*
 * The options of the command and the common ones, -i FILE too. Returns STATUS_OK, STATUS_MISUSE
 * after a message, or -1: help is wanted.
 */
int options_parse(const struct command *c, void *ctx, struct options *o, int argc, char **argv);

/* Arguments, run, end: what a cmd_NAME() returns. */
int command_main(const struct command *c, void *ctx, int argc, char **argv);

/*
 * A file may be named without -i: takes it from the arguments that are left. STATUS_OK, or
 * STATUS_MISUSE after a message if there are others.
 */
int command_input(struct options *o, const char *command, int argc, char **argv);

/*
 * For commands that read the trace by libbts.h: open it, with the filters of the options. NULL
 * after a message.
 */
struct bts_trace *command_trace(const struct options *o);
/*
 * The bill, on standard output, and what has failed. Closes the trace. Returns @status, or
 * STATUS_FAILURE.
 */
int command_trace_end(struct bts_trace *trace, bool json, int status);

/* print.c: why a trace, at @path, cannot be opened. Returns STATUS_FAILURE. */
int print_failure(const char *path, int code, const char *text);

/* Usage: the command's own text, then the common options. */
int command_usage(const char *text);
/* Where -o @output goes: a file, or standard output. NULL, and said, if it cannot be. */
FILE *command_output(const char *output);
/* Closes what command_output() has opened, and says its size. Returns @status, or failure. */
int command_output_close(FILE *out, const char *output, int status);
/* The end of a command with -o: closes both, after the bill. Returns its status. */
int command_output_end(struct pipe *pipe, FILE *out, const char *output, int status);

#endif
