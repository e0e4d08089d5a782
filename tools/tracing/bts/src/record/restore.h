/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Complete the trace of a recording that was killed.
 *
 * Included by: record/, cmd/restore.c.
 */
#ifndef BTS_RESTORE_H
#define BTS_RESTORE_H

#include <stdbool.h>

#include "look.h"
#include "writer.h"

/**
 * struct restore - an unfinished trace
 * @info:	the lines of the section of bts, or NULL
 * @ended:	the recording had ended, so @info is complete
 * @cmdlines:	if @ended, the "PID NAME" lines
 * @nr_cut:	number of CPUs whose data was cut
 * @counts:	if not @ended, what the pages contain
 * @first:	if the data section has begun, the first CPU without data in it
 * @data:	the offset of the data section, or 0
 */
struct restore {
	struct writer		*writer;
	char			*info;
	char			*cmdlines;
	bool			ended;
	unsigned int		nr_cut;
	struct look_counts	counts;
	struct look_events	events;
	struct writer_cpu	*first;
	long long		data;
};

/* Find what is left of the recording of @path. Return 0, or print a message and return -1. */
int restore_open(struct restore *r, const char *path);
/*
 * Complete the trace. Return 0, or print a message and return -1; then the remains of the recording
 * are kept.
 */
int restore_finish(struct restore *r, const char *cmdlines, const char *info);
void restore_close(struct restore *r);

#endif
