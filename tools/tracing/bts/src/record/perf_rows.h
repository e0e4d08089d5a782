/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Convert perf's records, from running events or from perf.data, to rows of a trace.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_PERF_ROWS_H
#define BTS_PERF_ROWS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/names.h"
#include "made_formats.h"

struct pages;
struct perf_task;

/* The fields in a sample of the tool's own events. */
#define PERF_BRANCH_SAMPLE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
				 PERF_SAMPLE_ADDR)

/* The format of an event's records. */
struct perf_format {
	uint64_t	sample_type;
	bool		sample_id_all;
	bool		branches;	/* each sample is a branch from IP to ADDR */
};

/* The common fields of a record. A missing field is 0, and a missing CPU is -1. */
struct perf_id {
	int		pid, tid, cpu;
	uint64_t	time;
};

/* Where a CPU's rows are written. */
struct perf_out {
	struct pages		*pages;
	struct made_departs	departs;	/* delayed bts_departs row, if @departing is true */
	uint64_t		departs_ts;
	bool			departing;
};

/**
 * struct perf_rows - the state of all tasks
 * @names:	the names of the tasks that have rows
 * @last:	the task of the last branch, or NULL
 * @user_only:	whether to omit branches from and to the kernel
 */
struct perf_rows {
	struct names	names;
	uint64_t	switches, losses;
	struct perf_task **buckets, *last;
	bool		user_only;
};

void perf_rows_init(struct perf_rows *rows);
void perf_rows_free(struct perf_rows *rows);

/* Read the common fields of any record. */
void perf_id_read(const struct perf_event_header *h, const struct perf_format *format,
		  struct perf_id *id);
/* Add the rows for a record. The caller passes each CPU's records in the order of their times. */
void perf_rows_record(struct perf_rows *rows, struct perf_out *out,
		      const struct perf_event_header *h, const struct perf_format *format);
/* Add a branch (from a sample or an AUX area) of the task @id. */
void perf_rows_branch(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		      uint64_t from, uint64_t to);
/* Add a row that reports lost branches of the task @id. */
void perf_rows_lost(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id);
/* If @out still contains a delayed bts_departs row (see perf_rows.c), write this row now. */
void perf_rows_end(struct perf_rows *rows, struct perf_out *out);

/* Store the address at which a stopped task will continue. With @ends, the task ends instead. */
void perf_rows_stands(struct perf_rows *rows, int tid, uint64_t user_ip, bool ends);
/* Read a running process's mappings and name from /proc, and add rows for the mappings. */
void perf_rows_process(struct perf_rows *rows, struct perf_out *out, int pid, uint64_t ts);

#endif
