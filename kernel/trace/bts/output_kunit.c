// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of output.c: print entries of a persistent ring buffer that is damaged or was
 * written by another kernel
 *
 * To make an entry too short, a test reduces iter.ent_size, but the rest of the entry stays in
 * memory. If output.c reads too far, it prints unexpected branches, so the test fails even without
 * KASAN.
 */

#include <kunit/test.h>
#include <linux/ring_buffer.h>

#include "bts.h"
#include "unpack.h"
#include "../trace_output.h"

/* The 12 encoded branches of the example in Documentation/trace/bts-internals.rst. */
static const u8 output_code[] = {
	0x80, 0x60, 0x90, 0x98, 0xd0, 0xa0, 0xd0, 0xcb, 0x0b, 0x50, 0x01, 0x52, 0x01, 0x32, 0x00,
};

#define OUTPUT_FROM	0x401000
#define OUTPUT_NR	12
#define OUTPUT_SIZE	ALIGN(BTS_PACK_HEAD + sizeof(output_code), 4)

#define OUTPUT_UNREADABLE	"LOST branches (entry cannot be read)\n"

/**
 * struct output_test - the data of a test case
 * @iter:	the iterator
 * @tr:		the iterator's instance, which has only a ring buffer
 * @seed:	state of the random number generator
 * @entry:	the entry
 * @room:	memory for the entry and for the bytes after it
 */
struct output_test {
	struct trace_iterator	iter;
	struct trace_array	tr;
	u64			seed;
	union {
		union bts_entry	entry;
		u8		room[128];
	};
};

static int output_test_init(struct kunit *test)
{
	struct output_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->seed = 88172645463325252ULL;
	t->tr.array_buffer.buffer = ring_buffer_alloc(PAGE_SIZE, 0);
	KUNIT_ASSERT_NOT_NULL(test, t->tr.array_buffer.buffer);
	t->iter.tr = &t->tr;
	t->iter.array_buffer = &t->tr.array_buffer;
	t->iter.ent = &t->entry.ent;
	return 0;
}

static void output_test_exit(struct kunit *test)
{
	struct output_test *t = test->priv;

	kvfree(t->iter.rows);
	ring_buffer_free(t->tr.array_buffer.buffer);
}

/* Begin the next entry. */
static void output_begin(struct output_test *t, int type, unsigned int size)
{
	memset(t->room, 0, sizeof(t->room));
	t->iter.ent->type = type;
	t->iter.ent_size = size;
	t->iter.ts++;
}

/* Make the next entry a whole pack, whose first branch has the sequence number @seq. */
static void output_pack(struct output_test *t, u64 seq)
{
	struct bts_pack_entry *pack = &t->entry.pack;

	output_begin(t, TRACE_BTS_PACK, OUTPUT_SIZE);
	pack->seq = seq;
	pack->from = OUTPUT_FROM;
	pack->nr = OUTPUT_NR;
	pack->format = BTS_PACK_FORMAT;
	memcpy(pack->code, output_code, sizeof(output_code));
}

/* Make the next entry a loss of @count branches, after @seq other branches. */
static void output_loss(struct output_test *t, u64 seq, u64 count)
{
	struct bts_lost_entry *lost = &t->entry.lost;

	output_begin(t, TRACE_BTS_LOST, sizeof(*lost));
	lost->seq = seq;
	lost->count = count;
	lost->cause = BTS_LOST_RING_BUFFER;
}

static struct trace_event *output_event(struct output_test *t)
{
	return ftrace_find_event(t->iter.ent->type);
}

static unsigned int output_rows(struct output_test *t)
{
	struct trace_event *event = output_event(t);

	return event->funcs->rows ? event->funcs->rows(&t->iter) : 1;
}

/* Print a row. Return: the row's text, which is valid until the next call. */
static const char *output_row(struct output_test *t, unsigned int row, trace_print_func print)
{
	struct trace_seq *s = &t->iter.seq;

	trace_seq_init(s);
	t->iter.row = row;
	print(&t->iter, 0, output_event(t));
	s->buffer[trace_seq_used(s)] = '\0';
	return s->buffer;
}

