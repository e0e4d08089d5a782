/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Record branches with perf's events, through a ring buffer for each CPU.
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
 * @format:	the format of the events' records
 * @size:	the size of a new ring buffer's data, in bytes
 * @aux_size:	the size of a new ring buffer's AUX area, or 0 with branches:u, which has none
 * @fds:	the descriptors of all events
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
 * Open an event on each CPU for the task and its children. With @at_exec, recording starts at the
 * task's next exec(). Return 0, or print a message and return -1.
 */
int perf_events_open(struct perf_events *events, const struct record_options *options, pid_t tid,
		     bool at_exec);
/* Open an output for each ring buffer's rows. Return 0, or print a message and return -1. */
int perf_events_write_to(struct perf_events *events, struct writer *w);
/* Return the first ring buffer's output, to which bts also writes the mappings from /proc. */
struct perf_out *perf_events_first_out(struct perf_events *events);

/* Return a descriptor that becomes readable when the ring is filled to its watermark. */
int perf_events_fd(const struct perf_events *events, size_t ring);
/* Read the records that are now in the ring buffers. */
void perf_events_read(struct perf_events *events, struct perf_rows *rows);
/* Stop recording and read the remaining records. Return 0, or -1 if a row could not be written. */
int perf_events_end(struct perf_events *events, struct perf_rows *rows);
void perf_events_free(struct perf_events *events);

/* Open a guard, which is an event that records nothing (perf_follow.c). Return -1 on failure. */
int perf_events_guard(pid_t tid);

/* Return 0 if this user can record branches with this perf backend, otherwise an errno value. */
int perf_events_try(enum record_backend backend);
/* Return a string that explains perf_events_try()'s errno value. The caller frees the string. */
char *perf_events_why(int error);

#endif
