// SPDX-License-Identifier: GPL-2.0
/*
 * Read the branches of a trace one by one, either from the text of `trace` or from the pages of the
 * ring buffer, and merge the branches of all CPUs by time stamp. Reading a million branches from
 * pages takes only seconds, and the result does not depend on how the kernel prints branches.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bts_records.h"
#include "bts/unpack.h"

#define MAX_CPUS	64
#define PAGE_BYTES	4096

/* These values are from include/linux/ring_buffer.h and kernel/trace/ring_buffer.c. */
#define PAGE_HEADER		16
#define PAGE_COMMIT_MASK	0xfffffUL
#define PAGE_MISSED		(1UL << 31)
#define TYPE_DATA_MAX		28
#define TYPE_PADDING		29
#define TYPE_TIME_EXTEND	30
#define TYPE_TIME_STAMP		31

/* The pages of one CPU, which are read record by record. */
struct stream {
	unsigned char *pages;
	size_t n_pages;
	size_t page;
	size_t offset;		/* the offset in the page, or 0 before the page header is read */
	unsigned long long time;
	struct record next;
	bool valid;
	struct bts_pair pack[BTS_PACK_MAX];
	struct bts_pair *branch;	/* the next branch of the pack */
	unsigned int left;
	unsigned long long seq;	/* the sequence number of the next branch */
};

/* struct bts_pack_entry */
struct pack {
	unsigned short type;
	unsigned char flags, preempt_count;
	int pid;
	unsigned long long seq;
	unsigned long from;
	unsigned long to;
	unsigned short nr;
	unsigned char format;
	unsigned char code[];
};

static const char *text_path;	/* file with the trace as text, or NULL to read pages */
static struct stream streams[MAX_CPUS];
static int n_streams;

static int pack_id = -1;
static int field_id = -1, field_from = -1, field_to = -1;

void die(const char *what)
{
	fprintf(stderr, "bts_compare: %s: %s\n", what, strerror(errno));
	exit(2);
}

void bad_input(const char *what, const char *detail)
{
	fprintf(stderr, "bts_compare: %s: %s\n", what, detail);
	exit(1);
}

/* ---- text ------------------------------------------------------------ */

static bool parse_line(const char *line, struct record *record)
{
	int cpu, length = 0;

	return sscanf(line, "%d %d %llu %lx %lx %n", &record->pid, &cpu,
		      &record->time, &record->from, &record->to, &length) == 5 &&
		!line[length];
}

static void each_line(const char *path, record_fn action)
{
	FILE *file = fopen(path, "r");
	struct record record;
	char line[512];

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!parse_line(line, &record))
			bad_input("not a branch", line);
		action(&record);
	}
	fclose(file);
}

/* ---- pages ----------------------------------------------------------- */

static FILE *open_format(const char *tracefs, const char *event)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/events/ftrace/%s/format", tracefs, event);
	file = fopen(path, "r");
	if (!file)
		die(path);
	return file;
}

static void read_pack_id(const char *tracefs)
{
	FILE *file = open_format(tracefs, "bts_pack");
	char line[256];

	while (fgets(line, sizeof(line), file))
		sscanf(line, "ID: %d", &pack_id);
	fclose(file);
}

static void read_format(const char *tracefs)
{
	FILE *file = open_format(tracefs, "bts_branch");
	char line[256], name[64];
	int offset;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "ID: %d", &field_id) == 1)
			continue;
		if (sscanf(line, " field:%*[^;]; offset:%d;", &offset) != 1)
			continue;
		*strchr(line, ';') = '\0';
		if (sscanf(strrchr(line, ' '), " %63s", name) != 1)
			continue;
		if (!strcmp(name, "from"))
			field_from = offset;
		else if (!strcmp(name, "to"))
			field_to = offset;
	}
	fclose(file);
	if (field_id < 0 || field_from < 0 || field_to < 0)
		bad_input("bts_branch/format", "the ID or the field 'from' or 'to' is missing");
}

