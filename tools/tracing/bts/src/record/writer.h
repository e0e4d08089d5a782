/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes trace.dat, version 7 of its format, compressed with zstd.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_DATWRITE_H
#define BTS_DATWRITE_H

#include <stdbool.h>
#include <stddef.h>

struct bytes;
struct writer;
struct writer_cpu;

/*
 * Creates the file under another name, readable by its owner alone; what was at PATH stays until
 * writer_finish() renames it. In its directory are the temporary ones as well.
 */
struct writer *writer_create(const char *path, unsigned int page_size);
/*
 * Formats of events, symbols and the like, from ROOT, where tracefs is. SYSTEMS are the
 * names of those systems of events whose formats are wanted, up to a NULL.
 */
int writer_write_formats(struct writer *w, const char *root, char *const *systems);

/* A section before the data: its number is DAT_SECTION_*. 0, or -1 after a message. */
int writer_put_section(struct writer *w, int id, const char *name, const struct bytes *content);

/* A CPU's data. Different CPUs may be written to by different threads. */
struct writer_cpu *writer_add_cpu(struct writer *w, int cpu);
/* SIZE bytes of ring buffer pages, 1 MiB or so. 0, or -1 after a message. */
int writer_write_pages(struct writer_cpu *cpu, const void *data, size_t size);

/*
 * Puts all together. CMDLINES: "PID NAME" lines. CLOCK, STATS: what trace_clock and each
 * CPU's stats file say, up to a NULL. INFO: the lines of our own section. What was
 * recorded until a failure is saved, if that is possible at all.
 */
int writer_finish(struct writer *w, const char *cmdlines, const char *clock, char *const *stats,
		  int nr_cpus, const char *info);
/* Has an older trace PATH the name PATH.old now? */
bool writer_kept_old(const struct writer *w);
/* The file's size, and how much of it are the CPUs' data. */
unsigned long long writer_size(const struct writer *w);
unsigned long long writer_data_size(const struct writer *w);
/* What is not finished is removed. */
void writer_free(struct writer *w);

#endif
