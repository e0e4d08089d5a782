/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last line of bts record and bts info: what is in a recording, what is missing, and what
 * the recording cost.
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
	uint64_t	overwritten;	/* entries that made room for newer ones */
	uint64_t	blocked_ns;	/* how long tasks have waited for the file */
	uint64_t	data_bytes;	/* in the file, for branches and other rows */
	uint64_t	file_bytes;	/* with symbols and all; 0: not said */
	bool		flight;		/* that something is overwritten is its purpose */
	const char	*stats;		/* bts_stats at the end, for the losses; or NULL */
};

/* "bill":{...}, with the members of the object that ends the JSON of other commands. */
void bill_json(FILE *out, const struct bill *bill);
/* NAME: rest of the line. NAME may be NULL. */
void bill_print(FILE *out, const char *name, const struct bill *bill);

#endif
