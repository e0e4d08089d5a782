// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the recording's summary as the last line of bts record and bts info. Commands that read all
 * branches call pipe_bill() instead.
 *
 * For each cause, bts_stats contains the number of lost branches (see causes.h).
 */
#include <inttypes.h>
#include <string.h>

#include "lib/causes.h"
#include "lib/mem.h"
#include "lib/text.h"
#include "bill.h"

struct bill bill_of_info(const char *info, uint64_t file_bytes)
{
	return (struct bill) {
		.branches	= stats_number(info, "branches"),
		.tasks		= stats_number(info, "tasks"),
		.switches	= stats_number(info, "switches"),
		.overwritten	= stats_number(info, "overwritten"),
		.unwritten	= stats_number(info, "unwritten"),
		.blocked_ns	= stats_number(info, "blocked_ns"),
		.data_bytes	= stats_number(info, "data_bytes"),
		.file_bytes	= file_bytes,
		.flight		= stats_number(info, "flight"),
		.stats		= info,
	};
}

static struct losses losses_of(const struct bill *bill)
{
	struct losses losses = {};

	losses_count(&losses, bill->stats);
	/* In a flight recorder, overwritten entries are not losses. */
	if (!bill->flight)
		losses.known[LOSS_MISSED] += bill->overwritten;
	losses.known[LOSS_UNWRITTEN] += bill->unwritten;
	return losses;
}

static void print_losses(FILE *out, const struct bill *bill)
{
	unsigned long long off = stats_number(bill->stats, "dropped_off");
	struct losses losses = losses_of(bill);
	struct bytes text = {};

	losses_text(&losses, &text);
	fprintf(out, "%.*s", (int)text.size, (char *)text.data);
	if (off && !bill->flight)
		fprintf(out, ", %llu dropped (ring buffer off)", off);
	bytes_free(&text);
}

void bill_print(FILE *out, const char *name, const struct bill *bill)
{
	if (name)
		fprintf(out, "%s: ", name);
	fprintf(out, "%s branch%s, %s task%s, %s switch%s, ",
		text_commas(bill->branches), text_plural(bill->branches, "es"),
		text_commas(bill->tasks), text_plural(bill->tasks, "s"),
		text_commas(bill->switches), text_plural(bill->switches, "es"));
	print_losses(out, bill);
	if (bill->blocked_ns)
		fprintf(out, ", waited %.3f s", bill->blocked_ns / 1e9);
	if (bill->branches && bill->data_bytes)
		fprintf(out, ", %.2f bytes a branch", (double)bill->data_bytes / bill->branches);
	if (bill->file_bytes)
		fprintf(out, " (file: %s bytes)", text_commas(bill->file_bytes));
	fputc('\n', out);
}

void bill_json(FILE *out, const struct bill *bill)
{
	struct losses losses = losses_of(bill);
	struct bytes text = {};

	bytes_format(&text, "\"bill\":{\"branches\":%" PRIu64 ",\"tasks\":%" PRIu64
		     ",\"switches\":%" PRIu64 ",\"lost\":", bill->branches, bill->tasks,
		     bill->switches);
	losses_json(&losses, &text);
	bytes_format(&text, ",\"blocked_ns\":%" PRIu64 ",\"data_bytes\":%" PRIu64 "}",
		     bill->blocked_ns, bill->data_bytes);
	fwrite(text.data, text.size, 1, out);
	bytes_free(&text);
}
