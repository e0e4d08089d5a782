// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts: record every branch that a program takes, and answer questions about the run.
 *
 * The table of commands in this file drives both dispatch and usage. To add a command, write
 * cmd_NAME() in cmd/NAME.c and add a row here.
 *
 * Exit status: 0 on success; 1 on failure, with "bts: what: object: reason" on standard error;
 * 2 on misuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/terminal.h"

static const struct subcommand {
	const char	*name;
	int		(*run)(int argc, char **argv);
	const char	*help;
} commands[] = {
	{ "check",	cmd_check,	"what this machine can do, and the remedy for the rest" },
	{ "record",	cmd_record,	"record the branches of a command, of PIDs or of all" },
	{ "import",	cmd_import,	"make a trace of a perf.data of branches" },
	{ "info",	cmd_info,	"origin, date, machine, options, branches, losses" },
	{ "report",	cmd_report,	"a row for each branch, with symbols and lines" },
	{ "replay",	cmd_replay,	"the call tree, with instructions and branches" },
	{ "top",	cmd_top,	"functions, edges, loops, lines by instructions" },
	{ "graph",	cmd_graph,	"callers and callees of a function, with exact counts" },
	{ "cover",	cmd_cover,	"which lines and branches ran: lcov, drcov, PCs" },
	{ "dump",	cmd_dump,	"flame graphs, callgrind, timelines, json and others" },
	{ "diff",	cmd_diff,	"where two runs part" },
	{ "why",	cmd_why,	"why a system call failed: the kernel's check" },
	{ "gdb",	cmd_gdb,	"step backwards through a run that is over, in gdb" },
	{ "tui",	cmd_tui,	"browse replay, top and source in a terminal" },
	{ "archive",	cmd_archive,	"put what names a trace's addresses beside it" },
};

static void print_usage(FILE *out)
{
	fputs("Usage: bts COMMAND [OPTIONS...]\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s%s\n", commands[i].name, commands[i].help);
	fputs("\nbts COMMAND -h says more; bts --version.\n", out);
}

static void no_memory(void)
{
	exit(msg_error(NULL, NULL, "out of memory"));
}

static const struct subcommand *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct subcommand *command;

	if (argc < 2) {
		print_usage(stderr);
		return STATUS_MISUSE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return msg_flush(STATUS_OK);
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		puts("bts " VERSION);
		return msg_flush(STATUS_OK);
	}
	command = find_command(argv[1]);
	if (!command)
		return msg_misuse(NULL, "%s: no such command", argv[1]);
	mem_on_failure(no_memory);
	if (command->run != cmd_tui)
		terminal_guard();
	/* getopt() puts this name before its messages. */
	argv[1] = mem_format("bts %s", command->name);
	return msg_flush(command->run(argc - 1, argv + 1));
}