static const char *output_text(struct output_test *t, unsigned int row)
{
	return output_row(t, row, output_event(t)->funcs->trace);
}

/* In each output format, expect a single row, which shows a loss of unknown size. */
static void output_expect_unreadable(struct kunit *test)
{
	const struct bts_pair none = { 0, 0 };
	struct output_test *t = test->priv;
	struct trace_event_functions *funcs = output_event(t)->funcs;

	KUNIT_EXPECT_EQ(test, output_rows(t), 1);
	KUNIT_EXPECT_STREQ(test, output_text(t, 0), OUTPUT_UNREADABLE);
	KUNIT_EXPECT_STREQ(test, output_row(t, 0, funcs->raw), "LOST 0 8\n");
	KUNIT_EXPECT_STREQ(test, output_row(t, 0, funcs->hex),
			   "0000000000000000 0000000000000000 ");
	KUNIT_EXPECT_MEMEQ(test, output_row(t, 0, funcs->binary), &none, sizeof(none));
}

/* An entry that is too short for its fields is printed as a loss of unknown size. */
static void output_test_short(struct kunit *test)
{
	static const struct { unsigned int type, head; } entries[] = {
		{ TRACE_BTS_PACK, BTS_PACK_HEAD },
		{ TRACE_BTS, sizeof(struct bts_branch_entry) },
		{ TRACE_BTS_LOST, sizeof(struct bts_lost_entry) },
	};
	struct output_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		output_pack(t, 0);
		t->entry.ent.type = entries[i].type;
		for (t->iter.ent_size = 0; t->iter.ent_size < entries[i].head; t->iter.ent_size++)
			output_expect_unreadable(test);
	}
}

/* A pack that is longer than the maximum is printed as a loss of unknown size. */
static void output_test_long(struct kunit *test)
{
	static const int sizes[] = { BTS_ENTRY_MAX + 1, 1 << 20, INT_MAX, INT_MIN, -1 };
	struct output_test *t = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		output_pack(t, 0);
		t->iter.ent_size = sizes[i];
		output_expect_unreadable(test);
	}
}

/* If a pack is cut, its rows are the branches before the cut, and a loss. */
static void output_test_cut(struct kunit *test)
{
	struct output_test *t = test->priv;
	unsigned int cut, n, before = 0;
	char want[64];

	for (cut = 0; cut < sizeof(output_code); cut++) {
		output_pack(t, 0);
		t->iter.ent_size = BTS_PACK_HEAD + cut;
		n = output_rows(t) - 1;
		KUNIT_ASSERT_LT(test, n, OUTPUT_NR);
		KUNIT_EXPECT_GE(test, n, before);
		if (n)
			KUNIT_EXPECT_STREQ(test, output_text(t, 0), "0x401000 -> 0x401020\n");
		snprintf(want, sizeof(want), "LOST %u branches (entry cannot be read)\n",
			 OUTPUT_NR - n);
		KUNIT_EXPECT_STREQ(test, output_text(t, n), want);
		before = n;
	}
	output_pack(t, 0);
	KUNIT_EXPECT_EQ(test, output_rows(t), OUTPUT_NR);
	KUNIT_EXPECT_STREQ(test, output_text(t, OUTPUT_NR - 1), "0x401000 -> 0x401020\n");
}

/* If a pack claims to have no branches, or more than BTS_PACK_MAX, the trace shows a loss. */
static void output_test_nr(struct kunit *test)
{
	struct output_test *t = test->priv;

	output_pack(t, 0);
	t->entry.pack.nr = 0;
	KUNIT_EXPECT_LE(test, output_rows(t), 1);
	KUNIT_EXPECT_STREQ(test, output_text(t, 0), OUTPUT_UNREADABLE);
	output_pack(t, 0);
	t->entry.pack.nr = U16_MAX;
	KUNIT_EXPECT_LE(test, output_rows(t), BTS_PACK_MAX + 1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(output_text(t, output_rows(t) - 1),
					   " branches (entry cannot be read)\n"));
}

