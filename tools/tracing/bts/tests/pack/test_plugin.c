// SPDX-License-Identifier: GPL-2.0
/*
 * Test what libtraceevent with plugin_bts.so prints for packs, and print KTAP
 *
 *	test_plugin PLUGIN
 *
 * The test makes packs with the tracer's pack.c. libtraceevent gets the format of the entries from
 * the test. The printed columns are the columns of trace-cmd report.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>
#include <traceevent/event-parse.h>

#include "bts/pack.h"

#define PACK_ID	20
#define LOST_ID	19
#define BRANCH_ID 18

/* The common fields, which precede the other fields of an event. */
#define COMMON_FIELDS \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n" \
	"\n"

static const char pack_format[] =
	"name: bts_pack\n"
	"ID: 20\n"
	COMMON_FIELDS
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long from;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long to;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned short nr;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 format;\toffset:34;\tsize:1;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:35;\tsize:0;\tsigned:0;\n"
	"\n"
	"print fmt: \"%u branches: %pS -> ... -> %pS\", REC->nr, (void *)REC->from, "
	"(void *)REC->to\n";

/* The format of packs in the first versions of the tracer. */
static const char old_format[] =
	"name: bts_pack\n"
	"ID: 20\n"
	COMMON_FIELDS
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long from;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long to;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 code[];\toffset:36;\tsize:0;\tsigned:0;\n"
	"\n"
	"print fmt: \"%u branches\", REC->nr\n";

static const char branch_format[] =
	"name: bts_branch\n"
	"ID: 18\n"
	COMMON_FIELDS
	"\tfield:unsigned long from;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long to;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"%pS -> %pS\", (void *)REC->from, (void *)REC->to\n";

static const char lost_format[] =
	"name: bts_lost\n"
	"ID: 19\n"
	COMMON_FIELDS
	"\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 seq;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int cause;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"LOST %llu branches\", REC->count\n";

struct entry {
	u16	type;
	u8	flags;
	u8	preempt_count;
	s32	pid;
	union {
		struct {
			u64	seq;
			u64	from;
			u64	to;
			u16	nr;
			u8	format;
			u8	code[260];
		} __attribute__((packed)) pack;
		struct {
			u64	head[3];
			u32	nr;
			u8	code[260];
		} __attribute__((packed)) old;
		struct {
			u64	count;
			u64	seq;
			u32	cause;
		} lost;
	};
} __attribute__((packed));

#define PACK_HEAD	35
#define OLD_HEAD	36
#define BRANCH_SIZE	24
#define LOST_SIZE	28

#define DAMAGED_ENTRIES	100000

static const struct ds_bts_record records[] = {
	{ 0x401000, 0x401020, 0 },
	{ 0x401023, 0xffffffff81000000, 0 },
	{ 0xffffffff81000010, 0xffffffff81000105, 0 },
	{ 0xffffffff81000110, 0x401025, 0 },
};

static const char rows[] =
	"            prog-52    [001]   bts_pack: 0x401000 -> 0x401020\n"
	"            prog-52    [001]   bts_pack: 0x401023 -> hello+0x0\n"
	"            prog-52    [001]   bts_pack: hello+0x10 -> world+0x5\n"
	"            prog-52    [001]   bts_pack: world+0x10 -> 0x401025";

static struct bts_coder coder;
static unsigned int cases, failed;

static void expect(const char *got, const char *want, const char *name)
{
	bool good;

	got = got ?: "(nothing)";
	good = !strcmp(got, want);
	failed += !good;
	if (!good)
		printf("# got:\n%s\n# and not:\n%s\n", got, want);
	printf("%s %u plugin: %s\n", good ? "ok" : "not ok", ++cases, name);
}

