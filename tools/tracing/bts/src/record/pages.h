/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fill a CPU's ring-buffer pages with packs of branches and with other rows, as the tracer does.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_PAGES_H
#define BTS_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct writer;
struct pages;

/* On failure, print a message and return NULL. */
struct pages *pages_open(struct writer *w, int cpu);
/* Add a branch. If @ts is earlier than the last entry's time, use the last entry's time. */
void pages_branch(struct pages *p, int pid, uint64_t ts, uint64_t from, uint64_t to);
/* Add @row, which begins with a struct made_entry. A row larger than a page is dropped. */
void pages_row(struct pages *p, uint64_t ts, const void *row, size_t size);
/* Add a loss of unknown size, with a cause from the kernel's enum bts_lost_cause. */
void pages_lost(struct pages *p, uint64_t ts, int pid, unsigned int cause);
/* Write the last page. Return 0, or -1 if any write failed. A failed write prints a message. */
int pages_close(struct pages *p);

#endif
