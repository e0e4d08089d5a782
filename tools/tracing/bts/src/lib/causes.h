/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Count losses by cause, and print the losses in the same form in all summaries.
 *
 * Included by: any file.
 */
#ifndef BTS_CAUSES_H
#define BTS_CAUSES_H

#include <stdint.h>

#include "bytes.h"

/* Causes from the kernel's enum bts_lost_cause, and two causes that only the recorder reports. */
enum {
	LOSS_MISSED	= 7,	/* entries are missing, usually because they were overwritten */
	LOSS_DAMAGED	= 8,	/* entries in the trace cannot be read */
	LOSS_ROWS	= 10,
	LOSS_UNWRITTEN	= 12,	/* the recorder could not write, for example to a full disk */
	LOSS_KILLED	= 13,	/* the recorder was killed */
	LOSS_CAUSES	= 14,
};

/**
 * struct losses - losses by cause
 * @known:	number of lost branches; known[LOSS_ROWS] is the number of lost rows
 * @times:	number of losses of unknown size
 */
struct losses {
	uint64_t	known[LOSS_CAUSES];
	uint64_t	times[LOSS_CAUSES];
};

extern const char *const loss_cause_names[LOSS_CAUSES];

/*
 * Find the first line of @text with the form "@name: number", and return the number. Return 0 if
 * @text is NULL or has no such line.
 */
unsigned long long stats_number(const char *text, const char *name);
/*
 * Return a copy of @stats in which each counter is reduced by its value in @before. @before may be
 * NULL. The caller frees the copy.
 */
char *stats_since(const char *stats, const char *before);
/* Add the counters of @stats (lines "name: number" as in bts_stats) to @losses. */
void losses_count(struct losses *losses, const char *stats);
/* Add "nothing lost" or text such as "lost 12 (ring buffer full)", with ? for an unknown number. */
void losses_text(const struct losses *losses, struct bytes *out);
/* Add the losses as a JSON object whose keys are the causes. */
void losses_json(const struct losses *losses, struct bytes *out);

#endif
