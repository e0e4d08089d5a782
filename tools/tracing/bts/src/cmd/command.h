/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declare common functions of the commands that read a trace. For the pipeline, see
 * flow/pipeline.h.
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
 * @usage:	the text of the help, without the common options
 * @print_usage: prints the whole help. If NULL, @usage and the common options are printed
 * @shorts:	the command's options for getopt_long(), including -h
 * @longs:	the long forms of these options, including --help
 * @option:	handles an option, whose value is in optarg. Returns STATUS_OK, or prints a message
 *		and returns STATUS_MISUSE. NULL if the command has no options
 * @rows:	the output is a list of rows, so the option --head is accepted
 * @operands:	handles the operands, beginning with argv[optind]. Returns STATUS_OK or
 *		STATUS_MISUSE, like @option. NULL if the trace is the only operand
 * @run:	runs the command. Returns the exit status
 */
struct command {
	const char		*usage;
	void			(*print_usage)(void);
	const char		*shorts;
	const struct option	*longs;
	bool			rows;
	int	(*option)(void *ctx, int option, const char *command);
	int	(*operands)(void *ctx, struct options *o, int argc, char **argv);
	int	(*run)(void *ctx, const struct options *o);
};

extern const char options_help[];

/*
 * Parse the options of the command and the common options. Returns STATUS_OK, or -1 if the user
 * asked for help. On misuse, prints a message and returns STATUS_MISUSE.
 */
int options_parse(const struct command *c, void *ctx, struct options *o, int argc, char **argv);

/* Parse the arguments, run the command, and clean up. Returns the exit status. */
int command_main(const struct command *c, void *ctx, int argc, char **argv);

/*
 * Store the operand, if there is one, in @operand. If @operand is NULL, the command takes no
 * operand. If arguments remain, print a message and return STATUS_MISUSE.
 */
int command_operand(const char **operand, const char *command, int argc, char **argv);
/* Store the trace's name in @trace. Reject "-", because the command needs a file with a name. */
int command_trace_name(const char **trace, const char *command, int argc, char **argv);

/*
 * Store the operand as the trace's name, unless the option -i has set the name. If other arguments
 * remain, print a message and return STATUS_MISUSE.
 */
int command_input(struct options *o, const char *command, int argc, char **argv);
/*
 * For commands that follow calls through all files and functions: if --dso, --from or --to is set,
 * print a message and return STATUS_MISUSE.
 */
int command_no_places(const struct options *o, const char *command);
/* If --head is set, print that the output is not a list of rows, and return STATUS_MISUSE. */
int command_no_head(const struct options *o, const char *command);
/* For commands with trace operands: if -i is set, print a message and return STATUS_MISUSE. */
int command_no_input(const struct options *o, const char *command);

/* If the output (-o or --html) is one of the inputs, print a message and return STATUS_MISUSE. */
int command_no_overwrite(const struct options *o, const char *command, const char *output,
			 char *const *inputs, size_t nr);

/* Open the trace with libbts, and set the user's filters. On failure, print why; return NULL. */
struct bts_trace *command_trace(const struct options *o);
/*
 * Print the summary, report a failure to read the trace, and close the trace. Returns @status, or
 * STATUS_FAILURE after a failure.
 */
int command_trace_end(struct bts_trace *trace, bool json, int status);

/* print.c: print why the trace at @path cannot be opened. Returns STATUS_FAILURE. */
int print_failure(const char *path, int code, const char *text);

/* Print the command's help, followed by the common options. */
int command_usage(const char *text);
/* Open @output; NULL and "-" mean stdout. On failure, print a message and return NULL. */
FILE *command_output(const char *output);
/* Close the output, and print its size. Returns @status, or STATUS_FAILURE after a failure. */
int command_output_close(FILE *out, const char *output, int status);

#endif
