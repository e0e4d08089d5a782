// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write and read generated traces, in version 6 of the trace.dat format. A file of this version
 * cannot say that its pages are in compressed chunks, so read_file() must tell the CPU reader.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "file/cpu_reader.h"
#include "file/ring_page.h"
#include "lib/error.h"
#include "lib/msg.h"
#include "bts/unpack.h"
#include "made.h"

#define FROM		0x401000

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define PACK_BEGIN "name: bts_pack\nID: 20\nformat:\n" COMMON \
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned long from;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned long to;\toffset:24;\tsize:8;\tsigned:0;\n"

static const char branch_text[] = "name: bts_branch\nID: 18\nformat:\n" COMMON
	"\tfield:unsigned long from;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long to;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n";

/* The first version of the tracer had no packs, and therefore no sequence numbers. */
const char lost_text_0[] = "name: bts_lost\nID: 19\nformat:\n" COMMON
	"\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int cause;\toffset:16;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";
const char lost_text[] = "name: bts_lost\nID: 19\nformat:\n" COMMON
	"\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 seq;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int cause;\toffset:24;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

/* A pack of the oldest format does not contain a format number. */
const char pack_text_0[] = PACK_BEGIN
	"\tfield:unsigned int nr;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:36;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n";
const char pack_text[] = PACK_BEGIN
	"\tfield:unsigned short nr;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 format;\toffset:34;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:35;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n";

static const uint8_t code[] = {
	0x80, 0x60, 0x90, 0x98, 0xd0, 0xa0, 0xd0, 0xcb, 0x0b, 0x50, 0x01, 0x52, 0x01, 0x32, 0x00,
};

const struct branch branches[NR] = {
	{ 0x401000, 0x401020 }, { 0x401030, 0x401100 }, { 0x401120, 0x401035 },
	{ 0x401080, 0x40104b }, { 0x401000, 0x401020 }, { 0x401030, 0x401100 },
	{ 0x401120, 0x401035 }, { 0x401000, 0x401020 }, { 0x401030, 0x401100 },
	{ 0x401120, 0x401035 }, { 0x401080, 0x40104b }, { 0x401000, 0x401020 },
};

const char *path;
uint8_t pages[PAGES][PAGE];
uint32_t page;
bool chunked;
uint64_t time_to = UINT64_MAX;
void (*spoil)(uint32_t at);
bool spoil_opened;
uint32_t spoil_chunk;

static uint32_t used;
static uint8_t chunks[1 << 20];
static uint32_t chunk_at[CHUNKS];

/* ---- Writing ----------------------------------------------------------- */

void begin(void)
{
	memset(pages, 0, sizeof(pages));
	page = 0;
	used = 16;
}

void put_entry(const void *entry, uint32_t size)
{
	uint32_t head = size / 4;

	if (used + 4 + size > PAGE) {
		page++;
		used = 16;
	}
	memcpy(pages[page] + used, &head, 4);
	memcpy(pages[page] + used + 4, entry, size);
	used += 4 + size;
	*(uint64_t *)(pages[page] + 8) += 4 + size;
}

struct entry make_pack(uint64_t seq)
{
	struct entry e = { .type = PACK_ID, .pid = WHOLE_PID, .seq = seq, .from = FROM,
			   .to = branches[NR - 1].to, .nr = NR, .format = BTS_PACK_FORMAT };

	memcpy(e.code, code, sizeof(code));
	return e;
}

void put_pack(uint64_t seq)
{
	struct entry e = make_pack(seq);

	put_entry(&e, PACK_SIZE);
}

/* Write a pack in the oldest format. */
void put_pack_0(uint64_t seq)
{
	struct entry e = make_pack(seq);

	memset((char *)&e + HEAD - 1, 0, 2);
	memcpy((char *)&e + HEAD_0, code, sizeof(code));
	put_entry(&e, PACK_SIZE);
}

void put_branches(void)
{
	for (int i = 0; i < NR; i++) {
		struct entry e = { .type = BRANCH_ID, .pid = WHOLE_PID };

		e.seq = branches[i].from;
		e.from = branches[i].to;
		put_entry(&e, BRANCH_SIZE);
	}
}

/* Write an entry that reports a loss of 7 branches, with cause 3. */
void put_lost(uint64_t seq)
{
	struct entry e = { .type = LOST_ID, .pid = WHOLE_PID, .seq = 7, .from = seq, .to = 3 };

	put_entry(&e, LOST_SIZE);
}

void put_lost_0(void)
{
	struct entry e = { .type = LOST_ID, .pid = WHOLE_PID, .seq = 7, .from = 3 };

	put_entry(&e, BRANCH_SIZE);
}

void put_row(void)
{
	struct entry e = { .type = ROW_ID, .pid = WHOLE_PID };

	put_entry(&e, BRANCH_SIZE);
}

