/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read a perf.data file that perf record wrote with branches:u and period 1, or with intel_bts.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_PERF_DATA_H
#define BTS_PERF_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "perf_rows.h"

struct perf_data;
struct writer;

/* If the file cannot be read or has no branches, print a message and return NULL. */
struct perf_data *perf_data_open(const char *path);
void perf_data_close(struct perf_data *data);
bool perf_data_is_intel_bts(const struct perf_data *data);
/* Report whether perf_data_read() found branches that cannot be read. */
bool perf_data_is_damaged(const struct perf_data *data);
/*
 * Report whether branches within the kernel were recorded. A file from intel_bts always contains at
 * least the branches from user space into the kernel.
 */
bool perf_data_has_kernel_side(const struct perf_data *data);
/* Report whether the file was recorded with intel_bts on the kernel release that is running now. */
bool perf_data_of_this_kernel(struct perf_data *data);
/* Return "key: value" lines about the recording. The caller frees the text. */
char *perf_data_describe(struct perf_data *data);
/* Write all rows that precede the first error. Return 0, or print a message and return -1. */
int perf_data_read(struct perf_data *data, struct perf_rows *rows, struct writer *w);

#endif
