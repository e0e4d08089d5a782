// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read generated traces in each format that the tracer has ever used, in a format that a later
 * tracer may use, and with damaged entries. Print KTAP.
 *
 *	reader FILE
 *
 * Each trace is written to FILE, in version 6 of trace.dat, with one CPU. The pack is the example
 * in Documentation/trace/bts-internals.rst. Whole entries and damaged entries have different PIDs,
 * so that the result shows which entries were read. Only version 7 has compressed chunks, but the
 * chunks have the same form in all files, so these tests put chunks into a file of version 6.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "file/cpu_reader.h"
#include "lib/error.h"
#include "lib/msg.h"
#include "bts/unpack.h"

#define PAGE		4096
#define PAGES		4000
#define NR		12
#define FROM		0x401000
#define DAMAGED		1000000
#define DAMAGED_ONCE	50000
#define DATA		(2 * PAGE)	/* offset of the CPU's data in the file */
#define CHUNK_PAGES	2
#define CHUNKS		4

enum { BRANCH_ID = 18, LOST_ID, PACK_ID };
enum { WHOLE_PID = 52, OTHER_PID };

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
static const char lost_text_0[] = "name: bts_lost\nID: 19\nformat:\n" COMMON
	"\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int cause;\toffset:16;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";
static const char lost_text[] = "name: bts_lost\nID: 19\nformat:\n" COMMON
	"\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 seq;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int cause;\toffset:24;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

/* A pack of the oldest format does not contain the number of the format. */
static const char pack_text_0[] = PACK_BEGIN
	"\tfield:unsigned int nr;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:36;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n";
static const char pack_text[] = PACK_BEGIN
	"\tfield:unsigned short nr;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 format;\toffset:34;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:35;\tsize:0;\tsigned:0;\n\nprint fmt: \"\"\n";

static const uint8_t code[] = {
	0x80, 0x60, 0x90, 0x98, 0xd0, 0xa0, 0xd0, 0xcb, 0x0b, 0x50, 0x01, 0x52, 0x01, 0x32, 0x00,
};

static const struct branch branches[NR] = {
	{ 0x401000, 0x401020 }, { 0x401030, 0x401100 }, { 0x401120, 0x401035 },
	{ 0x401080, 0x40104b }, { 0x401000, 0x401020 }, { 0x401030, 0x401100 },
	{ 0x401120, 0x401035 }, { 0x401000, 0x401020 }, { 0x401030, 0x401100 },
	{ 0x401120, 0x401035 }, { 0x401080, 0x40104b }, { 0x401000, 0x401020 },
};

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
#define PACK_SIZE	52	/* size of HEAD + packed branches, rounded up to a multiple of 4 */

/**
 * struct result - what the reader found in a trace
 * @branches:	expected branches of WHOLE_PID
 * @others:	unexpected branches of WHOLE_PID, and unexpected batches
 * @rest:	branches of OTHER_PID
 * @losses:	losses of an unknown number of branches, by cause
 * @lost:	lost branches, by cause
 * @first:	branches before the first loss
 * @lost_any:	true after the first loss
 * @lost_ts:	time of the first loss
 * @error:	the reader's error message, or an empty string
 */
struct result {
	uint64_t	branches;
	uint64_t	others;
	uint64_t	rest;
	uint64_t	losses[16];
	uint64_t	lost[16];
	uint64_t	first;
	bool		lost_any;
	uint64_t	lost_ts;
	char		error[256];
};

static const char *path;
static uint8_t pages[PAGES][PAGE];
static uint32_t page, used;
static uint8_t chunks[1 << 20];
static uint32_t chunk_at[CHUNKS + 1];
static int test, failed;

static bool chunked;
/* Damages the file before or after the file is opened, at a chunk. */
static void (*spoil)(uint32_t at);
static bool spoil_opened;
static uint32_t spoil_chunk;
static uint64_t time_to = UINT64_MAX;

static void ok(int good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++test, name);
	fflush(stdout);
	failed |= !good;
}

/* ---- Writing ----------------------------------------------------------- */

static void begin(void)
{
	memset(pages, 0, sizeof(pages));
	page = 0;
	used = 16;
}

static void put_entry(const void *entry, uint32_t size)
{
	uint32_t head = size / 4;

	if (used + 4 + size > PAGE) {
		page++;
		used = 16;
	}
	memcpy(pages[page] + used, &head, 4);
	memcpy(pages[page] + used + 4, entry, size);
	used += 4 + size;
	*(uint64_t *)(pages[page] + 8) = used - 16;
}

