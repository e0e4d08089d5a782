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
 * Create the file with a temporary name, and allow only the owner to read it. Later,
 * writer_finish() renames an existing file @path to PATH.old, and then renames the new file to
 * @path. The data of the CPUs is stored in other temporary files in the same directory. If a killed
 * recording left such files behind, print a message and return NULL.
 */
struct writer *writer_create(const char *path, unsigned int page_size);
/*
 * Write the kernel symbols and the formats of all events in the event systems @systems.
 * @systems is a NULL-terminated list. @root is the path of tracefs.
 */
int writer_write_formats(struct writer *w, const char *root, char *const *systems);

/* Write a section other than DAT_SECTION_DATA. Return 0, or print a message and return -1. */
int writer_put_section(struct writer *w, int id, const struct bytes *content);

/*
 * Write a draft of the BTS section, with the lines that are known at the start. The draft remains
 * in the file only if bts is killed.
 */
int writer_write_draft(struct writer *w, const char *info);

/*
 * Add a part for the data of one CPU in one tracefs instance. @instance is the instance's name in
 * the trace: "" if the instance records branches, or DAT_MAPS if it records only mappings. Each
 * part may be written by a different thread.
 */
struct writer_cpu *writer_add_cpu(struct writer *w, const char *instance, int cpu);
/*
 * Write about 1 MiB of ring-buffer pages, which contain @branches branches. If @maps is true, the
 * pages also contain mapping rows. Return 0 on success. At the first failure, print a message. From
 * then on, only count the CPU's branches, and return -1.
 */
int writer_write_pages(struct writer_cpu *cpu, const void *data, size_t size,
		       unsigned long long branches, bool maps);

/*
 * Complete the file with "PID NAME" lines (@cmdlines), the text of trace_clock (@clock), and the
 * lines of the BTS section (@info). The NULL-terminated list @stats contains the text of each CPU's
 * stats file. Call this function even if writer_write_pages() failed, to save the pages that were
 * written before.
 */
int writer_finish(struct writer *w, const char *cmdlines, const char *clock, char *const *stats,
		  int nr_cpus, const char *info);
/* Report whether the trace is a file rather than a device such as /dev/null. */
bool writer_is_file(const struct writer *w);
/* Report whether an existing file was renamed to PATH.old. */
bool writer_kept_old(const struct writer *w);
/* Return the size of the file. */
unsigned long long writer_size(const struct writer *w);
/* Return the total size of the CPUs' data in the file. */
unsigned long long writer_data_size(const struct writer *w);
/* Report whether writer_write_pages() failed. */
bool writer_failed(const struct writer *w);
/* Return the number of branches that were written. */
unsigned long long writer_branches(const struct writer *w);
/* Return the number of branches that could not be written. */
unsigned long long writer_unwritten(const struct writer *w);
/*
 * Free the writer, and remove the files of an incomplete trace. If writer_finish() failed, keep the
 * files, so that bts restore can complete the trace later.
 */
void writer_free(struct writer *w);

#endif
