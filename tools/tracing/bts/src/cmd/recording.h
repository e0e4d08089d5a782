/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that the backends of bts record share with each other and with bts import.
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

/* record_perf.c: bts record --backend perf or intel_bts. */
struct record_result record_with_perf(const struct record_options *options);
/* record_vm.c: bts record --backend vm. */
struct record_result record_with_vm(const struct record_options *options);

/*
 * Return a descriptor for the signals that end the recording and, with @children, for SIGCHLD.
 * Return -1 after a message.
 */
int recording_signals(bool children);
/*
 * The archive beside @path belongs to an older trace. Rename the archive if that trace is kept as
 * PATH.old, or else remove the archive.
 */
void recording_leave_archive(bool kept_old, const char *path);
/* Return lines "PID NAME". The caller frees the text. */
char *recording_cmdlines(const struct names *names);
/* Return the exit status of a recording that failed. */
int recording_failure(const struct targets *targets);
/* Report how the command ended, unless it returned 0. */
void recording_report_end(const struct record_options *options, const struct targets *targets);

#endif
