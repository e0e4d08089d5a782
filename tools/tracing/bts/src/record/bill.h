/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the last line of bts record and bts info: contents, losses and cost of a recording.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_BILL_H
#define BTS_BILL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bill {
	uint64_t	branches, tasks, switches;
	uint64_t	overwritten;	/* entries that newer entries replaced */
	uint64_t	unwritten;	/* branches that could not be written to the file */
	uint64_t	blocked_ns;	/* how long tasks waited for room in the ring buffer */
	uint64_t	data_bytes;	/* size of all rows in the file */
	uint64_t	file_bytes;	/* size of the whole file; 0: do not print the size */
	bool		flight;		/* flight recorder: overwritten entries are no loss */
	const char	*stats;		/* text of bts_stats, which has the losses; or NULL */
};

/* Return the summary of a file whose section of bts is @info, or NULL. */
struct bill bill_of_info(const char *info, uint64_t file_bytes);
/* Print "bill":{...} with the same members as in the JSON of other commands. */
void bill_json(FILE *out, const struct bill *bill);
/* Print a line that begins with "NAME: " unless @name is NULL. */
void bill_print(FILE *out, const char *name, const struct bill *bill);

#endif
