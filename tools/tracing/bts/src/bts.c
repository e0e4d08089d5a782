// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts: records every branch that a program takes, and answers questions about it.
 *
 * This file has the table of commands, from which both dispatch and usage are made. A
 * command is a function cmd_NAME() in src/cmd_NAME.c and a row here.
 *
 * Exit status: 0; 1 if something failed, with "bts: what: object: reason" on standard
 * error; 2 if it was called wrongly.
 */
#include <stdio.h>
#include <string.h>

#include "bts.h"

#ifndef VERSION
#define VERSION "unknown"
#endif

#define COMMANDS(X)								\
	X(check,   "what this machine can do, and what to do about the rest")	\
	X(record,  "record the branches of a command, of PIDs, or of all")	\
	X(info,    "who, when, which machine, options, branches, losses")	\
	X(report,  "a row for each branch, with symbols and lines")		\
	X(replay,  "the call tree, with instructions and branches per call")	\
	X(top,     "functions, edges, loops, lines by instructions; also live")	\
	X(graph,   "callers and callees of a function, with exact counts")	\
	X(cover,   "which lines and branches ran: lcov, drcov, PCs")		\
	X(dump,    "flame graphs, callgrind, timelines, json and others")	\
	X(diff,    "where two runs part")					\
	X(tui,     "browse replay, top and source in a terminal")		\
	X(archive, "put what names a trace's addresses beside it")

#define DECLARE(name, help) int cmd_##name(int argc, char **argv) __attribute__((weak));
COMMANDS(DECLARE)

static const struct command {
	const char	*name;
	bts_command_fn	run;
	const char	*help;
} commands[] = {
#define ROW(name, help) { #name, cmd_##name, help },
	COMMANDS(ROW)
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fputs("Usage: bts COMMAND [OPTIONS...]\n\n", out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].run)
			fprintf(out, "  %-9s%s\n", commands[i].name, commands[i].help);
	fputs("\nbts COMMAND -h says more; bts --version.\n", out);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].run && !strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2) {
		print_usage(stderr);
		return BTS_MISUSE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return bts_flush(BTS_OK);
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		puts("bts " VERSION);
		return bts_flush(BTS_OK);
	}
	command = find_command(argv[1]);
	if (!command)
		return bts_misuse(NULL, "no such command: %s", argv[1]);
	return bts_flush(command->run(argc - 1, argv + 1));
}