/* A pack in an unsupported format is not decoded, but its branches are counted as lost. */
static void output_test_format(struct kunit *test)
{
	static const u8 formats[] = { 0, BTS_PACK_FORMAT + 1, 255 };
	struct output_test *t = test->priv;
	char want[80];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		output_pack(t, i * OUTPUT_NR);
		t->entry.pack.format = formats[i];
		snprintf(want, sizeof(want),
			 "LOST 12 branches (in unknown format %u)\n", formats[i]);
		KUNIT_EXPECT_EQ(test, output_rows(t), 1);
		KUNIT_EXPECT_STREQ(test, output_text(t, 0), want);
		KUNIT_EXPECT_STREQ(test, output_row(t, 0, output_event(t)->funcs->raw),
				   "LOST 12 8\n");
	}
	output_pack(t, i * OUTPUT_NR + 5);
	KUNIT_EXPECT_EQ(test, output_rows(t), OUTPUT_NR + 1);
	KUNIT_EXPECT_STREQ(test, output_text(t, 0),
			   "LOST 5 branches (ring buffer overwritten)\n");
}

/* After an unreadable entry, the next pack may have any sequence number. */
static void output_test_number(struct kunit *test)
{
	struct output_test *t = test->priv;

	output_pack(t, 0);
	output_text(t, OUTPUT_NR - 1);
	output_pack(t, 0);
	t->iter.ent_size = BTS_PACK_HEAD - 1;
	output_expect_unreadable(test);
	output_pack(t, 1000);
	KUNIT_EXPECT_EQ(test, output_rows(t), OUTPUT_NR);
	KUNIT_EXPECT_STREQ(test, output_text(t, 0), "0x401000 -> 0x401020\n");
}

/* Use a ring buffer in which entries of this CPU have been overwritten. */
static void output_overwrite(struct kunit *test)
{
	struct output_test *t = test->priv;
	struct trace_buffer *buffer = ring_buffer_alloc(PAGE_SIZE, RB_FL_OVERWRITE);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	ring_buffer_free(t->tr.array_buffer.buffer);
	t->tr.array_buffer.buffer = buffer;
	migrate_disable();
	t->iter.cpu = smp_processor_id();
	for (i = 0; i < 1000 && !ring_buffer_overrun_cpu(buffer, t->iter.cpu); i++)
		ring_buffer_write(buffer, sizeof(t->room), t->room);
	migrate_enable();
	KUNIT_ASSERT_GT(test, ring_buffer_overrun_cpu(buffer, t->iter.cpu), 0);
}

/* The first row reports the overwritten branches, even if the first remaining entry is a loss. */
static void output_test_overwritten(struct kunit *test)
{
	struct output_test *t = test->priv;

	output_overwrite(test);
	output_loss(t, 1000, 5);
	KUNIT_EXPECT_EQ(test, output_rows(t), 2);
	KUNIT_EXPECT_STREQ(test, output_text(t, 0),
			   "LOST 1000 branches (ring buffer overwritten)\n");
	KUNIT_EXPECT_STREQ(test, output_text(t, 1), "LOST 5 branches (ring buffer full)\n");
	output_pack(t, 1005);
	KUNIT_EXPECT_EQ(test, output_rows(t), OUTPUT_NR);
	KUNIT_EXPECT_STREQ(test, output_text(t, 0), "0x401000 -> 0x401020\n");
}

/* Marsaglia's xorshift */
static unsigned int output_below(struct output_test *t, unsigned int n)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 7;
	t->seed ^= t->seed << 17;
	return (t->seed >> 32) % n;
}

/* Change the type, the size and some bytes of an entry. */
static void output_damage(struct output_test *t)
{
	static const u16 types[] = { TRACE_BTS, TRACE_BTS_LOST, TRACE_BTS_PACK, TRACE_BTS_PACK };
	unsigned int i;

	output_pack(t, output_below(t, 1000));
	t->entry.ent.type = types[output_below(t, ARRAY_SIZE(types))];
	t->iter.ent_size = sizeof(struct trace_entry) + 4 * output_below(t, 25);
	for (i = output_below(t, 5); i; i--)
		t->room[sizeof(struct trace_entry) + output_below(t, 64)] = output_below(t, 256);
}

/*
 * Print 100,000 damaged entries. Each entry is allocated with its exact size, so that KASAN
 * reports any read beyond its end.
 */
