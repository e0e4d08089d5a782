/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recording with the tracer and recording with perf share.
 *
 * Included by: cmd/.
 */
#ifndef BTS_RECORDING_H
#define BTS_RECORDING_H

#include <stdbool.h>

#include "lib/names.h"
#include "record/record.h"
#include "record/writer.h"
#include "record_repeat.h"

/* record_perf.c: bts record --backend perf. */
struct record_result record_with_perf(const struct record_options *options);

/*
 * Signals that end the recording, and if @children SIGCHLD, as a descriptor; -1 after a
 * message.
 */
int recording_signals(bool children);
/* The archive beside @path is that of an older trace. */
void recording_leave_archive(const struct writer *w, const char *path);
/* "PID NAME" lines, to be freed. */
char *recording_cmdlines(const struct names *names);
/* The exit status of a recording that failed. */
int recording_failure(const struct targets *targets);
/* How the command has ended, if not well. */
void recording_report_end(const struct record_options *options, const struct targets *targets);

#endif