static struct entry make_pack(uint64_t seq)
{
	struct entry e = { .type = PACK_ID, .pid = WHOLE_PID, .seq = seq, .from = FROM,
			   .to = branches[NR - 1].to, .nr = NR, .format = BTS_PACK_FORMAT };

	memcpy(e.code, code, sizeof(code));
	return e;
}

static void put_pack(uint64_t seq)
{
	struct entry e = make_pack(seq);

	put_entry(&e, PACK_SIZE);
}

/* Write a pack in the first format. */
static void put_pack_0(uint64_t seq)
{
	struct entry e = make_pack(seq);

	memset((char *)&e + HEAD - 1, 0, 2);
	memcpy((char *)&e + HEAD_0, code, sizeof(code));
	put_entry(&e, PACK_SIZE);
}

static void put_branches(void)
{
	for (int i = 0; i < NR; i++) {
		struct entry e = { .type = BRANCH_ID, .pid = WHOLE_PID };

		e.seq = branches[i].from;
		e.from = branches[i].to;
		put_entry(&e, BRANCH_SIZE);
	}
}

/* Write an entry that reports a loss of 7 branches, with cause 3. */
static void put_lost(uint64_t seq)
{
	struct entry e = { .type = LOST_ID, .pid = WHOLE_PID, .seq = 7, .from = seq, .to = 3 };

	put_entry(&e, LOST_SIZE);
}

static void put_lost_0(void)
{
	struct entry e = { .type = LOST_ID, .pid = WHOLE_PID, .seq = 7, .from = 3 };

	put_entry(&e, BRANCH_SIZE);
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

/* Compress CHUNKS chunks of pages, and return the number of bytes. */
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
	chunk_at[CHUNKS] = size;
	return size;
}

static void overwrite(uint32_t at, uint32_t value)
{
	FILE *f = fopen(path, "r+");

	if (!f || fseek(f, DATA + at, SEEK_SET))
		exit(msg_errno("write", path));
	put_number(f, value, 4);
	if (fclose(f))
		exit(msg_errno("write", path));
}

/* Write the trace to the file. @pack is the format of packs, or NULL if the tracer has no packs. */
static void write_file(const char *lost, const char *pack)
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
	/* The trace has one CPU, and no other events, symbols, printk formats or command lines. */
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
			r->lost_ts = b->ts;
		}
		r->lost_any = true;
		r->lost[b->cause % 16] += b->count;
		r->losses[b->cause % 16] += !b->count;
		break;
	default:
		r->others++;
	}
}

static struct result read_file(void)
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

static struct result write_and_read(void)
{
	write_file(lost_text, pack_text);
	return read_file();
}

/* Both whole packs must have been read. Only the damaged entry between the packs may be lost. */
static int is_between(const struct result *r)
{
	return r->branches == 2 * NR && !r->others && r->first == NR &&
	       !r->lost[LOSS_MISSED] && !r->losses[LOSS_MISSED];
}

/* The trace must contain exactly @nr branches, and must report @lost lost branches with cause 3. */
static int is_whole(const struct result *r, uint64_t nr, uint64_t lost)
{
	return r->branches == nr && !r->others && !*r->error && r->lost[3] == lost &&
	       !r->lost[LOSS_MISSED] && !r->losses[LOSS_MISSED];
}

/* ---- The tests --------------------------------------------------------- */

static void test_formats(void)
{
	struct result r;

	begin();
	put_branches();
	put_lost_0();
	put_branches();
	write_file(lost_text_0, NULL);
	r = read_file();
	ok(is_whole(&r, 2 * NR, 7), "a trace of the first tracer, without packs");

	begin();
	put_pack_0(0);
	put_lost(NR);
	put_pack_0(NR + 7);
	write_file(lost_text, pack_text_0);
	r = read_file();
	ok(is_whole(&r, 2 * NR, 7), "packs that do not name their format");

	begin();
	put_pack(0);
	put_lost(NR);
	put_pack(NR + 7);
	r = write_and_read();
	ok(is_whole(&r, 2 * NR, 7), "packs of format 1");

	begin();
	put_pack(0);
	put_branches();
	put_pack(2 * NR);
	r = write_and_read();
	ok(is_whole(&r, 3 * NR, 0), "no branch is missing if unpacked branches are between packs");
}

/* Read an entry between two whole packs. @seq is the sequence number of the second pack. */
static struct result read_between(const struct entry *e, uint32_t size, uint64_t seq)
{
	begin();
	put_pack(0);
	put_entry(e, size);
	put_pack(seq);
	return write_and_read();
}

