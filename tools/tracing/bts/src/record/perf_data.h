/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.data, as perf record writes it: of branches:u with period 1, or of intel_bts.
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

/* NULL after a message, if the file cannot be read, or has no branches. */
struct perf_data *perf_data_open(const char *path);
void perf_data_close(struct perf_data *data);
/* Has it branches with an end in the kernel? */
bool perf_data_has_kernel_ends(const struct perf_data *data);
/* Has it branches of the kernel that runs now, as far as its release says? */
bool perf_data_of_this_kernel(struct perf_data *data);
/* "key: value" lines on the recording, to be freed. */
char *perf_data_describe(struct perf_data *data);
/* All its rows. 0, or -1 after a message; what came before it is written. */
int perf_data_read(struct perf_data *data, struct perf_rows *rows, struct writer *w);

#endif
