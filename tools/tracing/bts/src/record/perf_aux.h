/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branches of the PMU intel_bts: in perf.data, and in the AUX area of an event that runs.
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

/* As the hardware stores a branch. */
struct bts_record {
	uint64_t	from, to, flags;
};

struct record_aux {
	struct perf_event_header	header;
	uint64_t			offset, size, flags;
};

/* The rows of so many branches of the task. */
void perf_aux_branches(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		       const struct bts_record *branches, size_t nr);
/* Is something missing after what the record tells of? */
bool perf_aux_is_cut(const struct record_aux *r);

/* A part of perf.data with the bytes of a task's AUX area from @offset on. */
struct perf_aux_part {
	uint32_t	tid;
	uint64_t	offset, size, at;
};

struct perf_aux {
	struct perf_aux_part	*parts;
	size_t			nr;
};

/*
 * Note a record AUXTRACE of perf.data, whose bytes begin at that offset of the file. Return the
 * number of bytes.
 */
uint64_t perf_aux_data(struct perf_aux *aux, const struct perf_event_header *h, uint64_t at);
/* A record AUX: the rows of the branches that it tells of. */
void perf_aux_record(struct perf_aux *aux, FILE *file, struct perf_rows *rows,
		     struct perf_out *out, const struct perf_event_header *h,
		     const struct perf_id *id);
void perf_aux_free(struct perf_aux *aux);

#endif
