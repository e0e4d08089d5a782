/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write a trace.dat of version 7, compressed with zstd.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_WRITER_H
#define BTS_WRITER_H

#include <stdbool.h>
#include <stddef.h>

struct bytes;
struct writer;
struct writer_cpu;

/*
 * Create the file under a temporary name, readable only by its owner. An existing file at @path
 * stays until writer_finish() renames both files. The data of the CPUs is stored in other temporary
 * files beside the trace. If such files of a killed recording exist, print a message.
 */
struct writer *writer_create(const char *path, unsigned int page_size);
/*
 * Write event formats and kernel symbols. @root is the path of tracefs. @systems are the names of
 * the event systems to include, up to a NULL.
 */
int writer_write_formats(struct writer *w, const char *root, char *const *systems);

/* Write a section DAT_SECTION_*, except data. Return 0, or print a message and return -1. */
int writer_put_section(struct writer *w, int id, const struct bytes *content);

/*
 * Write the lines of the section of bts that are known at the start. They remain in the file only
 * if bts is killed.
 */
int writer_write_draft(struct writer *w, const char *info);

/* Add a CPU's part. Different threads may write the parts of different CPUs. */
struct writer_cpu *writer_add_cpu(struct writer *w, int cpu);
/*
 * Write about 1 MiB of ring-buffer pages, which contain @branches and, if @maps, rows of mappings.
 * Return 0, or -1 after a failure. The first failure prints a message. From then on, the CPU's
 * pages are only counted.
 */
int writer_write_pages(struct writer_cpu *cpu, const void *data, size_t size,
		       unsigned long long branches, bool maps);

/*
 * Complete the file. @cmdlines are "PID NAME" lines, @clock is the text of trace_clock, @stats are
 * the texts of the CPUs' stats files up to a NULL, and @info are the lines of the section of bts.
 * After writer_write_pages() failed, call this too: the pages before the failure are saved.
 */
int writer_finish(struct writer *w, const char *cmdlines, const char *clock, char *const *stats,
		  int nr_cpus, const char *info);
/* Report whether an older file was renamed to PATH.old. */
bool writer_kept_old(const struct writer *w);
/* Return the size of the file, and the size of the CPUs' data in it. */
unsigned long long writer_size(const struct writer *w);
unsigned long long writer_data_size(const struct writer *w);
/* Report whether writer_write_pages() failed. */
bool writer_failed(const struct writer *w);
/* Return the number of branches in the file, and of branches that could not be written. */
unsigned long long writer_branches(const struct writer *w);
unsigned long long writer_unwritten(const struct writer *w);
/*
 * Free the writer. Remove the files if the trace is incomplete, unless writer_finish() failed: then
 * bts restore can complete the trace later.
 */
void writer_free(struct writer *w);

#endif
