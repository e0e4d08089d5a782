/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands that read a trace have in common, besides the pipeline.
 */
#ifndef BTS_COMMAND_H
#define BTS_COMMAND_H

#include <getopt.h>

#include "bts.h"
#include "pipeline.h"

/*
 * A file may be named without -i: takes it from the arguments that are left. BTS_OK, or
 * BTS_MISUSE after a message if there are others.
 */
int command_input(struct bts_options *o, const char *command, int argc, char **argv);

/* Runs a pipe that is open, writes the bill (unless @bill is NULL), closes it. */
int command_run(struct bts_pipe *pipe, FILE *bill);

/* Usage: the command's own text, then the common options. */
int command_usage(const char *text);
/* Where -o @output goes: a file, or standard output. NULL, and said, if it cannot be. */
FILE *command_output(const char *output);
/* The end of a command with -o: closes both, after the bill. Returns its status. */
int command_output_end(struct bts_pipe *pipe, FILE *out, const char *output, int status);

/* What a row that is no branch says: departs, arrives, LOST, GAP ... Static buffer. */
const char *command_row_text(struct bts_pipe *pipe, struct bts_task *task,
			     const struct bts_row *row);

#endif
