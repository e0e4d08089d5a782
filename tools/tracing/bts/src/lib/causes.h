/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Count losses by cause, and print them in the same way in all summaries.
 *
 * Included by: any file.
 */
#ifndef BTS_CAUSES_H
#define BTS_CAUSES_H

#include <stdint.h>

#include "bytes.h"

/* The numbers of the kernel's enum bts_lost_cause, and two causes of the recorder. */
enum {
	LOSS_MISSED	= 7,	/* found by the reader, like LOSS_DAMAGED */
	LOSS_DAMAGED	= 8,
	LOSS_ROWS	= 10,
	LOSS_UNWRITTEN	= 12,	/* the recorder could not write, for example to a full disk */
	LOSS_KILLED	= 13,	/* the recorder was killed */
	LOSS_CAUSES	= 14,
};

/**
 * struct losses - losses by cause
 * @known:	number of lost branches; for LOSS_ROWS, number of lost rows
 * @times:	number of losses of unknown size
 */
struct losses {
	uint64_t	known[LOSS_CAUSES];
	uint64_t	times[LOSS_CAUSES];
};

extern const char *const loss_cause_names[LOSS_CAUSES];

/* Return the number in the first line "NAME: NUMBER" of @text, or 0. */
unsigned long long stats_number(const char *text, const char *name);
/* Add the counters of bts_stats and of perf. @stats consists of lines "NAME: NUMBER". */
void losses_count(struct losses *losses, const char *stats);
/* Add "nothing lost", or "lost 12 (ring buffer full), ? (DS buffer full, 3 times)". */
void losses_text(const struct losses *losses, struct bytes *out);
/* Add the losses as a JSON object with the causes as keys. */
void losses_json(const struct losses *losses, struct bytes *out);

#endif
