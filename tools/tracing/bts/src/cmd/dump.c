// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts dump: the trace for other programs. What each format is, is in its file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dump.h"
#include "lib/msg.h"
#include "cmd.h"
#include "command.h"

static const struct dump_format formats[] = {
	{ "folded",	dump_folded,	true,	"stacks, for speedscope, flamegraph.pl", false },
	{ "flame",	dump_flame,	true,
	  "a flame graph: an SVG picture for any browser", false },
	{ "callgrind",	dump_callgrind,	true,	"for KCachegrind, callgrind_annotate", false },
	{ "chrome",	dump_chrome,	true,
	  "calls over time, for chrome://tracing, speedscope", false },
	{ "perfetto",	dump_perfetto,	true,
	  "the same, smaller, for ui.perfetto.dev alone", false },
	{ "bolt",	dump_bolt,	false,	"a profile for llvm-bolt (fdata)", false },
	{ "profgen",	dump_profgen,	false,
	  "a profile for llvm-profgen, of --dso, or of -k", true },
	{ "autofdo",	dump_autofdo,	false,	"the same for create_llvm_prof", true },
	{ "csv",	dump_csv,	false,	"a line a branch", false },
	{ "json",	dump_json,	false,	"an object a branch", false },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static void print_usage(void)
{
	printf("Usage: bts dump -f FORMAT [OPTIONS] [FILE...]\n\n"
	       "The trace for other programs.\n\n");
	for (size_t i = 0; i < NR_FORMATS; i++)
		printf("  -f %-16s%s\n", formats[i].name, formats[i].help);
	command_usage("\n"
		      "  -o, --output FILE  where to; - for standard output (the default)\n"
		      "  -b, --branches     count branches, not instructions (flame, folded)\n"
		      "  --inline           inlined functions, too (not bolt, csv, json)\n"
		      "  -h, --help         this text\n");
}

static const struct dump_format *find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int run(void *ctx, const struct options *options)
{
	struct dump *d = ctx;

	if (!pipe_open(&d->pipe, options->path, options))
		return STATUS_FAILURE;
	d->out = command_output(d->output);
	if (!d->out) {
		pipe_close(&d->pipe);
		return STATUS_FAILURE;
	}
	return command_output_end(&d->pipe, d->out, d->output, d->format->run(d));
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
	case 'I':
		d->pipe.inlines = true;
		break;
	}
	return STATUS_OK;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct dump *d = ctx;

	if (!d->format)
		return msg_misuse(argv[0], "-f FORMAT is missing");
	if (d->format->of_file && !o->dso && !o->kernel)
		return msg_misuse(argv[0], "-f %s: --dso FILE or -k is missing", d->format->name);
	if (d->format->of_file && argc - optind > 1) {
		d->more = argv + optind + 1;
		d->nr_more = argc - optind - 1;
		argc = optind + 1;
	}
	if (d->pipe.inlines && !d->format->calls)
		return msg_misuse(argv[0], "--inline: -f %s shows no calls", d->format->name);
	return command_input(o, argv[0], argc, argv);
}

int cmd_dump(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "branches", no_argument, NULL, 'b' },
		{ "inline", no_argument, NULL, 'I' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.print_usage = print_usage, .shorts = "f:o:bh", .longs = longs,
		.option = option, .operands = operands, .run = run,
	};
	struct dump d = {};

	return command_main(&command, &d, argc, argv);
}