static void test_foreign(void)
{
	struct entry e = make_pack(NR);
	struct result r;
	int good = 1;

	for (e.format = 2; e.format; e.format++) {
		char words[64];

		snprintf(words, sizeof(words), "CPU 0: a pack written by another tracer: format %u",
			 e.format);
		r = read_between(&e, PACK_SIZE, 2 * NR);
		good &= is_between(&r) && r.lost[LOSS_DAMAGED] == NR && strstr(r.error, words);
	}
	ok(good, "a pack of another format is a loss in its place, and its format is named");
}

/* A whole entry follows each truncated entry. The reader must not mix these two entries. */
static void test_cut(void)
{
	static const struct { uint16_t type; uint32_t size; } entries[] = {
		{ PACK_ID, HEAD }, { BRANCH_ID, BRANCH_SIZE }, { LOST_ID, LOST_SIZE },
	};
	int good = 1;

	for (int i = 0; i < 3; i++) {
		for (uint32_t size = 4; size < entries[i].size; size += 4) {
			struct entry e = make_pack(NR);
			struct result r;

			e.type = entries[i].type;
			r = read_between(&e, size, 1000);
			good &= is_between(&r) && !r.lost[LOSS_DAMAGED] &&
				r.losses[LOSS_DAMAGED] == 1 &&
				strstr(r.error, "a truncated entry");
		}
	}
	ok(good, "an entry that ends before its fields do is a loss in its place");
}

static void test_malformed(void)
{
	struct entry e = make_pack(NR);
	struct result r;
	int good = 1;

	e.nr = 0;
	r = read_between(&e, PACK_SIZE, NR);
	good &= is_between(&r) && r.losses[LOSS_DAMAGED] == 1 &&
		strstr(r.error, "a malformed pack");
	e.nr = BTS_PACK_MAX + 1;
	r = read_between(&e, PACK_SIZE, NR + e.nr);
	good &= is_between(&r) && r.losses[LOSS_DAMAGED] == 1 &&
		strstr(r.error, "a malformed pack");
	ok(good, "a pack with no branches, or with too many branches");
	e = make_pack(NR);
	e.code[2] = 0x79;
	r = read_between(&e, PACK_SIZE, 2 * NR);
	good = r.first == NR + 1 && r.branches + r.others == 2 * NR + 1 &&
	       r.lost[LOSS_DAMAGED] == NR - 1 && strstr(r.error, "a damaged pack");
	ok(good, "a damaged pack gives the branches before the damage, and a loss");
}

static uint64_t seed = 88172645463325252ULL;

/* Marsaglia's xorshift */
static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % n;
}

/* Write an entry with changed bytes and a random size, but with the type and PID unchanged. */
static void put_damaged(void)
{
	static const uint16_t types[] = { BRANCH_ID, LOST_ID, PACK_ID, PACK_ID };
	struct entry e = make_pack(below(1000));

	e.type = types[below(4)];
	e.pid = OTHER_PID;
	for (uint32_t n = below(5); n; n--)
		((uint8_t *)&e)[8 + below(60)] = below(256);
	put_entry(&e, 4 + 4 * below(24));
}

/* A whole entry follows each damaged entry. The reader must read the whole entry. */
static void test_damage(void)
{
	int good = 1;

	for (int done = 0; done < DAMAGED && good; done += DAMAGED_ONCE) {
		struct result r;

		begin();
		for (int i = 0; i < DAMAGED_ONCE; i++) {
			put_damaged();
			put_pack(0);
		}
		r = write_and_read();
		good = r.branches == (uint64_t)DAMAGED_ONCE * NR && !r.others;
	}
	ok(good, "the whole packs between a million damaged entries are read");
}

#define PAGE_PACKS	((PAGE - 16) / (4 + PACK_SIZE))
#define CHUNK_BRANCHES	(CHUNK_PAGES * PAGE_PACKS * NR)

/* Fill all pages of all chunks with packs. The page N has the time 100 * N. */
static void put_packs(void)
{
	begin();
	for (int i = 0; i < CHUNKS * CHUNK_PAGES * PAGE_PACKS; i++)
		put_pack(i * NR);
	for (uint32_t i = 0; i <= page; i++)
		*(uint64_t *)pages[i] = 100 * i;
}

static void spoil_bytes(uint32_t at)
{
	overwrite(at + 8, 0);
}

static void spoil_size(uint32_t at)
{
	overwrite(at, UINT32_MAX);
}