static bool read_pages(struct stream *stream, const char *tracefs, int cpu)
{
	size_t room = 0;
	char path[512];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", tracefs, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return false;
	for (;;) {
		if (stream->n_pages == room) {
			room = room ? room * 2 : 64;
			stream->pages = realloc(stream->pages, room * PAGE_BYTES);
			if (!stream->pages)
				die("realloc");
		}
		got = read(fd, stream->pages + stream->n_pages * PAGE_BYTES, PAGE_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (got != PAGE_BYTES)
			bad_input(path, "half a page");
		stream->n_pages++;
	}
	if (got < 0 && errno != EAGAIN)
		die(path);
	close(fd);
	return true;
}

/* Decode a pack, and check that no branches are missing before it. */
static void parse_pack(struct stream *stream, const unsigned char *data, size_t length)
{
	static struct bts_decoder decoder;
	size_t head = offsetof(struct pack, code);
	struct pack pack;

	if (length < head)
		bad_input("pack", "cut off");
	memcpy(&pack, data, head);
	if (pack.format != BTS_PACK_FORMAT)
		bad_input("pack", "of another format");
	if (stream->seq && pack.seq != stream->seq)
		bad_input("pack", "branches are missing before it");
	stream->seq = pack.seq + pack.nr;
	bts_decoder_begin(&decoder, data + head, length - head, pack.from, pack.nr);
	stream->left = bts_decoder_rest(&decoder, stream->pack, BTS_PACK_MAX);
	stream->branch = stream->pack;
	if (bts_decoder_damaged(&decoder) || !stream->left ||
	    pack.from != stream->pack[0].from ||
	    pack.to != stream->pack[stream->left - 1].to)
		bad_input("pack", "damaged");
	stream->next.pid = pack.pid;
	stream->next.time = stream->time;
}

/* Store the next branch of the pack in stream->next. Return: false if no branch is left. */
static bool next_of_pack(struct stream *stream)
{
	if (!stream->left)
		return false;
	stream->next.from = stream->branch->from;
	stream->next.to = stream->branch->to;
	stream->branch++;
	stream->left--;
	stream->valid = true;
	return true;
}

static void parse_record(struct stream *stream, const unsigned char *data,
			 size_t length)
{
	unsigned short id;

	memcpy(&id, data, sizeof(id));
	if (id == pack_id) {
		parse_pack(stream, data, length);
		next_of_pack(stream);
		return;
	}
	if (id != field_id || length < (size_t)field_to + sizeof(stream->next.to)) {
		printf("event %d in the trace\n", id);
		bad_input("not a branch", "trace_pipe_raw");
	}
	memcpy(&stream->next.pid, data + 4, sizeof(stream->next.pid));
	memcpy(&stream->next.from, data + field_from, sizeof(stream->next.from));
	memcpy(&stream->next.to, data + field_to, sizeof(stream->next.to));
	stream->next.time = stream->time;
	stream->valid = true;
}

/*
 * Handle the event at offset stream->offset in the page. Return: the event's size, or 0 at the end
 * of the page.
 */
static size_t one_event(struct stream *stream, const unsigned char *event)
{
	unsigned int header, array;
	unsigned long long delta;
	unsigned int type;

	memcpy(&header, event, sizeof(header));
	memcpy(&array, event + 4, sizeof(array));
	type = header & 31;
	delta = header >> 5;

	switch (type) {
	case TYPE_PADDING:
		stream->time += delta;
		return delta ? array + 4 : 0;
	case TYPE_TIME_EXTEND:
		stream->time += delta + ((unsigned long long)array << 27);
		return 8;
	case TYPE_TIME_STAMP:
		stream->time = delta + ((unsigned long long)array << 27);
		return 8;
	case 0:
		stream->time += delta;
		parse_record(stream, event + 8, array - 4);
		return array + 4;
	default:
		stream->time += delta;
		parse_record(stream, event + 4, type * 4);
		return type * 4 + 4;
	}
}

static void page_header(struct stream *stream, const unsigned char *page,
			unsigned long *commit)
{
	memcpy(commit, page + 8, sizeof(*commit));
	if (stream->offset)
		return;
	memcpy(&stream->time, page, sizeof(stream->time));
	if (*commit & PAGE_MISSED)
		bad_input("trace_pipe_raw", "events were overwritten");
	stream->offset = PAGE_HEADER;
}

/* Read the next record of the stream's CPU into stream->next. */
static void advance(struct stream *stream)
{
	unsigned char *page;
	unsigned long commit;
	size_t size;

	stream->valid = false;
	if (next_of_pack(stream))
		return;
	while (!stream->valid && stream->page < stream->n_pages) {
		page = stream->pages + stream->page * PAGE_BYTES;
		page_header(stream, page, &commit);
		size = 0;
		if (stream->offset < PAGE_HEADER + (commit & PAGE_COMMIT_MASK))
			size = one_event(stream, page + stream->offset);
		stream->offset += size;
		if (!size) {
			stream->page++;
			stream->offset = 0;
		}
	}
}

static void each_merged(record_fn action)
{
	struct stream *first;
	int i;

	for (i = 0; i < n_streams; i++) {
		streams[i].page = 0;
		streams[i].offset = 0;
		streams[i].seq = 0;
		advance(&streams[i]);
	}
	for (;;) {
		first = NULL;
		for (i = 0; i < n_streams; i++)
			if (streams[i].valid &&
			    (!first || streams[i].next.time < first->next.time))
				first = &streams[i];
		if (!first)
			return;
		action(&first->next);
		advance(first);
	}
}

void open_text(const char *path)
{
	text_path = path;
}

void open_pages(const char *tracefs)
{
	read_format(tracefs);
	read_pack_id(tracefs);
	while (n_streams < MAX_CPUS && read_pages(&streams[n_streams], tracefs, n_streams))
		n_streams++;
	if (!n_streams)
		die(tracefs);
}

void each_record(record_fn action)
{
	if (text_path)
		each_line(text_path, action);
	else
		each_merged(action);
}