static int make_pack(struct entry *entry, u64 seq)
{
	unsigned int nr = sizeof(records) / sizeof(records[0]);

	*entry = (struct entry){ .type = PACK_ID, .pid = 52 };
	bts_coder_begin(&coder, entry->pack.code, sizeof(entry->pack.code));
	if (bts_coder_add_all(&coder, records, nr) != nr)
		abort();
	nr = PACK_HEAD + bts_coder_end(&coder);
	entry->pack.seq = seq;
	entry->pack.from = coder.from;
	entry->pack.to = coder.to;
	entry->pack.nr = coder.nr;
	entry->pack.format = BTS_PACK_FORMAT;
	return (nr + 3) & ~3;
}

/*
 * Return: the lines that trace-cmd report would print. The lines are valid until the next call.
 * Print a copy of the entry, so that the sanitizer can detect accesses beyond the copy's end.
 */
static const char *print(struct tep_handle *tep, struct entry *entry, int size)
{
	static struct trace_seq s;
	struct tep_record record = {
		.data	= malloc(size),
		.size	= size,
		.cpu	= 1,
	};

	if (!record.data)
		abort();
	memcpy(record.data, entry, size);
	if (s.buffer)
		trace_seq_reset(&s);
	else
		trace_seq_init(&s);
	trace_seq_puts(&s, "a line before\n");
	tep_print_event(tep, &s, &record, "%16s-%-5d [%03d]   %s: ", TEP_PRINT_COMM,
			TEP_PRINT_PID, TEP_PRINT_CPU, TEP_PRINT_NAME);
	tep_print_event(tep, &s, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	free(record.data);
	return s.buffer + strlen("a line before\n");
}

static struct tep_handle *make_tep(const char *format)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		abort();
	tep_set_long_size(tep, 8);
	tep_register_comm(tep, "prog", 52);
	tep_register_function(tep, "hello", 0xffffffff81000000, NULL);
	tep_register_function(tep, "world", 0xffffffff81000100, NULL);
	tep_register_function(tep, "end", 0xffffffff81000200, NULL);
	if (tep_parse_event(tep, format, strlen(format), "ftrace") ||
	    tep_parse_event(tep, branch_format, strlen(branch_format), "ftrace") ||
	    tep_parse_event(tep, lost_format, strlen(lost_format), "ftrace"))
		abort();
	return tep;
}

static void test_rows(struct tep_handle *tep)
{
	struct entry entry;
	int size = make_pack(&entry, 1000);

	expect(print(tep, &entry, size), rows, "a row for each branch");
	entry.pack.seq = 0;
	expect(strstr(print(tep, &entry, PACK_HEAD), "DAMAGED"),
	       "DAMAGED: 4 branches of the pack are missing", "a pack without code");
	/* Bytes 0 and 1 are a branch. Byte 2 is invalid, because tokens do not begin with 0x79. */
	entry.pack.code[2] = 0x79;
	expect(strstr(print(tep, &entry, size), "0x401020"), "0x401020\n"
	       "            prog-52    [001]   bts_pack: "
	       "DAMAGED: 3 branches of the pack are missing", "a pack that is damaged");
}

/*
 * Print an entry that is truncated to @size bytes. Return: the rest of the row, from the colon on.
 */
static const char *print_cut(struct tep_handle *tep, u16 type, int size)
{
	struct entry entry;

	make_pack(&entry, 0);
	entry.type = type;
	return strstr(print(tep, &entry, size), ": ");
}

/* The plugin must not read beyond the end of an entry. */
static void test_cut(struct tep_handle *tep)
{
	static const struct { u16 type; int size; } entries[] = {
		{ PACK_ID, PACK_HEAD }, { BRANCH_ID, BRANCH_SIZE }, { LOST_ID, LOST_SIZE },
	};
	static const char want[] = ": DAMAGED: the entry is cut off";
	const char *got = want;

	for (unsigned int i = 0; i < 3; i++)
		for (int size = 8; size < entries[i].size && !strcmp(got, want); size++)
			got = print_cut(tep, entries[i].type, size) ?: "(nothing)";
	expect(got, want, "entries that are cut off");
}

