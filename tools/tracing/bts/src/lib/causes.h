/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes of losses, and losses as text: the same in all summaries.
 *
 * Included by: any file.
 */
#ifndef BTS_CAUSES_H
#define BTS_CAUSES_H

#include <stdint.h>

#include "bytes.h"

/* The numbers are those of the kernel's BTS_LOST_*. */
enum {
	LOSS_MISSED	= 7,	/* found by the reader, as is the next one */
	LOSS_DAMAGED	= 8,
	LOSS_ROWS	= 10,
	LOSS_CAUSES	= 12,
};

/**
 * struct losses - losses by cause
 * @known:	how many branches, or rows of LOSS_ROWS
 * @times:	how often an unknown number
 */
struct losses {
	uint64_t	known[LOSS_CAUSES];
	uint64_t	times[LOSS_CAUSES];
};

extern const char *const loss_cause_names[LOSS_CAUSES];

/* The number after "NAME:" in a text of such lines, or 0. */
unsigned long long stats_number(const char *text, const char *name);
/* The counters of bts_stats, and of perf, in a text of lines "NAME: N". */
void losses_count(struct losses *losses, const char *stats);
/* "nothing lost", or "lost 12 (ring buffer full), ? (DS buffer full, 3 times)". */
void losses_text(const struct losses *losses, struct bytes *out);
/* The same as an object, by cause. */
void losses_json(const struct losses *losses, struct bytes *out);

#endif
