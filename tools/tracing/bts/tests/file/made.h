/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write and read generated traces. Each trace has one CPU, and is written to the file @path, in
 * version 6 of the trace.dat format. Each pack contains the branches of the example in
 * Documentation/trace/bts-internals.rst. Intact and damaged entries have different PIDs, so that
 * struct result counts their branches separately.
 *
 * Included by: tests/file/.
 */
#ifndef BTS_MADE_H
#define BTS_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "file/queue.h"

#define PAGE		4096
#define PAGES		4000
#define NR		12
#define DATA		(2 * PAGE)	/* offset of the CPU's data in the file */
#define CHUNK_PAGES	2
#define CHUNKS		4

enum { BRANCH_ID = 18, LOST_ID, PACK_ID, ROW_ID };
enum { WHOLE_PID = 52, OTHER_PID };

struct entry {
	uint16_t	type;
	uint16_t	flags;
	int32_t		pid;
	uint64_t	seq;
	uint64_t	from;
	uint64_t	to;
	uint16_t	nr;
	uint8_t		format;
	uint8_t		code[61];
};

#define HEAD		35
#define HEAD_0		36
#define BRANCH_SIZE	24
#define LOST_SIZE	28
#define PACK_SIZE	52	/* HEAD + the packed branches, rounded up to a multiple of 4 */

/**
 * struct result - what the reader found in a trace
 * @branches:	number of correct branches of WHOLE_PID
 * @others:	number of wrong branches of WHOLE_PID, plus number of unexpected batches
 * @rest:	number of branches of OTHER_PID
 * @rows:	number of rows of the type ROW_ID
 * @losses:	by cause, the number of losses whose size is unknown
 * @lost:	by cause, the number of lost branches in losses of known size
 * @first:	number of correct branches before the first loss
 * @first_rows:	number of rows before the first loss
 * @lost_any:	true after the first loss
 * @lost_ts:	time of the first loss
 * @error:	the reader's error message, or an empty string
 */
struct result {
	uint64_t	branches;
	uint64_t	others;
	uint64_t	rest;
	uint64_t	rows;
	uint64_t	losses[16];
	uint64_t	lost[16];
	uint64_t	first;
	uint64_t	first_rows;
	bool		lost_any;
	uint64_t	lost_ts;
	char		error[256];
};

extern const char *path;
extern uint8_t pages[PAGES][PAGE];
/* The index of the last page. */
extern uint32_t page;
/* The formats of LOST rows and of packs. The suffix _0 marks the formats of old tracers. */
extern const char lost_text_0[], lost_text[], pack_text_0[], pack_text[];
extern const struct branch branches[NR];

/* If @chunked is true, the pages are compressed, and each chunk contains CHUNK_PAGES pages. */
extern bool chunked;
extern uint64_t time_to;
/* If @spoil is set, read_file() calls @spoil() to damage the file. See @spoil_chunk for @at. */
extern void (*spoil)(uint32_t at);
/* If true, read_file() opens the file, and then calls @spoil(). If false, @spoil() comes first. */
extern bool spoil_opened;
/* The number of the chunk to damage. @at is the offset of this chunk in the CPU's data. */
extern uint32_t spoil_chunk;

/* Begin an empty trace. */
void begin(void);
void put_entry(const void *entry, uint32_t size);
struct entry make_pack(uint64_t seq);
void put_pack(uint64_t seq);
void put_pack_0(uint64_t seq);
void put_branches(void);
void put_lost(uint64_t seq);
void put_lost_0(void);
/* Write an entry that is not a branch, a pack or a loss. It has no sequence number. */
void put_row(void);
/* Begin a new page. If @missed is true, the page says that entries before it were overwritten. */
void new_page(bool missed);

/* Write the trace to the file. @pack is the format of packs, or NULL if the trace has no packs. */
void write_file(const char *lost, const char *pack);
/* Overwrite 4 bytes of the CPU's data in the file. */
void overwrite(uint32_t at, uint32_t value);
struct result read_file(void);
struct result write_and_read(void);

/* Print the KTAP result of a test. */
void ok(int good, const char *name);

/* damaged.c: test damaged files. */
void test_damaged_files(void);

#endif
