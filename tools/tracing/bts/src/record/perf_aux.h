/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read branches that the PMU intel_bts recorded, from perf.data or from the AUX area of a running
 * event.
 *
 * Included by: record/.
 */
#ifndef BTS_PERF_AUX_H
#define BTS_PERF_AUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "perf_rows.h"

/* A branch as the hardware stores it. */
struct bts_record {
	uint64_t	from, to, flags;
};

struct record_aux {
	struct perf_event_header	header;
	uint64_t			offset, size, flags;
};

/* Add rows for @nr branches of the task @id. */
void perf_aux_branches(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		       const struct bts_record *branches, size_t nr);
/* Report whether branches are missing after those that the AUX record @r describes. */
bool perf_aux_is_cut(const struct record_aux *r);

/**
 * struct perf_aux_part - a part of a task's AUX area, from an AUXTRACE record
 * @offset:	where the part begins in the area
 * @at:		where the part begins in perf.data
 * @used:	whether any branch of the part was read
 * @time:	when perf copied the part
 */
struct perf_aux_part {
	int		tid, cpu;
	uint64_t	offset, size, at, time;
	bool		used;
};

/* The TSC value T corresponds to the time @zero + (T * @mult >> @shift). */
struct perf_aux_clock {
	uint64_t	shift, mult, zero;
};

struct perf_aux {
	struct perf_aux_part	*parts;
	size_t			nr;
	struct perf_aux_clock	clock;
};

/* Add the AUXTRACE record @h, whose data begins at @at, to aux->parts. Return the data's size. */
uint64_t perf_aux_data(struct perf_aux *aux, const struct perf_event_header *h, uint64_t at);
/* Add rows for all branches in @part. Use this function if @file contains no AUX records. */
void perf_aux_whole(struct perf_aux_part *part, FILE *file, struct perf_rows *rows,
		    struct perf_out *out);
/* Return how many branches are in the aux->parts from which no branch was read. */
uint64_t perf_aux_unread(const struct perf_aux *aux);
/* Add rows for the branches that an AUX record describes. */
void perf_aux_record(struct perf_aux *aux, FILE *file, struct perf_rows *rows,
		     struct perf_out *out, const struct perf_event_header *h,
		     const struct perf_id *id);
void perf_aux_free(struct perf_aux *aux);

#endif
