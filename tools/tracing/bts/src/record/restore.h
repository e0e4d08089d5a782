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
 * @info:	the text of the section DAT_SECTION_BTS (see trace_dat.h), or NULL
 * @ended:	whether the recording had ended when bts was killed. If so, @info is complete
 * @cmdlines:	the "PID NAME" lines; used only if @ended
 * @written:	the time of the last write to any CPU's file, in seconds
 * @nr_cut:	number of CPUs whose latest branches may be missing
 * @counts:	what was counted in the chunks (see struct look_counts); unused if @ended
 * @first:	the first CPU whose data must still be copied, or NULL; unused if @data is 0
 * @data:	the offset of the data section, or 0 if FILE.new has no data section yet
 */
struct restore {
	struct writer		*writer;
	char			*info;
	char			*cmdlines;
	bool			ended;
	long long		written;
	unsigned int		nr_cut;
	struct look_counts	counts;
	struct look_events	events;
	struct writer_cpu	*first;
	long long		data;
};

/* Find the files of the unfinished trace @path. Return 0, or print a message and return -1. */
int restore_open(struct restore *r, const char *path);
/*
 * Complete the trace and return 0. On failure, print a message, keep the recording's files, and
 * return -1.
 */
int restore_finish(struct restore *r, const char *cmdlines, const char *info);
void restore_close(struct restore *r);

#endif