void new_page(bool missed)
{
	page++;
	used = 16;
	*(uint64_t *)(pages[page] + 8) = missed ? RING_PAGE_MISSED : 0;
}

static void put(FILE *f, const void *bytes, size_t size)
{
	if (fwrite(bytes, size, 1, f) != 1)
		exit(msg_errno("write", path));
}

static void put_number(FILE *f, uint64_t number, size_t size)
{
	put(f, &number, size);
}

/* Compress the pages into CHUNKS chunks. Return the total size in bytes. */
static size_t make_chunks(void)
{
	uint32_t nr = CHUNKS;
	size_t size = 4;

	memcpy(chunks, &nr, 4);
	for (int i = 0; i < CHUNKS; i++) {
		uint32_t sizes[2] = { 0, CHUNK_PAGES * PAGE };

		chunk_at[i] = size;
		sizes[0] = ZSTD_compress(chunks + size + 8, sizeof(chunks) - size - 8,
					 pages[i * CHUNK_PAGES], sizes[1], 1);
		memcpy(chunks + size, sizes, 8);
		size += 8 + sizes[0];
	}
	return size;
}

void overwrite(uint32_t at, uint32_t value)
{
	FILE *f = fopen(path, "r+");

	if (!f || fseek(f, DATA + at, SEEK_SET))
		exit(msg_errno("write", path));
	put_number(f, value, 4);
	if (fclose(f))
		exit(msg_errno("write", path));
}

void write_file(const char *lost, const char *pack)
{
	const char *formats[] = { branch_text, lost, pack };
	const int nr = pack ? 3 : 2;
	const size_t size = chunked ? make_chunks() : (page + 1) * PAGE;
	FILE *f = fopen(path, "w");

	if (!f)
		exit(msg_errno("write", path));
	put(f, "\027\010\104tracing6\0\0\010", 14);
	put_number(f, PAGE, 4);
	put(f, "header_page", 12);
	put_number(f, 0, 8);
	put(f, "header_event", 13);
	put_number(f, 0, 8);
	put_number(f, nr, 4);
	for (int i = 0; i < nr; i++) {
		put_number(f, strlen(formats[i]), 8);
		put(f, formats[i], strlen(formats[i]));
	}
	/* Only ftrace's events, no symbols, no printk formats, no command lines, one CPU */
	put_number(f, 0, 8);
	put_number(f, 0, 4);
	put_number(f, 0, 8);
	put_number(f, 1, 4);
	put(f, "flyrecord", 10);
	put_number(f, DATA, 8);
	put_number(f, size, 8);
	fseek(f, DATA, SEEK_SET);
	put(f, chunked ? (void *)chunks : pages, size);
	if (fclose(f))
		exit(msg_errno("write", path));
}

/* ---- Reading ----------------------------------------------------------- */

static void look_at(struct result *r, const struct batch *b)
{
	switch (b->type) {
	case BATCH_BRANCHES:
		for (uint32_t i = 0; i < b->nr; i++) {
			if (b->pid != WHOLE_PID)
				r->rest++;
			else if (!memcmp(&b->branch[i], &branches[r->branches % NR],
					 sizeof(struct branch)))
				r->branches++;
			else
				r->others++;
		}
		break;
	case BATCH_LOST:
	case BATCH_MISSED:
		if (!r->lost_any) {
			r->first = r->branches;
			r->first_rows = r->rows;
			r->lost_ts = b->ts;
		}
		r->lost_any = true;
		r->lost[b->cause % 16] += b->count;
		r->losses[b->cause % 16] += !b->count;
		break;
	case BATCH_EVENT:
		r->rows++;
		break;
	default:
		r->others++;
	}
}

struct result read_file(void)
{
	struct error error = {};
	struct result r = {};
	struct cpu_reader reader;
	struct formats formats;
	struct layout layout;
	struct batch *b;
	struct dat *dat;

	if (spoil && !spoil_opened)
		spoil(chunk_at[spoil_chunk]);
	dat = dat_open(path, &error);
	if (!dat)
		exit(msg_error(NULL, NULL, "%s", error_text(&error)));
	if (spoil && spoil_opened)
		spoil(chunk_at[spoil_chunk]);
	dat->cpus[0].compressed = chunked;
	dat->time_to = time_to;
	formats_read(&formats, dat);
	if (!layout_find(&layout, &formats, dat, &error) || dat->nr_cpus != 1 ||
	    !cpu_reader_start(&reader, dat, &dat->cpus[0], &layout, &error))
		exit(msg_error(NULL, NULL, "%s", error_text(&error)));
	while ((b = queue_peek(&reader.queue))) {
		look_at(&r, b);
		queue_next(&reader.queue);
	}
	cpu_reader_stop(&reader);
	snprintf(r.error, sizeof(r.error), "%s", dat->error ? dat->error : "");
	formats_free(&formats);
	dat_close(dat);
	return r;
}

struct result write_and_read(void)
{
	write_file(lost_text, pack_text);
	return read_file();
}
