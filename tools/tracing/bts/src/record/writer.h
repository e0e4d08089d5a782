/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes trace.dat, version 7 of its format, compressed with zstd.
 */
#ifndef BTS_DATWRITE_H
#define BTS_DATWRITE_H

#include <stdbool.h>
#include <stddef.h>

struct datw;
struct datw_cpu;

/*
 * Creates the file under another name; what was at PATH stays until datw_finish(). In its
 * directory are the temporary ones as well.
 */
struct datw *datw_create(const char *path, unsigned int page_size);
/*
 * Formats of events, symbols and the like, from ROOT, where tracefs is. SYSTEMS are the
 * names of those systems of events whose formats are wanted, up to a NULL.
 */
int datw_write_formats(struct datw *dat, const char *root, char *const *systems);

/* A CPU's data. Different CPUs may be written to by different threads. */
struct datw_cpu *datw_add_cpu(struct datw *dat, int cpu);
/* SIZE bytes of ring buffer pages, 1 MiB or so. 0, or -1 after a message. */
int datw_write_pages(struct datw_cpu *cpu, const void *data, size_t size);

/*
 * Puts all together. CMDLINES: "PID NAME" lines. CLOCK, STATS: what trace_clock and each
 * CPU's stats file say, up to a NULL. INFO: the lines of our own section. What was
 * recorded until a failure is saved, if that is possible at all.
 */
int datw_finish(struct datw *dat, const char *cmdlines, const char *clock, char *const *stats,
		int nr_cpus, const char *info);
/* The file's size, and how much of it are the CPUs' data. */
unsigned long long datw_size(const struct datw *dat);
unsigned long long datw_data_size(const struct datw *dat);
/* What is not finished is removed. */
void datw_free(struct datw *dat);

#endif
