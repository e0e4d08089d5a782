/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the files that write trace.dat.
 *
 * Included by: record/writer*.c.
 */
#ifndef BTS_WRITER_PARTS_H
#define BTS_WRITER_PARTS_H

#include <stdint.h>
#include <sys/types.h>

#include <zstd.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "writer.h"

/* The last section that has an option. */
#define LAST_SECTION	DAT_SECTION_CMDLINES

struct writer {
	char			*path;
	char			*temporary;	/* the file's name until it is complete */
	bool			kept_old;
	int			fd;
	int			reserve;
	unsigned int		page_size;
	off_t			first_options;	/* where to write the offset of the options */
	off_t			size;
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
	struct bytes		times;		/* of the chunks, for the index */
	bool			failed;
	unsigned long long	branches;	/* in the chunks */
	unsigned long long	unwritten;	/* branches after a write failed */
	off_t			size;		/* of the unnamed file */
	off_t			offset;		/* of the data in the final file */
	int			cpu;
	int			fd;
};

/* writer.c: append to the file. Return 0, or print a message and return -1. */
int writer_put(struct writer *w, const void *data, size_t size);
int writer_put_header(struct writer *w, int id, int flags, uint32_t name, uint64_t size);
/* Add a name of a section, and return its ID. */
uint32_t writer_string(struct writer *w, const char *string);

#endif
