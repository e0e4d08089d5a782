/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the summary of a recording (branches, losses, waiting time, size) as the last line of bts
 * record and bts info.
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
	uint64_t	overwritten;	/* number of overwritten entries */
	uint64_t	unwritten;	/* number of branches that could not be written */
	uint64_t	blocked_ns;	/* how long tasks waited for room in the ring buffer */
	uint64_t	data_bytes;	/* size of all rows in the file */
	uint64_t	file_bytes;	/* size of the whole file, or 0 to omit the size */
	bool		flight;		/* if set, overwritten entries do not count as losses */
	const char	*stats;		/* contents of bts_stats, or NULL */
};

/* Return the summary of a file. @info is the text of the file's BTS section, or NULL. */
struct bill bill_of_info(const char *info, uint64_t file_bytes);
/* Print the JSON member "bill". Commands that read all branches call pipe_bill_json() instead. */
void bill_json(FILE *out, const struct bill *bill);
/* Print the summary as a line. If @name is not NULL, the line begins with @name. */
void bill_print(FILE *out, const char *name, const struct bill *bill);

#endif
