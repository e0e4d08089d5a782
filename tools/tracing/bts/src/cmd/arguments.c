// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the options that most commands accept: the name of the trace, and the filters. These common
 * options and the command's own options are merged into one table for getopt_long().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/trace_dat.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "command.h"

const char options_help[] =
	"  -i, --input FILE   the trace (trace.dat); - is standard input\n"
	"  --task NAME        only tasks with this name\n"
	"  --pid PID,...      only these tasks\n"
	"  --cpu LIST         only branches on these CPUs (0,2-3)\n"
	"  --time FROM,TO     only branches in this period, in seconds; FROM or TO may be empty\n"
	"  -u, --user         only branches that begin or end in user space\n"
	"  -k, --kernel       only branches that begin or end in the kernel\n"
	"  --dso NAME         only branches that begin or end in this file ([kernel]: the kernel)\n"
	"  --from WHERE       only branches that begin in this function, or at this address\n"
	"  --to WHERE         only branches that end in this function, or at this address\n"
	"  --head N           only the first N rows\n"
	"  --inline           show inlined functions, too\n"
	"  --vmlinux FILE     the recorded kernel with debug information, for source lines\n";

static bool parse_head(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->head = strtoull(text, &end, 10);
	return end != text && !*end && !errno && *text != '-' && o->head;
}

/* Set a filter in @o, and store the filter's name and value for commands that use libbts.h. */
static bool set_filter(struct options *o, const char *name, const char *value)
{
	o->given = mem_realloc(o->given, o->nr_given + 1, sizeof(*o->given));
	o->given[o->nr_given++] = (struct given) { .name = name, .value = value };
	return !options_set(o, name, value);
}

#define FILTERS	"i:uk"

/* getopt_long() returns these values for common options. Other options have smaller values. */
enum { OPTION_FILTER = 0x10000, OPTION_HEAD };

static const struct option common[] = {
	{ "input",	required_argument,	NULL, 'i' },
	{ "task",	required_argument,	NULL, OPTION_FILTER },
	{ "pid",	required_argument,	NULL, OPTION_FILTER },
	{ "cpu",	required_argument,	NULL, OPTION_FILTER },
	{ "time",	required_argument,	NULL, OPTION_FILTER },
	{ "user",	no_argument,		NULL, 'u' },
	{ "kernel",	no_argument,		NULL, 'k' },
	{ "dso",	required_argument,	NULL, OPTION_FILTER },
	{ "from",	required_argument,	NULL, OPTION_FILTER },
	{ "to",		required_argument,	NULL, OPTION_FILTER },
	{ "head",	required_argument,	NULL, OPTION_HEAD },
	{ "inline",	no_argument,		NULL, OPTION_FILTER },
	{ "vmlinux",	required_argument,	NULL, OPTION_FILTER },
	{}
};

static bool set_input(struct options *o, const char *path)
{
	free(o->path);
	o->path = mem_strdup(path);
	return *path;
}

/* Handle a common option with the long name @name. For other options, return -1. */
static int common_option(struct options *o, int option, const char *name, const char *command)
{
	bool fine = true;

	switch (option) {
	case 'i':
		name = "input";
		fine = set_input(o, optarg);
		break;
	case 'u':
	case 'k':
		set_filter(o, option == 'u' ? "user" : "kernel", NULL);
		break;
	case OPTION_HEAD:
		fine = parse_head(o, optarg);
		break;
	case OPTION_FILTER:
		fine = set_filter(o, name, optarg);
		break;
	default:
		return -1;
	}
	return fine ? STATUS_OK :
	       msg_misuse(command, "--%s %s: not a valid value", name, optarg);
}

/* Return the command's options, followed by the common options. The caller frees the table. */
static struct option *all_options(const struct option *own)
{
	struct option *all;
	size_t nr = 0;

	while (own && own[nr].name)
		nr++;
	all = mem_zalloc(nr + ARRAY_SIZE(common), sizeof(*all));
	memcpy(all, own, nr * sizeof(*all));
	memcpy(all + nr, common, sizeof(common));
	return all;
}

static int parse(const struct command *c, void *ctx, struct options *o, int argc, char **argv,
		 const char *shorts, const struct option *longs)
{
	int option, index = 0, status = STATUS_OK;

	while (!status && (option = getopt_long(argc, argv, shorts, longs, &index)) != -1) {
		if (option == 'h')
			return -1;
		/* getopt_long() has already printed a message. */
		if (option == '?')
			return STATUS_MISUSE;
		status = common_option(o, option, longs[index].name, argv[0]);
		if (status < 0)
			status = c->option ? c->option(ctx, option, argv[0]) : STATUS_MISUSE;
	}
	return status;
}

int options_parse(const struct command *c, void *ctx, struct options *o, int argc, char **argv)
{
	char *shorts = mem_format("%s" FILTERS, c->shorts);
	struct option *longs = all_options(c->longs);
	int status;

	*o = (struct options) {};
	status = parse(c, ctx, o, argc, argv, shorts, longs);
	free(longs);
	free(shorts);
	if (!o->path)
		o->path = mem_strdup(DAT_NAME);
	if (!status && o->user && o->kernel)
		return msg_misuse(argv[0], "-u and -k cannot be used together");
	return status;
}
