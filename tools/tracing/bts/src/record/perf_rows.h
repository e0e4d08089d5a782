/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From perf's records to the rows of a trace, for events that run and for perf.data.
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

/* What our own events have in a sample. */
#define PERF_BRANCH_SAMPLE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
				 PERF_SAMPLE_ADDR)

/* What is in a record besides its own fields. */
struct perf_format {
	uint64_t	sample_type;
	bool		sample_id_all;
	bool		branches;	/* a sample is a branch: IP is from, ADDR is to */
};

/* A record's common part. What it does not have is 0; cpu is -1 then. */
struct perf_id {
	int		pid, tid, cpu;
	uint64_t	time;
};

/* Where the rows of a CPU go. */
struct perf_out {
	struct pages		*pages;
	struct made_departs	departs;	/* waits for the branches before it */
	uint64_t		departs_ts;
	bool			departing;
};

/**
 * struct perf_rows - what is known of the tasks
 * @names:	of the tasks that have rows
 * @losses:	how often records were lost
 * @user_only:	leave out branches with an end in the kernel
 * @last:	the task of the last branch, or NULL
 */
struct perf_rows {
	struct names	names;
	uint64_t	branches, switches, losses;
	struct perf_task **buckets, *last;
	bool		user_only;
};

void perf_rows_init(struct perf_rows *rows);
void perf_rows_free(struct perf_rows *rows);

/* A record's common part, whichever the record is. */
void perf_id_read(const struct perf_event_header *h, const struct perf_format *format,
		  struct perf_id *id);
/* Records of one CPU in their order. */
void perf_rows_record(struct perf_rows *rows, struct perf_out *out,
		      const struct perf_event_header *h, const struct perf_format *format);
/* A branch that is in no record of its own. */
void perf_rows_branch(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		      uint64_t from, uint64_t to);
/* Branches of the task are missing. */
void perf_rows_lost(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id);
/* No more of this CPU. */
void perf_rows_end(struct perf_rows *rows, struct perf_out *out);

/* Where the task, which stands still now, goes on in user space, or would if it did not end. */
void perf_rows_stands(struct perf_rows *rows, int tid, uint64_t user_ip, bool ends);
/* What a running process has mapped, by its /proc/PID/maps; its threads' names. */
void perf_rows_process(struct perf_rows *rows, struct perf_out *out, int pid, uint64_t ts);

#endif
