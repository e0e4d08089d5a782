/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Define the entries that the tool itself writes: their event numbers, their fields, and the
 * formats that describe the fields. The entries have the same form as the tracer's entries.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_MADE_FORMATS_H
#define BTS_MADE_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/names.h"

struct writer;

enum {
	MADE_PAGE	= 4096,
	MADE_BUILD_ID	= 20,
	/* The event numbers. Any distinct numbers would do. */
	MADE_BRANCH	= 1,
	MADE_PACK,
	MADE_LOST,
	MADE_DEPARTS,
	MADE_ARRIVES,
	MADE_MAP,
};

/* Each entry begins with these fields. */
struct made_entry {
	uint16_t	type;
	uint8_t		flags, preempt_count;
	int32_t		pid;
};

/* In the trace, the encoded branches are stored directly after this structure. */
struct made_pack {
	struct made_entry entry;
	uint64_t	seq, from, to;
	uint16_t	nr;
	uint8_t		format;
} __attribute__((packed));

struct made_lost {
	struct made_entry entry;
	uint64_t	count, seq;
	uint32_t	cause;
} __attribute__((packed));

struct made_departs {
	struct made_entry entry;
	char		comm[NAME_LENGTH];
	int32_t		pid, tgid;
	uint64_t	user_ip, kernel_ip;
	uint32_t	state;
	uint8_t		voluntary, pad[3];
} __attribute__((packed));

struct made_arrives {
	struct made_entry entry;
	char		comm[NAME_LENGTH];
	int32_t		pid, tgid;
	uint64_t	user_ip;
} __attribute__((packed));

/* In the trace, the path and its terminating 0 are stored directly after this structure. */
struct made_map {
	struct made_entry entry;
	char		comm[NAME_LENGTH];
	int32_t		pid, tgid;
	uint64_t	addr, len, offset, inode;
	uint32_t	maj, min, build_id_size;
	uint8_t		build_id[MADE_BUILD_ID];
	uint32_t	path;		/* the path: offset (lower half), length (upper half) */
} __attribute__((packed));

/* Write the formats of the entries above and, if @symbols is true, the running kernel's symbols. */
int made_formats_write(struct writer *w, bool symbols);

#endif
