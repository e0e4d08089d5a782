/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declare the functions that are shared by bts import and the backends of bts record.
 *
 * Included by: cmd/.
 */
#ifndef BTS_RECORDING_H
#define BTS_RECORDING_H

#include <stdbool.h>

#include "lib/names.h"
#include "record/record.h"
#include "record/writer.h"
#include "symbols/kernel_code.h"
#include "record_repeat.h"

/* record_perf.c: implement bts record --backend perf or intel_bts. */
struct record_result record_with_perf(const struct record_options *options);
/* record_vm.c: implement bts record --backend vm. */
struct record_result record_with_vm(const struct record_options *options);

/*
 * Return a signalfd for the signals that end the recording. If @children is true, the signalfd also
 * reports SIGCHLD. On failure, print a message and return -1.
 */
int recording_signals(bool children);
/*
 * Call this function after a new trace has replaced the trace at @path. If the old trace was kept
 * as PATH.old, rename its archive in the same way. Otherwise, remove the old archive.
 */
void recording_leave_archive(bool kept_old, const char *path);
/*
 * If a finished trace is a regular file, make its archive. Leave out files that @user may not read.
 * @code is a copy of the kernel's code that was made before the recording, or NULL.
 */
void recording_save_archive(const struct writer *w, const char *path,
			    const struct kernel_code *code, const struct names *names,
			    uid_t user);
/* Return a string with a line "PID NAME" for each task. The caller frees the string. */
char *recording_cmdlines(const struct names *names);
/* Return the exit status of bts record for a recording that failed. */
int recording_failure(const struct targets *targets);
/* Report how the command ended, unless its exit status is 0. */
void recording_report_end(const struct record_options *options, const struct targets *targets);

#endif
