// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse filters, and apply them to CPUs, tasks and addresses. (cmd/arguments.c reads the filters
 * from the command line.)
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpus.h"
#include "lib/mem.h"
#include "private.h"

#define NSEC_PER_SEC	1e9

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
	long first, last;
	int found = -1;

	while (*text && (found = cpus_next(&text, &first, &last)) > 0) {
		size_t words = last / 64 + 1;

		if (o->cpu_words < words) {
			o->cpus = mem_realloc(o->cpus, words, 8);
			memset(o->cpus + o->cpu_words, 0, (words - o->cpu_words) * 8);
			o->cpu_words = words;
		}
		for (; first <= last; first++)
			o->cpus[first / 64] |= 1ULL << (first % 64);
	}
	return found > 0;
}

/*
 * Parse a number of seconds, and convert it to nanoseconds, or to UINT64_MAX if it is too large.
 * Use the locale "C", because in the locale of the library's caller, the decimal point may be a
 * comma. newlocale() cannot fail for "C", and its result need not be freed.
 */
static bool parse_seconds(const char **text, uint64_t *time)
{
	locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end;
	double seconds = strtod_l(*text, &end, locale), ns = seconds * NSEC_PER_SEC + .5;

	if (end == *text || !isfinite(seconds) || seconds < 0)
		return false;
	*time = ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
	*text = end;
	return true;
}

static bool parse_time(struct options *o, const char *text)
{
	if (!o->time_given)
		o->time_to = UINT64_MAX;
	o->time_given = true;
	if (*text != ',' && !parse_seconds(&text, &o->time_from))
		return false;
	if (!*text)
		return true;
	if (*text++ != ',')
		return false;
	if (!*text)
		return true;
	return parse_seconds(&text, &o->time_to) && !*text && o->time_to >= o->time_from;
}

static bool set_string(char **string, const char *value)
{
	free(*string);
	*string = mem_strdup(value);
	return *value;
}

static char **string_of(struct options *o, const char *name)
{
	const struct {
		const char	*name;
		char		**string;
	} strings[] = {
		{ "task", &o->task }, { "dso", &o->dso }, { "from", &o->from }, { "to", &o->to },
		{ "vmlinux", &o->vmlinux },
	};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		if (!strcmp(name, strings[i].name))
			return strings[i].string;
	return NULL;
}

/* Set the user filter or the kernel filter. Setting both is an error. */
static const char *set_side(struct options *o, const char *name)
{
	bool kernel = !strcmp(name, "kernel");

	o->user |= !kernel;
	o->kernel |= kernel;
	if (o->user && o->kernel)
		return kernel ? "conflicts with \"user\"" : "conflicts with \"kernel\"";
	return NULL;
}

typedef bool (*parser)(struct options *o, const char *text);

static parser parser_of(const char *name)
{
	static const struct { const char *name; parser parse; } parsers[] = {
		{ "pid", parse_pids }, { "cpu", parse_cpus }, { "time", parse_time },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++)
		if (!strcmp(name, parsers[i].name))
			return parsers[i].parse;
	return NULL;
}

const char *options_set(struct options *o, const char *name, const char *value)
{
	char **string = string_of(o, name);
	parser parse = parser_of(name);

	if (!strcmp(name, "user") || !strcmp(name, "kernel"))
		return set_side(o, name);
	if (!strcmp(name, "inline")) {
		o->inlines = true;
		return NULL;
	}
	if (!string && !parse)
		return "no such filter";
	if (!value)
		return "needs a value";
	if (string ? set_string(string, value) : parse(o, value))
		return NULL;
	return "not a valid value";
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
	free(o->given);
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

static bool is_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 0);
	return end != text && !*end;
}

bool options_by_address(const struct options *o)
{
	uint64_t number;

	return (o->from && is_number(o->from, &number)) || (o->to && is_number(o->to, &number));
}

bool options_match_place(const struct place *place, uint64_t addr, const char *wanted)
{
	uint64_t number;

	if (is_number(wanted, &number))
		return number == addr;
	return sym_is(place->sym, wanted);
}
