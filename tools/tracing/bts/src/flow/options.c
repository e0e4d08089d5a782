// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that all commands have that read a trace: which file, and which of its
 * branches. And what they say about a CPU, a task and a place.
 *
 * They are taken out of the arguments first; a command then parses its own with
 * getopt_long().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/trace_dat.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "private.h"

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

static bool parse_pids(struct options *o, const char *text)
{
	char *end;

	for (;; text = end + 1) {
		long pid = strtol(text, &end, 10);

		if (end == text || pid < 0 || pid > INT32_MAX)
			return false;
		o->pids = mem_realloc(o->pids, o->nr_pids + 1, sizeof(*o->pids));
		o->pids[o->nr_pids++] = pid;
		if (*end != ',')
			return !*end;
	}
}

static bool parse_cpus(struct options *o, const char *text)
{
	char *end;

	for (;; text = end + 1) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return false;
		}
		if (last < first || last > 8191)
			return false;
		if (o->cpu_words < last / 64 + 1) {
			o->cpus = mem_realloc(o->cpus, last / 64 + 1, 8);
			memset(o->cpus + o->cpu_words, 0, (last / 64 + 1 - o->cpu_words) * 8);
			o->cpu_words = last / 64 + 1;
		}
		for (; first <= last; first++)
			o->cpus[first / 64] |= 1ULL << (first % 64);
		if (*end != ',')
			return !*end;
	}
}

static bool parse_time(struct options *o, const char *text)
{
	char *end = (char *)text;

	if (*text != ',')
		o->time_from = strtod(text, &end);
	if (o->time_from < 0 || (*text != ',' && end == text))
		return false;
	if (!*end)
		return true;
	if (*end != ',')
		return false;
	text = end + 1;
	if (!*text)
		return true;
	o->time_to = strtod(text, &end);
	return end != text && !*end && o->time_to >= o->time_from;
}

static bool parse_head(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->head = strtoull(text, &end, 10);
	return end != text && !*end && !errno && *text != '-' && o->head;
}

static bool set_string(char **string, const char *value)
{
	free(*string);
	*string = mem_strdup(value);
	return *value;
}

static bool set_option(struct options *o, const char *name, const char *value)
{
	if (!strcmp(name, "--input"))
		return set_string(&o->path, value);
	if (!strcmp(name, "--task"))
		return set_string(&o->task, value);
	if (!strcmp(name, "--dso"))
		return set_string(&o->dso, value);
	if (!strcmp(name, "--from"))
		return set_string(&o->from, value);
	if (!strcmp(name, "--to"))
		return set_string(&o->to, value);
	if (!strcmp(name, "--pid"))
		return parse_pids(o, value);
	if (!strcmp(name, "--cpu"))
		return parse_cpus(o, value);
	if (!strcmp(name, "--time"))
		return parse_time(o, value);
	if (!strcmp(name, "--vmlinux"))
		return set_string(&o->vmlinux, value);
	return parse_head(o, value);
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
	for (size_t i = 0; i < sizeof(with_value) / sizeof(with_value[0]); i++) {
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
		o->user |= !strcmp(argv[i], "-u");
		o->kernel |= !strcmp(argv[i], "-k");
		if (!strcmp(argv[i], "-u") || !strcmp(argv[i], "-k"))
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

void options_free(struct options *o)
{
	free(o->task);
	free(o->pids);
	free(o->cpus);
	free(o->dso);
	free(o->from);
	free(o->to);
	free(o->vmlinux);
	free(o->path);
	*o = (struct options) {};
}

bool options_want_cpu(const struct options *o, int cpu)
{
	if (!o->cpu_words)
		return true;
	return cpu >= 0 && (size_t)cpu / 64 < o->cpu_words && (o->cpus[cpu / 64] >> (cpu % 64) & 1);
}

bool options_want_task(const struct options *o, const struct task *t)
{
	if (o->task && strcmp(o->task, t->comm))
		return false;
	for (size_t i = 0; i < o->nr_pids; i++)
		if (o->pids[i] == t->pid)
			return true;
	return !o->nr_pids;
}

bool options_match_place(const struct place *place, uint64_t addr, const char *wanted)
{
	char *end;
	uint64_t number = strtoull(wanted, &end, 0);

	if (end != wanted && !*end)
		return number == addr;
	return sym_is(place->sym, wanted);
}
