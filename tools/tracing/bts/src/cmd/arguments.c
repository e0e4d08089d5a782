// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that all commands have that read a trace: which file, and which of its
 * branches. They are taken out of the arguments first; a command then parses its own with
 * getopt_long().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/trace_dat.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "command.h"

const char options_help[] =
	"  -i, --input FILE   the trace (trace.dat)\n"
	"  --task NAME        only tasks of this name\n"
	"  --pid PID,...      only these tasks\n"
	"  --cpu LIST         only what ran on these CPUs (0,2-3)\n"
	"  --time FROM,TO     only what was recorded then, in seconds; either may be empty\n"
	"  -u, -k             only branches with an end in user space, in the kernel\n"
	"  --dso NAME         only branches with an end in this file, or in [kernel]\n"
	"  --from WHERE       only branches that begin in this function, or at this address\n"
	"  --to WHERE         only branches that lead there\n"
	"  --head N           only so many rows\n"
	"  --vmlinux FILE     the recorded kernel, with debug information: lines\n";

static bool parse_head(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->head = strtoull(text, &end, 10);
	return end != text && !*end && !errno && *text != '-' && o->head;
}

/* A filter of the library's, kept for commands that use it through libbts.h. */
static bool set_filter(struct options *o, const char *name, const char *value)
{
	o->given = mem_realloc(o->given, o->nr_given + 1, sizeof(*o->given));
	o->given[o->nr_given++] = (struct given) { .name = name, .value = value };
	return options_set(o, name, value);
}

static bool set_option(struct options *o, const char *name, const char *value)
{
	if (!strcmp(name, "--head"))
		return parse_head(o, value);
	if (strcmp(name, "--input"))
		return set_filter(o, name + 2, value);
	free(o->path);
	o->path = mem_strdup(value);
	return *value;
}

static const char *const with_value[] = {
	"--input", "--task", "--pid", "--cpu", "--time", "--dso", "--from", "--to", "--head",
	"--vmlinux",
};

/* The option that @arg is, and its value if that is in @arg too; or NULL. */
static const char *common_option(const char *arg, const char **value)
{
	*value = NULL;
	if (!strncmp(arg, "-i", 2)) {
		*value = arg[2] ? arg + 2 : NULL;
		return "--input";
	}
	for (size_t i = 0; i < ARRAY_SIZE(with_value); i++) {
		size_t length = strlen(with_value[i]);

		if (strncmp(arg, with_value[i], length))
			continue;
		if (arg[length] == '=')
			*value = arg + length + 1;
		if (arg[length] == '=' || !arg[length])
			return with_value[i];
	}
	return NULL;
}

/* -u and -k. */
static bool set_side(struct options *o, const char *arg)
{
	if (strcmp(arg, "-u") && strcmp(arg, "-k"))
		return false;
	set_filter(o, arg[1] == 'u' ? "user" : "kernel", NULL);
	return true;
}

int options_parse(struct options *o, const char *command, int *argc, char **argv)
{
	int kept = 1;

	*o = (struct options) {};
	for (int i = 1; i < *argc; i++) {
		const char *value, *name;

		if (!strcmp(argv[i], "--")) {
			while (i < *argc)
				argv[kept++] = argv[i++];
			break;
		}
		if (set_side(o, argv[i]))
			continue;
		name = common_option(argv[i], &value);
		if (!name) {
			argv[kept++] = argv[i];
			continue;
		}
		if (!value && i + 1 == *argc)
			return msg_misuse(command, "%s needs a value", name);
		if (!value)
			value = argv[++i];
		if (!set_option(o, name, value))
			return msg_misuse(command, "%s %s: not understood", name, value);
	}
	*argc = kept;
	argv[kept] = NULL;
	if (!o->path)
		o->path = mem_strdup(DAT_NAME);
	if (o->user && o->kernel)
		return msg_misuse(command, "-u and -k exclude each other");
	return STATUS_OK;
}
