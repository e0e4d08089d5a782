// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count and print losses by cause. The kernel's LOST rows use the same names of causes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "mem.h"

const char *const loss_cause_names[LOSS_CAUSES] = {
	"ring buffer full", "DS buffer full", "DS buffer wrapped", "ring buffer paused",
	"BTS switched off", "recording stops", "BTS does not work", "ring buffer overwritten",
	"entry cannot be read", "found when switched on", "rows of switches and mappings",
	"task cannot wait", "not written to the file", "recorder killed",
};

/*
 * If @times is true, the counter is a number of losses, and the sizes of these losses are unknown.
 * If @times is false, the counter is a number of lost branches or, for rows_lost, of lost rows.
 * perf_damaged is 1 if perf.data could not be read completely. If the recorder was killed,
 * recorder_killed is the number of CPUs whose latest branches may be missing.
 */
static const struct counter {
	const char	*name;
	unsigned int	cause;
	bool		times;
} counters[] = {
	{ "dropped_ring_buffer",	0,	false },
	{ "perf_lost",			0,	true },
	{ "perf_damaged",		LOSS_DAMAGED, true },
	{ "buffer_full",		1,	true },
	{ "buffer_wrapped",		2,	true },
	{ "dropped_paused",		3,	false },
	{ "buffer_cleared",		4,	true },
	{ "stopped",			5,	true },
	{ "dead",			6,	true },
	{ "dropped_late",		9,	false },
	{ "rows_lost",			10,	false },
	{ "dropped_cannot_wait",	11,	false },
	{ "recorder_killed",		LOSS_KILLED, true },
};

unsigned long long stats_number(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ':')
			return strtoull(line + length + 1, NULL, 10);
	}
	return 0;
}

/* Report whether a line of bts_stats is a counter, that is, whether its value only grows. */
static bool is_counter(const char *line, size_t length)
{
	static const char * const others[] = {
		"cpus_recording", "cpus_left_out", "reader", "held", "rows_held",
	};

	if (line[length] != ':' || strspn(line + length + 1, " 0123456789") !=
	    strcspn(line + length + 1, "\n"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strncmp(others[i], line, length) && !others[i][length])
			return false;
	return true;
}

char *stats_since(const char *stats, const char *before)
{
	struct bytes text = {};

	for (const char *line = stats, *next; *line; line = next) {
		size_t length = strcspn(line, ":\n");

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (is_counter(line, length)) {
			char *name = mem_format("%.*s", (int)length, line);

			bytes_format(&text, "%s: %llu\n", name,
				     stats_number(line, name) - stats_number(before, name));
			free(name);
		} else {
			bytes_add(&text, line, next - line);
		}
	}
	bytes_add8(&text, 0);
	return text.data;
}

void losses_count(struct losses *losses, const char *stats)
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		const struct counter *c = &counters[i];
		uint64_t n = stats_number(stats, c->name);

		if (c->times)
			losses->times[c->cause] += n;
		else
			losses->known[c->cause] += n;
	}
}

void losses_text(const struct losses *losses, struct bytes *out)
{
	const char *comma = "lost ";

	for (unsigned int i = 0; i < LOSS_CAUSES; i++) {
		unsigned long long known = losses->known[i], times = losses->times[i];

		if (known)
			bytes_format(out, "%s%llu (%s)", comma, known, loss_cause_names[i]);
		if (known)
			comma = ", ";
		if (times == 1)
			bytes_format(out, "%s? (%s)", comma, loss_cause_names[i]);
		else if (times)
			bytes_format(out, "%s? (%s, %llu times)", comma, loss_cause_names[i],
				     times);
		if (times)
			comma = ", ";
	}
	if (*comma == 'l')
		bytes_format(out, "nothing lost");
}

void losses_json(const struct losses *losses, struct bytes *out)
{
	const char *comma = "";

	bytes_add8(out, '{');
	for (unsigned int i = 0; i < LOSS_CAUSES; i++) {
		if (!losses->known[i] && !losses->times[i])
			continue;
		bytes_format(out, "%s\"%s\":{\"branches\":%llu,\"times_unknown\":%llu}", comma,
			     loss_cause_names[i], (unsigned long long)losses->known[i],
			     (unsigned long long)losses->times[i]);
		comma = ",";
	}
	bytes_add8(out, '}');
}
