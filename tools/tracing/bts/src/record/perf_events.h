/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's events that record branches, and their ring buffers, one for each CPU.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_PERF_EVENTS_H
#define BTS_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_rows.h"
#include "record.h"

struct perf_ring;
struct writer;

/**
 * struct perf_events - the events of all targets
 * @format:	of their records
 * @size:	of each ring buffer's data, in bytes
 * @aux_size:	of each ring buffer's AUX area, where intel_bts has the branches; 0: no intel_bts
 * @fds:	all events
 */
struct perf_events {
	struct perf_format	format;
	struct perf_ring	*rings;
	size_t			nr_rings;
	size_t			size, aux_size;
	int			*fds;
	size_t			nr_fds;
};

/*
 * An event of the task on each CPU, which records the task's children too. The first task's
 * have the ring buffers. AT_EXEC: from the task's next exec() on. 0, or -1 after a message.
 */
int perf_events_open(struct perf_events *events, const struct record_options *options, pid_t tid,
		     bool at_exec);
/* Where the rows of the rings go. 0, or -1 after a message. */
int perf_events_write_to(struct perf_events *events, struct writer *w);
/* The place for rows that are not in the rings. */
struct perf_out *perf_events_first_out(struct perf_events *events);

/* A descriptor that is readable when the ring is partly full. */
int perf_events_fd(const struct perf_events *events, size_t ring);
/* What the rings have now. */
void perf_events_read(struct perf_events *events, struct perf_rows *rows);
/* Ends recording, reads the rest. 0, or -1 if a row could not be written. */
int perf_events_end(struct perf_events *events, struct perf_rows *rows);
void perf_events_free(struct perf_events *events);

/* An event that records nothing: see perf_follow.c. -1 if there is none. */
int perf_events_guard(pid_t tid);

/* Can this user record branches with perf, in that way? 0, or errno. */
int perf_events_try(enum record_backend backend);
/* What that errno means here, to be freed. */
char *perf_events_why(int error);

#endif