/* The number of chunks becomes too small. */
static void spoil_number(uint32_t at)
{
	(void)at;
	overwrite(0, spoil_chunk);
}

static void cut_before(uint32_t at)
{
	if (truncate(path, DATA + at))
		exit(msg_errno("truncate", path));
}

static void cut_inside(uint32_t at)
{
	cut_before(at + 20);
}

/*
 * Each branch must be read or lost. Chunks after the loss must be read if their offset is known. If
 * a pack follows the loss, its number shows how many branches are lost.
 */
static int is_damage(const struct result *r, bool continues)
{
	uint32_t all = CHUNKS, last = all - 1, before = spoil_chunk;
	bool exact = continues && before && before < last;
	uint64_t whole = before + (continues ? last - before : 0);

	return r->branches == whole * CHUNK_BRANCHES && !r->others && *r->error &&
	       r->first == before * CHUNK_BRANCHES &&
	       r->lost[LOSS_DAMAGED] == (exact ? CHUNK_BRANCHES : 0) &&
	       r->losses[LOSS_DAMAGED] == !exact &&
	       !r->lost[LOSS_MISSED] && !r->losses[LOSS_MISSED];
}

/* Damage each chunk, before and after the file is opened. */
static void test_chunks(void)
{
	static const struct {
		void		(*spoil)(uint32_t at);
		bool		continues;
		const char	*name;
	} cases[] = {
		{ spoil_bytes,	true,	"damaged bytes of a chunk" },
		{ spoil_size,	false,	"a damaged size of a chunk" },
		{ spoil_number,	false,	"a damaged number of chunks" },
		{ cut_before,	false,	"a file that ends before a chunk" },
		{ cut_inside,	false,	"a file that ends in a chunk" },
	};
	char name[100];

	chunked = true;
	put_packs();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int good = 1;

		for (int n = 0; n < 2 * CHUNKS; n++) {
			struct result r;

			spoil = cases[i].spoil;
			spoil_chunk = n / 2;
			spoil_opened = n & 1;
			r = write_and_read();
			good &= is_damage(&r, cases[i].continues);
		}
		snprintf(name, sizeof(name), "%s: all that can be read is read, the rest is a loss",
			 cases[i].name);
		ok(good, name);
	}
	spoil = NULL;
	chunked = false;
}

/* The wanted time ends in a damaged chunk, so the loss must be in the wanted time. */
static void test_damage_in_window(void)
{
	struct result r;

	chunked = true;
	put_packs();
	spoil = spoil_bytes;
	spoil_chunk = 1;
	time_to = 100 * CHUNK_PAGES + 50;
	r = write_and_read();
	ok(is_damage(&r, true) && r.lost_ts <= time_to, "damage at the end of the wanted time");
	time_to = UINT64_MAX;
	spoil = NULL;
	chunked = false;
}

/* Cut off the pages from the page 3 on, which are not compressed. */
static void cut_pages(uint32_t at)
{
	(void)at;
	cut_before(3 * PAGE);
}

static void test_pages(void)
{
	const uint64_t page_branches = PAGE_PACKS * NR;
	struct result r;
	int good = 1;

	spoil = cut_pages;
	for (int n = 0; n < 2; n++) {
		put_packs();
		spoil_opened = n;
		r = write_and_read();
		good &= r.branches == 3 * page_branches && r.first == r.branches && *r.error &&
			r.losses[LOSS_DAMAGED] == 1 && !r.losses[LOSS_MISSED];
	}
	ok(good, "a file that ends in pages without compression ends with a loss");
	spoil = NULL;

	put_packs();
	*(uint64_t *)(pages[1] + 8) = PAGE;
	r = write_and_read();
	good = r.branches == page * page_branches && r.first == page_branches &&
	       r.lost[LOSS_DAMAGED] == page_branches && !r.lost[LOSS_MISSED];
	put_packs();
	*(uint32_t *)(pages[1] + 16 + (PAGE_PACKS - 1) * (4 + PACK_SIZE)) = 28;
	r = write_and_read();
	good &= r.first == 2 * page_branches - NR && r.lost[LOSS_DAMAGED] == NR &&
		!r.lost[LOSS_MISSED];
	ok(good, "what cannot be read of a page is a loss with this cause");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	path = argv[1];
	puts("TAP version 13\n1..17");
	test_formats();
	test_foreign();
	test_cut();
	test_malformed();
	test_damage();
	test_chunks();
	test_damage_in_window();
	test_pages();
	remove(path);
	return failed;
}
