// SPDX-License-Identifier: GPL-2.0-only
/* bts dump: convert a trace into another program's format. dump/ describes the formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dump.h"
#include "lib/msg.h"
#include "lib/terminal.h"
#include "cmd.h"
#include "command.h"

static const struct dump_format formats[] = {
	{ "folded",	dump_folded,	.calls = true,
	  .help = "stacks, for speedscope, flamegraph.pl" },
	{ "flame",	dump_flame,	.calls = true,
	  .help = "a flame graph, an SVG picture for any browser" },
	{ "callgrind",	dump_callgrind,	.calls = true,
	  .help = "for KCachegrind, callgrind_annotate" },
	{ "chrome",	dump_chrome,	.calls = true,
	  .help = "calls over time, for chrome://tracing, speedscope" },
	{ "perfetto",	dump_perfetto,	.calls = true,
	  .help = "calls over time, in a smaller file, for ui.perfetto.dev only" },
	{ "profgen",	dump_profile, dump_profgen_end, true,
	  "for llvm-profgen, which makes a profile for clang", false },
	{ "autofdo",	dump_profile, dump_autofdo_end, true,
	  "for create_llvm_prof, which makes a profile for clang", false },
	{ "bolt",	dump_bolt, dump_bolt_end, false,
	  "a profile for llvm-bolt (fdata)", false },
	{ "bolt-pa",	dump_profile, dump_bolt_pa_end, true,
	  "a profile with addresses, for perf2bolt -pa", false },
	{ "perf",	dump_perf,	.rows = true,
	  .help = "perf.data, for perf script --itrace=b; 24 bytes per branch" },
	{ "csv",	dump_csv,	.rows = true,
	  .help = "one line per branch" },
	{ "json",	dump_json,	.rows = true,
	  .help = "one JSON object per branch" },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static void print_usage(void)
{
	printf("Usage: bts dump -f FORMAT [OPTIONS] [FILE...]\n\n"
	       "Converts a trace for other programs. A profile can combine several traces.\n\n");
	for (size_t i = 0; i < NR_FORMATS; i++)
		printf("  -f %-16s%s\n", formats[i].name, formats[i].help);
	command_usage("\n"
		      "  -o, --output FILE  the output; - is standard output (the default)\n"
		      "  -b, --branches     count branches, not instructions (flame, folded)\n"
		      "  -h, --help         this text\n");
}

static const struct dump_format *find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int read_trace(struct dump *d, const char *path, const struct options *options)
{
	int status, closed;

	if (!pipe_open(&d->pipe, path, options))
		return STATUS_FAILURE;
	if (!d->out)
		d->out = command_output(d->output);
	if (!d->out) {
		pipe_close(&d->pipe);
		return STATUS_FAILURE;
	}
	if (d->out == stdout && terminal_shares_output())
		d->pipe.progress = NULL;
	d->nr_traces++;
	status = d->format->run(d);
	pipe_bill(&d->pipe, d->bills);
	closed = pipe_close(&d->pipe);
	return status ? status : closed;
}

static int run(void *ctx, const struct options *options)
{
	struct dump *d = ctx;
	int status = STATUS_OK;
	char *bills = NULL;
	bool to_file;
	size_t size;

	d->bills = open_memstream(&bills, &size);
	if (!d->bills)
		return msg_errno("write", "the summary");
	for (int i = 0; i < d->nr_paths && !status; i++)
		status = read_trace(d, d->paths[i], options);
	if (d->format->end)
		d->format->end(d);
	dump_free_builds(d);
	fclose(d->bills);
	to_file = d->out && d->out != stdout;
	if (d->out)
		status = command_output_close(d->out, d->output, status);
	/* If the dump is written to standard output, print the summaries to standard error. */
	fputs(bills, to_file ? stdout : stderr);
	free(bills);
	return status;
}

static int option(void *ctx, int option, const char *command)
{
	struct dump *d = ctx;

	switch (option) {
	case 'f':
		d->format = find_format(optarg);
		return d->format ? STATUS_OK :
		       msg_misuse(command, "-f %s: no such format", optarg);
	case 'o':
		d->output = optarg;
		break;
	case 'b':
		d->by_branches = true;
		break;
	}
	return STATUS_OK;
}

static int paths(struct dump *d, struct options *o, int argc, char **argv)
{
	d->paths = &o->path;
	d->nr_paths = 1;
	if (!d->format->end || optind == argc)
		return command_input(o, argv[0], argc, argv);
	d->paths = argv + optind;
	d->nr_paths = argc - optind;
	return command_no_input(o, argv[0]);
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct dump *d = ctx;

	if (!d->format)
		return msg_misuse(argv[0], "-f FORMAT is needed");
	if (d->format->binary && !o->dso && !o->kernel)
		return msg_misuse(argv[0], "-f %s: --dso FILE or -k is needed", d->format->name);
	if (o->inlines && !d->format->calls)
		return msg_misuse(argv[0], "--inline: -f %s shows no calls", d->format->name);
	if (d->format->calls && command_no_places(o, argv[0]))
		return STATUS_MISUSE;
	if (!d->format->rows && command_no_head(o, argv[0]))
		return STATUS_MISUSE;
	if (paths(d, o, argc, argv))
		return STATUS_MISUSE;
	return command_no_overwrite(o, argv[0], d->output, d->paths, d->nr_paths);
}

int cmd_dump(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "branches", no_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.print_usage = print_usage, .shorts = "f:o:bh", .longs = longs, .rows = true,
		.option = option, .operands = operands, .run = run,
	};
	struct dump d = {};

	return command_main(&command, &d, argc, argv);
}
