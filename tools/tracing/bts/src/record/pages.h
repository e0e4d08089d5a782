/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ring-buffer pages of a CPU that the tool itself fills, in the format of the tracer: packs of
 * branches, and other rows.
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
/* Add a branch. A time before that of the last entry is replaced by the last entry's time. */
void pages_branch(struct pages *p, int pid, uint64_t ts, uint64_t from, uint64_t to);
/* Add a row that begins with a filled struct made_entry. A row larger than a page is dropped. */
void pages_row(struct pages *p, uint64_t ts, const void *row, size_t size);
/* Add a loss of unknown size. @cause is a number of the kernel's enum bts_lost_cause. */
void pages_lost(struct pages *p, uint64_t ts, int pid, unsigned int cause);
/* Return 0, or -1 if a write failed, for which a message was printed. */
int pages_close(struct pages *p);

#endif