static void test_format(struct tep_handle *tep)
{
	struct entry entry;
	int size = make_pack(&entry, 0);

	entry.pack.format = BTS_PACK_FORMAT + 1;
	expect(strstr(print(tep, &entry, size), "4 branches"),
	       "4 branches, in unknown format 2", "a pack of another format");
}

static u64 seed = 88172645463325252ULL;

/* Marsaglia's xorshift */
static unsigned int below(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 32) % n;
}

/* The sanitizer ends the program if the plugin reads beyond the end of an entry. */
static void test_damage(struct tep_handle *tep)
{
	struct entry entry;

	for (int i = 0; i < DAMAGED_ENTRIES; i++) {
		make_pack(&entry, 0);
		entry.type = BRANCH_ID + below(3);
		for (unsigned int n = below(5); n; n--)
			((u8 *)&entry)[8 + below(56)] = below(256);
		print(tep, &entry, 8 + below(64));
	}
	expect("", "", "damaged entries");
}

/* Check packs that do not contain a format number. */
static void test_old(struct tep_handle *tep)
{
	struct entry entry;
	int size = make_pack(&entry, 1000);

	memmove(entry.old.code, entry.pack.code, size);
	entry.old.nr = coder.nr;
	expect(print(tep, &entry, size + OLD_HEAD - PACK_HEAD), rows,
	       "a pack without a format");
}

static void test_lost(struct tep_handle *tep)
{
	struct entry entry, lost = { .type = LOST_ID, .pid = 52 };
	int size = make_pack(&entry, 2000);
	char *want;

	print(tep, &entry, size);
	entry.pack.seq += 4;
	expect(print(tep, &entry, size), rows, "no branch is missing");
	entry.pack.seq += 4 + 5;
	if (asprintf(&want, "            prog-52    [001]   bts_pack: "
		     "LOST 5 branches (missing in the trace)\n%s", rows) < 0)
		abort();
	expect(print(tep, &entry, size), want, "branches are missing");
	free(want);
	lost.lost.seq = entry.pack.seq + 4;
	lost.lost.count = 7;
	expect(strstr(print(tep, &lost, 28), "bts_lost"), "bts_lost: LOST 7 branches",
	       "a row that reports lost branches");
	entry.pack.seq += 4 + 7;
	expect(print(tep, &entry, size), rows, "a loss that has a row is not reported again");
}

static int misuse(const char *what)
{
	fprintf(stderr, "test_plugin: %s\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	struct tep_handle *tep = make_tep(pack_format), *old = make_tep(old_format);
	int (*loader)(struct tep_handle *tep);
	struct tep_plugin_option *options;
	struct entry entry;
	void *plugin;
	int size;

	if (argc != 2)
		return misuse("test_plugin PLUGIN");
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	if (!plugin)
		return misuse(dlerror());
	loader = dlsym(plugin, TEP_PLUGIN_LOADER_NAME);
	options = dlsym(plugin, TEP_PLUGIN_OPTIONS_NAME);
	if (!loader || !options)
		return misuse("not the plugin");

	/* Print each result immediately, because the sanitizer may end the program later. */
	setlinebuf(stdout);
	puts("KTAP version 1\n1..12");
	size = make_pack(&entry, 0);
	expect(strstr(print(tep, &entry, size), "bts_pack"),
	       "bts_pack: 4 branches: 0x401000 -> ... -> 0x401025",
	       "without the plugin, a pack shows its first and last branch");
	if (loader(tep) || loader(old))
		return misuse("the plugin cannot be loaded");
	test_rows(tep);
	test_old(old);
	test_cut(tep);
	test_format(tep);
	test_damage(tep);
	options[0].set = 1;
	test_lost(tep);
	tep_free(old);
	tep_free(tep);
	return failed ? 1 : 0;
}
