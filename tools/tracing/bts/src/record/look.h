/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Look at a CPU's ring-buffer pages: count branches and switches, and collect the tasks' names.
 *
 * Included by: record/, cmd/record.c.
 */
#ifndef BTS_LOOK_H
#define BTS_LOOK_H

#include <stdbool.h>

#include "lib/names.h"

/* IDs of events and offsets of fields; -1 if missing. */
struct look_events {
	int	branch, pack, departs, arrives, map;	/* IDs */
	int	pack_nr;				/* the number of branches */
	int	departs_comm, arrives_comm;
};

struct look_counts {
	unsigned long long	switches;	/* bts_departs rows */
	unsigned long long	overwritten;	/* entries that the ring buffer overwrote */
	struct names		names;		/* the tasks in the trace */
};

/**
 * struct look - what the pages of one CPU contain
 * @branches:	number of branches since the caller set it to 0
 * @maps:	rows of mappings since the caller set it to false
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

/* Look at the entries up to the first one that does not fit into the page. */
void look_at_page(struct look *look, const void *page, unsigned int page_size);
void look_close(struct look *look);

#endif
