// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts dump: the trace for other programs. What each format is, is in its file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"

static const struct format_row {
	const char	*name;
	int		(*run)(struct dump *d);
	const char	*help;
} formats[] = {
	{ "folded",	dump_folded,	"stacks with instructions, for speedscope, flamegraph.pl" },
	{ "flame",	dump_flame,	"a flame graph: an SVG picture for any browser" },
	{ "callgrind",	dump_callgrind,	"for KCachegrind, callgrind_annotate" },
	{ "chrome",	dump_chrome,	"calls over time, for chrome://tracing, speedscope" },
	{ "perfetto",	dump_chrome,	"the same, for ui.perfetto.dev" },
	{ "bolt",	dump_bolt,	"a profile for llvm-bolt (fdata)" },
	{ "csv",	dump_csv,	"a line a branch" },
	{ "json",	dump_json,	"an object a branch" },
};

#define NR_FORMATS (sizeof(formats) / sizeof(formats[0]))

static void print_usage(void)
{
	printf("Usage: bts dump -f FORMAT [OPTIONS] [FILE]\n\n"
	       "The trace for other programs.\n\n");
	for (size_t i = 0; i < NR_FORMATS; i++)
		printf("  -f %-16s%s\n", formats[i].name, formats[i].help);
	command_usage("\n"
		      "  -o, --output FILE  where to; - for standard output (the default)\n"
		      "  -b, --branches     count branches, not instructions (flame, folded)\n"
		      "  -h, --help         this text\n");
}

static const struct format_row *find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int run(struct dump *d, const struct format_row *format, const char *output,
	       const struct bts_options *options)
{
	if (!bts_pipe_open(&d->pipe, options->path, options))
		return BTS_FAILURE;
	d->out = command_output(output);
	if (!d->out) {
		bts_pipe_close(&d->pipe);
		return BTS_FAILURE;
	}
	return command_output_end(&d->pipe, d->out, output, format->run(d));
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
	const struct format_row *format = NULL;
	const char *output = NULL;
	struct bts_options options;
	struct dump d = {};
	int option, status;

	status = bts_options_parse(&options, argv[0], &argc, argv);
	while (!status && (option = getopt_long(argc, argv, "f:o:bh", longs, NULL)) != -1) {
		if (option == 'h') {
			print_usage();
			goto out;
		}
		if (option == 'f')
			format = find_format(optarg);
		if (option == 'f' && !format)
			status = bts_misuse(argv[0], "-f %s: no such format", optarg);
		if (option == 'o')
			output = optarg;
		if (option == 'b')
			d.by_branches = true;
		if (option == '?')
			status = BTS_MISUSE;
	}
	if (!status && !format)
		status = bts_misuse(argv[0], "-f FORMAT is missing");
	if (!status)
		status = command_input(&options, argv[0], argc, argv);
	if (!status)
		status = run(&d, format, output, &options);
out:
	bts_options_free(&options);
	return status;
}
