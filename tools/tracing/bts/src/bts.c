// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts: record every branch that a program takes, and answer questions about the run.
 *
 * Exit status: 0 on success; 1 on failure, with "bts: what: object: reason" on standard error; 2 on
 * misuse. The commands bts record and bts diff also use other exit statuses.
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
	{ "check",	cmd_check,	"report what can be recorded here, and what is missing" },
	{ "record",	cmd_record,	"record the branches of a command, PIDs or all tasks" },
	{ "import",	cmd_import,	"convert the branches in a perf.data file into a trace" },
	{ "restore",	cmd_restore,	"complete the trace of a recording that was killed" },
	{ "info",	cmd_info,	"print a trace's origin, options and number of branches" },
	{ "report",	cmd_report,	"print each branch with its symbols and source lines" },
	{ "replay",	cmd_replay,	"print the call tree, with instruction and branch counts" },
	{ "top",	cmd_top,	"rank functions, edges, loops or lines by instructions" },
	{ "graph",	cmd_graph,	"print callers and callees of a function, with counts" },
	{ "cover",	cmd_cover,	"report which lines, branches and instructions ran" },
	{ "dump",	cmd_dump,	"convert a trace: flame graphs, profiles, timelines" },
	{ "diff",	cmd_diff,	"find where two runs differ" },
	{ "why",	cmd_why,	"find the kernel's check that made a system call fail" },
	{ "gdb",	cmd_gdb,	"step backwards through a recorded run, in gdb" },
	{ "tui",	cmd_tui,	"browse calls, functions and source in a terminal" },
	{ "archive",	cmd_archive,	"save the programs and symbols of a trace beside it" },
};

static void print_usage(FILE *out)
{
	fputs("Usage: bts COMMAND [OPTIONS...]\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s%s\n", commands[i].name, commands[i].help);
	fputs("\nbts COMMAND -h prints the options of a command.\n"
	      "bts --version prints the version.\n", out);
}

/* The exit status if memory runs out, or if standard output cannot be written. */
static int failure = STATUS_FAILURE;

static void no_memory(void)
{
	msg_error(NULL, NULL, "out of memory");
	exit(failure);
}

static const struct subcommand *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/*
 * For shell completion: if @name is NULL, print all commands; if @option is NULL, print the options
 * of the command @name; otherwise, print the kind of argument that @option takes.
 */
static int complete(const char *name, const char *option)
{
	const struct subcommand *command = name ? find_command(name) : NULL;

	if (command)
		return complete_options(command->run, option);
	if (name)
		return msg_misuse(NULL, "%s: no such command", name);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s\t\t%s\n", commands[i].name, commands[i].help);
	puts("--help\t\tprint the commands\n--version\t\tprint the version");
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	const struct subcommand *command;

	if (argc < 2) {
		print_usage(stderr);
		return STATUS_MISUSE;
	}
	mem_on_failure(no_memory);
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return msg_flush(STATUS_OK, failure);
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version")) {
		puts("bts " VERSION);
		return msg_flush(STATUS_OK, failure);
	}
	if (!strcmp(argv[1], "--complete"))
		return msg_flush(complete(argv[2], argc > 3 ? argv[3] : NULL), failure);
	command = find_command(argv[1]);
	if (!command)
		return msg_misuse(NULL, "%s: no such command", argv[1]);
	if (command->run != cmd_tui)
		terminal_guard();
	/* The command gets argv[1] as its argv[0]. getopt() begins its messages with argv[0]. */
	argv[1] = mem_format("bts %s", command->name);
	if (command->run == cmd_record)
		failure = RECORD_FAILED;
	else if (command->run == cmd_diff)
		failure = DIFF_FAILED;
	return msg_flush(command->run(argc - 1, argv + 1), failure);
}
