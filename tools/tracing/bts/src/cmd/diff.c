// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts diff: show every difference between two runs.
 *
 *	compare.c	compares the two runs, with the help of these files:
 *	  grow.c	reads each trace once, and makes call trees that share equal subtrees
 *	  roles.c	chooses pairs of tasks to compare
 *	  find.c	aligns the trees of two tasks
 *	    beside.c	arranges the two runs side by side, for the HTML page
 *	show*.c		prints the differences
 *	page*.c		writes a page of HTML
 *
 * With --against, suspects.c ranks branches by how well they separate failed from passed runs.
 */
#include <stdlib.h>

#include "diff/page.h"
#include "diff/show.h"
#include "diff/suspects.h"
#include "lib/colour.h"
#include "lib/msg.h"
#include "cmd.h"
#include "command.h"

enum {
	DIFF_EQUAL	= 0,
	DIFF_DIFFERS	= 1,
};

static const char usage[] =
	"Usage: bts diff [OPTIONS] A B\n"
	"       bts diff [OPTIONS] PASSED... --against FAILED...\n\n"
	"Prints every difference between two runs: where it begins, what each run did, and\n"
	"where the runs meet again.\n"
	"With --against, ranks branches by how well they separate failed from passed runs.\n\n"
	"  --against          compare passed runs (before this option) with failed runs (after)\n"
	"  -a, --all          also compare the branches that depend on chance\n"
	"                     (in interrupts, the kernel, and some functions of the C library)\n"
	"  -n, --rows N       print N differences for each pair of tasks (20); 0: all;\n"
	"                     with --against, print N branches\n"
	"  --json             print a JSON object for each pair of tasks (--against: each branch)\n"
	"  --html FILE        write a page that shows the runs side by side, with sources\n"
	COLOUR_HELP
	"  -h, --help         this text\n\n"
	"Exit status: 0 the runs do not differ, 1 the runs differ, 2 misuse, 3 failure.\n";

struct diff {
	struct comparison	comparison;
	struct suspects		suspects;
	bool			against;
	bool			json;
	const char		*html;
};

/* Print the result, or write the HTML page. Return STATUS_OK or STATUS_FAILURE. */
static int show(const struct diff *d)
{
	const struct comparison *c = &d->comparison;
	FILE *out;

	if (d->html) {
		out = command_output(d->html);
		if (!out)
			return STATUS_FAILURE;
		if (d->against)
			suspects_page(&d->suspects, c->rows, out);
		else
			show_page(c, out);
		return command_output_close(out, d->html, STATUS_OK);
	}
	if (d->against && d->json)
		suspects_show_json(&d->suspects, stdout);
	else if (d->against)
		suspects_show(&d->suspects, c->rows, stdout);
	else if (d->json)
		show_json(c, stdout);
	else
		show_text(c, stdout);
	return STATUS_OK;
}

static int run_suspects(struct diff *d, const struct options *options)
{
	struct suspects *s = &d->suspects;
	int status;

	s->forest.all = d->comparison.forest.all;
	status = suspects_find(s, options) ? DIFF_FAILED : DIFF_EQUAL;
	if (!status && show(d))
		status = DIFF_FAILED;
	if (!status && s->nr_ranked)
		status = DIFF_DIFFERS;
	return suspects_free(s) ? DIFF_FAILED : status;
}

static int run(void *ctx, const struct options *options)
{
	struct diff *d = ctx;
	struct comparison *c = &d->comparison;
	int status = DIFF_EQUAL, failed;

	c->forest.all |= options->kernel;
	if (d->against)
		return run_suspects(d, options);
	c->run[0].path = d->suspects.paths[0][0];
	c->run[1].path = d->suspects.paths[0][1];
	free(d->suspects.paths[0]);
	c->besides = d->html;
	failed = compare(c, options);
	for (size_t i = 0; i < c->nr_tasks; i++)
		if (tasks_differ(&c->tasks[i]))
			status = DIFF_DIFFERS;
	if (c->tasks)
		failed |= show(d);
	failed |= comparison_free(c);
	return failed ? DIFF_FAILED : status;
}

static int option(void *ctx, int option, const char *command)
{
	struct diff *d = ctx;

	switch (option) {
	case 1:
		suspects_add_path(&d->suspects, d->against, optarg);
		return STATUS_OK;
	case 'b':
		d->against = true;
		return STATUS_OK;
	case 'a':
		d->comparison.forest.all = true;
		return STATUS_OK;
	case 'j':
		d->json = true;
		return STATUS_OK;
	case 'l':
		d->html = optarg;
		return STATUS_OK;
	case 'c':
		return colour_option(command, optarg);
	case 'n':
		return msg_number(command, "--rows", optarg, 0, &d->comparison.rows);
	}
	return STATUS_MISUSE;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct diff *d = ctx;

	if (d->json && d->html)
		return msg_misuse(argv[0], "--json and --html cannot be used together");
	for (; optind < argc; optind++)
		suspects_add_path(&d->suspects, d->against, argv[optind]);
	if (d->against && (!d->suspects.nr_paths[0] || !d->suspects.nr_paths[1]))
		return msg_misuse(argv[0], "traces are needed before and after --against");
	if (!d->against && d->suspects.nr_paths[0] != 2)
		return msg_misuse(argv[0], "two traces are needed");
	if (command_no_input(o, argv[0]))
		return STATUS_MISUSE;
	for (int i = 0; i < 2; i++)
		if (command_no_overwrite(o, argv[0], d->html, d->suspects.paths[i],
					 d->suspects.nr_paths[i]))
			return STATUS_MISUSE;
	return STATUS_OK;
}

int cmd_diff(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "against", no_argument, NULL, 'b' },
		{ "all", no_argument, NULL, 'a' },
		{ "rows", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "html", required_argument, NULL, 'l' },
		{ "color", optional_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	/* The "-" makes getopt_long() return the operands and --against in the order given. */
	static const struct command command = {
		.usage = usage, .shorts = "-an:h", .longs = longs,
		.option = option, .operands = operands, .run = run,
	};
	struct diff d = { .comparison.rows = 20 };

	return command_main(&command, &d, argc, argv);
}
