/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scan a CPU's ring-buffer pages to count branches and switches, and to collect the tasks' names.
 *
 * Included by: record/, cmd/record.c.
 */
#ifndef BTS_LOOK_H
#define BTS_LOOK_H

#include <stdbool.h>

#include "lib/names.h"

/* The IDs of events and the offsets of fields, or -1 if the event or field is missing. */
struct look_events {
	int	branch, pack, departs, arrives, map;	/* IDs */
	int	pack_nr;				/* the number of branches */
	int	departs_comm, arrives_comm;
};

struct look_counts {
	unsigned long long	switches;	/* bts_departs rows */
	unsigned long long	overwritten;	/* number of overwritten entries */
	unsigned long long	maps_overwritten; /* number of overwritten mappings (--flight) */
	struct names		names;		/* the tasks in the trace */
};

/**
 * struct look - what was found in one CPU's pages
 * @branches:	number of branches since the caller cleared this counter
 * @maps:	whether a mapping row was found since the caller cleared this flag
 * @last:	the name of the last entry's task
 */
struct look {
	const struct look_events	*events;
	struct look_counts		counts;
	unsigned long long		branches;
	bool				maps;
	struct name			*last;
};

void look_open(struct look *look, const struct look_events *events);

/* Scan the entries of a page, up to the first entry that does not fit into the page. */
void look_at_page(struct look *look, const void *page, unsigned int page_size);
void look_close(struct look *look);

#endif