static void output_test_damage(struct kunit *test)
{
	struct output_test *t = test->priv;
	unsigned int i, rows;
	void *entry;

	for (i = 0; i < 100000; i++) {
		output_damage(t);
		entry = kmemdup(t->room, t->iter.ent_size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		t->iter.ent = entry;
		rows = output_rows(t);
		output_row(t, 0, output_event(t)->funcs->raw);
		if (rows)
			output_row(t, rows - 1, output_event(t)->funcs->raw);
		t->iter.ent = &t->entry.ent;
		kfree(entry);
		KUNIT_ASSERT_LE(test, rows, BTS_PACK_MAX + 2);
	}
}

/* The number and the text of a cause must not change, because traces and tools use both. */
static void output_test_causes(struct kunit *test)
{
	static const char *const causes[] = {
		"ring buffer full", "DS buffer full", "DS buffer wrapped", "ring buffer paused",
		"BTS switched off", "recording stops", "BTS does not work",
		"ring buffer overwritten", "entry cannot be read", "found when switched on",
		"ring buffer full", "task cannot wait",
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(causes), BTS_LOST_CAUSES);
	for (i = 0; i < BTS_LOST_CAUSES; i++)
		KUNIT_EXPECT_STREQ(test, bts_causes[i].text, causes[i]);
	KUNIT_EXPECT_EQ(test, BTS_LOST_RING_BUFFER, 0);
	KUNIT_EXPECT_EQ(test, BTS_LOST_ROWS, 10);
}

static struct trace_event_call *output_find_call(const char *name)
{
	struct trace_event_call *call;

	guard(mutex)(&event_mutex);

	list_for_each_entry(call, &ftrace_events, list) {
		if (!strcmp(trace_event_name(call), name))
			return call;
	}
	return NULL;
}

/* If a damaged bts_map entry has a huge build ID size, only BUILD_ID_SIZE_MAX bytes are shown. */
static void output_test_map(struct kunit *test)
{
	static const char wanted[] =
		" build_id=0000000000000000000000000000000000000000 path=";
	struct trace_event_call *call = output_find_call("bts_map");
	struct ftrace_event_field *size, *path;
	struct output_test *t = test->priv;

	if (!call)
		kunit_skip(test, "no event bts_map");
	size = trace_find_event_field(call, "build_id_size");
	path = trace_find_event_field(call, "path");
	KUNIT_ASSERT_NOT_NULL(test, size);
	KUNIT_ASSERT_NOT_NULL(test, path);
	memset(t->room, 0, sizeof(t->room));
	t->entry.ent.type = call->event.type;
	t->iter.ent_size = sizeof(t->room);
	*(u32 *)(t->room + size->offset) = 5000;
	*(u32 *)(t->room + path->offset) = 1 << 16 | (sizeof(t->room) - 1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(output_text(t, 0), wanted));
}

/* If printing an entry has removed it from the ring buffer, the entry still counts as one row. */
static void output_test_consumed(struct kunit *test)
{
	struct output_test *t = test->priv;

	t->iter.ent = NULL;
	t->iter.ent_type = TRACE_GRAPH_ENT;
	KUNIT_EXPECT_EQ(test, trace_rows(&t->iter), 1);
	KUNIT_EXPECT_FALSE(test, trace_next_row(&t->iter));
}

static struct kunit_case output_test_cases[] = {
	KUNIT_CASE(output_test_short),
	KUNIT_CASE(output_test_long),
	KUNIT_CASE(output_test_cut),
	KUNIT_CASE(output_test_nr),
	KUNIT_CASE(output_test_format),
	KUNIT_CASE(output_test_number),
	KUNIT_CASE(output_test_overwritten),
	KUNIT_CASE(output_test_damage),
	KUNIT_CASE(output_test_causes),
	KUNIT_CASE(output_test_map),
	KUNIT_CASE(output_test_consumed),
	{ }
};

static struct kunit_suite output_test_suite = {
	.name		= "trace_bts_output",
	.init		= output_test_init,
	.exit		= output_test_exit,
	.test_cases	= output_test_cases,
};

kunit_test_suite(output_test_suite);
