/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of a ring buffer that the tool itself fills, a CPU's: branches in packs, and the
 * other rows, as the tracer writes them.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_PAGES_H
#define BTS_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct writer;
struct pages;

/* NULL after a message. */
struct pages *pages_open(struct writer *w, int cpu);
/* A branch of the task. Times never go back: an earlier one counts as the last one. */
void pages_branch(struct pages *p, int pid, uint64_t ts, uint64_t from, uint64_t to);
/* A row, which begins with a struct made_entry: type and PID are set. */
void pages_row(struct pages *p, uint64_t ts, const void *row, size_t size);
/* Branches of the task are missing here; how many is not known. @cause as in the trace. */
void pages_lost(struct pages *p, uint64_t ts, int pid, unsigned int cause);
/* 0, or -1 if something could not be written, which has been said. */
int pages_close(struct pages *p);

#endif
