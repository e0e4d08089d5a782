// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last line of bts record, and of bts info for a trace that bts record made. (Commands
 * that read all branches print pipe_bill(), which counts them.)
 *
 * Losses are those that the kernel counts (bts_stats), by their causes. Some have a number
 * of branches; of others only how often they happened is known.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/text.h"
#include "bill.h"

static const struct cause {
	const char	*counter;
	const char	*words;
	bool		branches;	/* the counter counts them; else how often it happened */
	bool		of_flight;	/* no loss in a flight recorder */
} causes[] = {
	{ "dropped_ring_buffer",	"ring buffer full",		true,	false },
	{ "dropped_paused",		"ring buffer paused",		true,	false },
	{ "dropped_off",		"ring buffer off",		true,	true },
	{ "perf_lost",			"perf's ring buffer full",	false,	false },
	{ "buffer_full",		"hardware buffer full",		false,	false },
	{ "buffer_wrapped",		"hardware buffer wrapped",	false,	true },
	{ "buffer_cleared",		"BTS switched off",		false,	false },
	{ "stopped",			"recording stopped",		false,	false },
	{ "dead",			"BTS does not work",		false,	false },
	{ "dropped_cannot_wait",	"task cannot wait",		true,	false },
	{ "rows_lost",			"rows of switches and mappings", true,	false },
};

static void print_losses(FILE *out, const struct bill *bill)
{
	const char *comma = "lost ";

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		const struct cause *cause = &causes[i];
		uint64_t n = bill->stats ? text_find_number(bill->stats, cause->counter) : 0;

		if (!n || (bill->flight && cause->of_flight))
			continue;
		if (cause->branches)
			fprintf(out, "%s%s (%s)", comma, text_commas(n), cause->words);
		else if (n == 1)
			fprintf(out, "%san unknown number (%s)", comma, cause->words);
		else
			fprintf(out, "%sunknown numbers, %s times (%s)", comma,
				text_commas(n), cause->words);
		comma = ", ";
	}
	if (bill->overwritten && !bill->flight) {
		fprintf(out, "%s%s rows (overwritten)", comma, text_commas(bill->overwritten));
		comma = ", ";
	}
	if (*comma == 'l')
		fputs("nothing lost", out);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void bill_print(FILE *out, const char *name, const struct bill *bill)
{
	if (name)
		fprintf(out, "%s: ", name);
	fprintf(out, "%s branch%s, %s task%s, %s switch%s, ",
		text_commas(bill->branches), bill->branches == 1 ? "" : "es",
		text_commas(bill->tasks), plural(bill->tasks),
		text_commas(bill->switches), bill->switches == 1 ? "" : "es");
	print_losses(out, bill);
	if (bill->blocked_ns)
		fprintf(out, ", waited %.3f s", bill->blocked_ns / 1e9);
	if (bill->branches && bill->data_bytes)
		fprintf(out, ", %.2f bytes a branch", (double)bill->data_bytes / bill->branches);
	if (bill->file_bytes)
		fprintf(out, " (file: %s bytes)", text_commas(bill->file_bytes));
	fputc('\n', out);
}
