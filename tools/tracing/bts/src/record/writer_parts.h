/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declare the internal functions and structures of the files that write trace.dat.
 *
 * Included by: record/writer*.c, record/restore.c.
 */
#ifndef BTS_WRITER_PARTS_H
#define BTS_WRITER_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <zstd.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "writer.h"

/* The options section contains the offsets of the sections DAT_SECTION_HEADERS to LAST_SECTION. */
#define LAST_SECTION	DAT_SECTION_CMDLINES

/* The name of the incomplete file. */
#define WRITER_FILE	"%s.new"

struct writer {
	char			*path;
	char			*temporary;	/* the name of the incomplete file */
	bool			device;		/* the output file is a device, such as /dev/null */
	bool			kept_old;
	int			fd;
	int			reserve;
	unsigned int		page_size;
	off_t			first_options;	/* where the file stores the options' offset */
	off_t			size;
	off_t			draft;		/* offset of the draft of the BTS section, or 0 */
	size_t			draft_strings;	/* size of @strings before this draft was written */
	bool			keep;		/* keep the files for bts restore */
	off_t			section[LAST_SECTION + 1];
	struct bytes		strings;
	struct writer_cpu	*cpus;
};

struct writer_cpu {
	struct writer_cpu	*next;
	struct writer		*w;
	ZSTD_CCtx		*zstd;
	void			*room;
	size_t			room_size;
	uint32_t		nr_chunks;
	struct bytes		times;		/* start time of each chunk, for the index */
	bool			failed;
	unsigned long long	branches;	/* number of branches in the chunks */
	unsigned long long	unwritten;	/* number of branches that could not be written */
	off_t			size;		/* size of the CPU's file */
	off_t			offset;		/* offset of the data in the final file */
	const char		*instance;
	int			cpu;
	int			fd;
	char			*name;		/* name of the CPU's file, or NULL */
};

/* writer.c: append bytes to the file. Return 0, or print a message and return -1. */
int writer_put(struct writer *w, const void *data, size_t size);
int writer_put_header(struct writer *w, int id, int flags, uint32_t name, uint64_t size);
/* Return the name of a section (DAT_SECTION_*), or NULL if the writer does not use the section. */
const char *writer_section_name(int id);
/* Add the name of a section to @strings, and return the ID of the name. */
uint32_t writer_name(struct writer *w, int id);
/* Return the name FILE.new.cpuN or FILE.new.INSTANCE.cpuN. The caller frees the name. */
char *writer_part_name(const char *temporary, const char *instance, int cpu);
/* Insert @cpu into the list w->cpus, which is sorted by CPU number, and then by instance. */
void writer_insert_cpu(struct writer *w, struct writer_cpu *cpu);

/*
 * writer_end.c: write the data of @first and all later CPUs, the options, and the sections' names.
 * If the file already contains the data of all CPUs, @first is NULL. The data section is at @data.
 */
int writer_end(struct writer *w, struct writer_cpu *first, off_t data, const char *clock,
	       char *const *stats, int nr_cpus);
/* Append the CPU's file, without its first @at bytes, to the trace. */
int writer_copy_cpu(struct writer *w, struct writer_cpu *cpu, off_t at);
/* Report whether the data section contains a part for the CPU. */
bool writer_was_used(const struct writer_cpu *cpu);

#endif
