// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read perf.data, version 2 (tools/perf/Documentation/perf.data-file-format.txt).
 *
 *	header | attributes of the events | records ... | features
 *
 * In each round, perf writes the contents of all ring buffers and then a FINISHED_ROUND record.
 * Records of round 3 may be older than records of round 2, but not older than the newest record of
 * round 1. So after round 2, bts can sort and deliver all records up to that newest record.
 *
 * With intel_bts, the branches are in AUXTRACE records. Their times are in AUX records: the kernel
 * delivers the branches in parts, and writes an AUX record with the time of each part. If the file
 * contains no AUX records, bts uses the time at which perf wrote each AUXTRACE record.
 *
 * Every number in the file is checked before use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/bytes.h"
#include "lib/cpus.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "pages.h"
#include "perf_aux.h"
#include "perf_data.h"

#define MAGIC		"PERFILE2"
#define ATTR_LEAST	PERF_ATTR_SIZE_VER0
#define ATTRS_MAX	1024
#define TEXT_MAX	65536

/* The types of the records that the perf command adds. Other records come from the kernel. */
enum {
	RECORD_USER	= 64,
	FINISHED_ROUND	= 68,
	AUXTRACE_INFO	= 70,
	AUXTRACE	= 71,
	COMPRESSED	= 81,
};

/* Feature numbers. */
enum {
	FEATURE_HOSTNAME	= 3,
	FEATURE_OSRELEASE	= 4,
	FEATURE_CPUDESC		= 8,
	FEATURE_CMDLINE		= 11,
	FEATURES		= 256,
};

#define AUXTRACE_INTEL_BTS	2

/* An AUXTRACE_INFO record, up to the last field that bts needs. */
struct auxtrace_info {
	struct perf_event_header	header;
	uint32_t			type, reserved;
	uint64_t			pmu_type, time_shift, time_mult, time_zero;
};

struct section {
	uint64_t	offset, size;
};

struct header {
	char		magic[8];
	uint64_t	size, attr_size;
	struct section	attrs, data, event_types;
	uint64_t	features[FEATURES / 64];
};

struct attr {
	struct perf_format	format;
	uint64_t		*ids;
	size_t			nr_ids;
	bool			kernel;
};

/* An AUXTRACE record that waits for older records. Its part of the AUX area is aux.parts[@part]. */
struct waiting_part {
	struct perf_event_header	header;
	uint64_t			part;
};

/* A record that waits until older records are delivered. @at is its offset in perf_data.bytes. */
struct waiting {
	uint64_t	time;
	size_t		at;
};

/**
 * struct perf_data - an open perf.data
 * @ids_size:	the total size of the IDs of all events
 * @bytes:	the records that wait until all older records are delivered
 * @list:	the time of each record in @bytes, and its position there
 * @flush:	the time of the newest record in all rounds before the current round
 * @youngest:	the time of the newest record so far
 * @oldest:	the time of the oldest record so far
 * @outs:	the output of each CPU, opened at the first row
 * @untimed:	the file lacks the AUX records, which would contain the branches' times
 * @damaged:	the file contains branches that cannot be read
 */
struct perf_data {
	const char	*path;
	FILE		*file;
	uint64_t	size;
	struct header	header;
	struct attr	*attrs;
	size_t		nr_attrs;
	uint64_t	ids_size;
	bool		intel_bts;
	struct bytes	bytes;
	struct waiting	*list;
	size_t		nr, room;
	uint64_t	flush, youngest, oldest;
	struct perf_out	*outs;
	size_t		nr_outs;
	struct perf_aux	aux;
	bool		untimed, damaged;
};

/* --- The file ------------------------------------------------------------------------- */

static int damaged(struct perf_data *d, const char *what)
{
	d->damaged = true;
	msg_error("read", d->path, "offset %#llx: %s", (unsigned long long)ftello(d->file), what);
	return -1;
}

static bool read_at(struct perf_data *d, uint64_t offset, void *to, size_t size)
{
	return offset <= d->size && size <= d->size - offset &&
	       !fseeko(d->file, offset, SEEK_SET) && fread(to, size, 1, d->file) == 1;
}

static bool is_branches(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE &&
	       attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS && !attr->freq &&
	       attr->sample_period == 1 &&
	       (attr->sample_type & PERF_BRANCH_SAMPLE) == PERF_BRANCH_SAMPLE;
}

static int read_attr(struct perf_data *d, uint64_t offset, struct attr *to)
{
	uint64_t size = d->header.attr_size - sizeof(struct section);
	struct perf_event_attr attr = {};
	struct section ids;

	if (!read_at(d, offset, &attr, size < sizeof(attr) ? size : sizeof(attr)) ||
	    !read_at(d, offset + size, &ids, sizeof(ids)))
		return damaged(d, "the file is truncated within the attributes of the events");
	to->format = (struct perf_format) {
		.sample_type = attr.sample_type, .sample_id_all = attr.sample_id_all,
		.branches = is_branches(&attr),
	};
	to->kernel = attr.type != PERF_TYPE_SOFTWARE && !attr.exclude_kernel;
	/* Each event has its own IDs. Reject a file that is too small for the IDs of all events. */
	if (ids.size > d->size - d->ids_size || ids.offset > d->size - ids.size)
		return damaged(d, "the IDs of the events are outside the file");
	d->ids_size += ids.size;
	to->nr_ids = ids.size / sizeof(uint64_t);
	to->ids = mem_zalloc(to->nr_ids + 1, sizeof(uint64_t));
	if (to->nr_ids && !read_at(d, ids.offset, to->ids, to->nr_ids * sizeof(uint64_t)))
		return damaged(d, "the file is truncated within the IDs of the events");
	return 0;
}

static int read_attrs(struct perf_data *d)
{
	const struct header *h = &d->header;
	size_t nr;

	if (h->attr_size < ATTR_LEAST + sizeof(struct section) || h->attr_size > TEXT_MAX ||
	    h->attrs.size / h->attr_size > ATTRS_MAX)
		return damaged(d, "the attributes of the events are damaged");
	nr = h->attrs.size / h->attr_size;
	d->attrs = mem_zalloc(nr + 1, sizeof(*d->attrs));
	for (; d->nr_attrs < nr; d->nr_attrs++)
		if (read_attr(d, h->attrs.offset + d->nr_attrs * h->attr_size,
			      &d->attrs[d->nr_attrs]))
			return -1;
	return nr ? 0 : damaged(d, "the file contains no events");
}

static uint64_t end_of_records(const struct perf_data *d)
{
	uint64_t end = d->header.data.offset + d->header.data.size;

	/* If perf was killed (data.size is 0), or @end is beyond the file, read the whole file. */
	return d->header.data.size && end <= d->size ? end : d->size;
}

static void read_clock(struct perf_data *d, uint64_t at)
{
	struct auxtrace_info info;

	if (read_at(d, at, &info, sizeof(info)) && info.header.size >= sizeof(info) &&
	    info.time_shift < 64)
		d->aux.clock = (struct perf_aux_clock) {
			.shift = info.time_shift, .mult = info.time_mult, .zero = info.time_zero,
		};
}

/* Report whether, according to the AUXTRACE_INFO record, the AUX data is from intel_bts. */
static bool find_intel_bts(struct perf_data *d)
{
	uint64_t at = d->header.data.offset;
	struct {
		struct perf_event_header	header;
		uint32_t			type;
	} record;

	while (read_at(d, at, &record, sizeof(record)) &&
	       record.header.size >= sizeof(record.header)) {
		if (record.header.type == AUXTRACE_INFO) {
			read_clock(d, at);
			return record.type == AUXTRACE_INTEL_BTS;
		}
		/* AUXTRACE_INFO never follows these two types of records, so end the search. */
		if (record.header.type == AUXTRACE || record.header.type == FINISHED_ROUND)
			return false;
		at += record.header.size;
	}
	return false;
}

static bool has_aux_records(struct perf_data *d)
{
	uint64_t at = d->header.data.offset, end = end_of_records(d);
	struct {
		struct perf_event_header	header;
		uint64_t			data;	/* of AUXTRACE */
	} record;

	while (at < end && read_at(d, at, &record, sizeof(record)) &&
	       record.header.size >= sizeof(record.header)) {
		if (record.header.type == PERF_RECORD_AUX)
			return true;
		at += record.header.size;
		if (record.header.type == AUXTRACE)
			at += record.data < end ? record.data : end;
	}
	return false;
}

static bool has_branches(const struct perf_data *d)
{
	for (size_t i = 0; i < d->nr_attrs; i++)
		if (d->attrs[i].format.branches)
			return true;
	return d->intel_bts;
}

struct perf_data *perf_data_open(const char *path)
{
	struct perf_data *d = mem_zalloc(1, sizeof(*d));
	struct stat st;

	d->path = path;
	d->file = fopen(path, "re");
	if (!d->file || fstat(fileno(d->file), &st)) {
		msg_errno("read", path);
		goto fail;
	}
	d->size = S_ISREG(st.st_mode) ? st.st_size : 0;
	if (!read_at(d, 0, &d->header, sizeof(d->header)) ||
	    memcmp(d->header.magic, MAGIC, sizeof(d->header.magic))) {
		msg_error("read", path, "not a perf.data file");
		goto fail;
	}
	if (read_attrs(d))
		goto fail;
	d->intel_bts = find_intel_bts(d);
	d->untimed = d->intel_bts && !has_aux_records(d);
	if (has_branches(d))
		return d;
	msg_error("read", path, "no branches; record them with perf record -e branches:u -c 1 -d");
fail:
	perf_data_close(d);
	return NULL;
}

void perf_data_close(struct perf_data *d)
{
	if (d->file)
		fclose(d->file);
	for (size_t i = 0; d->attrs && i <= d->nr_attrs; i++)
		free(d->attrs[i].ids);
	perf_aux_free(&d->aux);
	bytes_free(&d->bytes);
	free(d->attrs);
	free(d->list);
	free(d->outs);
	free(d);
}

bool perf_data_is_intel_bts(const struct perf_data *d)
{
	return d->intel_bts;
}

bool perf_data_is_damaged(const struct perf_data *d)
{
	return d->damaged;
}

bool perf_data_has_kernel_side(const struct perf_data *d)
{
	for (size_t i = 0; i < d->nr_attrs; i++)
		if (d->intel_bts && d->attrs[i].kernel)
			return true;
	return false;
}

/* --- Features ------------------------------------------------------------------------- */

/* Set @to to the position of a feature. Return false if the file does not contain the feature. */
static bool find_feature(struct perf_data *d, int feature, struct section *to)
{
	uint64_t at = d->header.data.offset + d->header.data.size;

	if (!(d->header.features[feature / 64] >> feature % 64 & 1))
		return false;
	for (int i = 0; i < feature; i++)
		if (d->header.features[i / 64] >> i % 64 & 1)
			at += sizeof(*to);
	return read_at(d, at, to, sizeof(*to));
}

/* Read a length and a string. Return the string, which the caller frees, or NULL on failure. */
static char *read_string(struct perf_data *d, uint64_t *at)
{
	uint32_t length;
	char *text;

	if (!read_at(d, *at, &length, sizeof(length)) || length > TEXT_MAX)
		return NULL;
	text = mem_zalloc(length + 1, 1);
	*at += sizeof(length) + length;
	if (!length || read_at(d, *at - length, text, length))
		return text;
	free(text);
	return NULL;
}

static void add_feature(struct perf_data *d, struct bytes *text, int feature, const char *key)
{
	struct section section;
	char *value, *line;

	if (!find_feature(d, feature, &section))
		return;
	value = read_string(d, &section.offset);
	if (!value)
		return;
	line = mem_format("%s: %.*s\n", key, (int)strcspn(value, "\n"), value);
	bytes_add(text, line, strlen(line));
	free(line);
	free(value);
}

bool perf_data_of_this_kernel(struct perf_data *d)
{
	struct section section;
	struct utsname uts;
	char *release;
	bool same;

	if (!d->intel_bts || !find_feature(d, FEATURE_OSRELEASE, &section))
		return false;
	uname(&uts);
	release = read_string(d, &section.offset);
	same = release && !strcmp(release, uts.release);
	free(release);
	return same;
}

static void add_command(struct perf_data *d, struct bytes *text)
{
	struct section section;
	uint32_t nr;
	char *word;

	if (!find_feature(d, FEATURE_CMDLINE, &section) ||
	    !read_at(d, section.offset, &nr, sizeof(nr)))
		return;
	section.offset += sizeof(nr);
	bytes_add(text, "command:", strlen("command:"));
	for (; nr && (word = read_string(d, &section.offset)); nr--) {
		bytes_add8(text, ' ');
		bytes_add(text, word, strcspn(word, "\n"));
		free(word);
	}
	bytes_add8(text, '\n');
}

char *perf_data_describe(struct perf_data *d)
{
	struct bytes text = {};
	char date[64], *line;
	struct stat st;
	time_t began = 0;

	if (!fstat(fileno(d->file), &st))
		began = st.st_mtime - (d->youngest - d->oldest) / 1000000000;
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", localtime(&began));
	line = mem_format("tool: bts " VERSION ", bts import\ndate: %s\nseconds: %.3f\n", date,
			  (d->youngest - d->oldest) / 1e9);
	bytes_add(&text, line, strlen(line));
	free(line);
	add_feature(d, &text, FEATURE_HOSTNAME, "host");
	add_feature(d, &text, FEATURE_OSRELEASE, "kernel");
	add_feature(d, &text, FEATURE_CPUDESC, "cpu");
	add_command(d, &text);
	bytes_add8(&text, 0);
	return text.data;
}

/* --- Records -------------------------------------------------------------------------- */

/*
 * Return the offset of the event ID in a record. With PERF_SAMPLE_IDENTIFIER, the ID is the first
 * field of a sample, but the last field of any other record. If all events have the same sample
 * type, perf uses PERF_SAMPLE_ID instead. In that case, a few 8-byte fields may precede the ID in a
 * sample, or follow the ID in any other record.
 */
static size_t event_number_at(const struct perf_event_header *h, uint64_t type)
{
	uint64_t before = type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_ADDR);
	uint64_t after = type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);

	if (type & PERF_SAMPLE_IDENTIFIER) {
		before = 0;
		after = 0;
	}
	if (h->type == PERF_RECORD_SAMPLE)
		return sizeof(*h) + __builtin_popcountll(before) * sizeof(uint64_t);
	return h->size - (__builtin_popcountll(after) + 1) * sizeof(uint64_t);
}

/* Return the event ID, or 0 if the record does not contain an ID. */
static uint64_t event_number(const struct perf_event_header *h, const struct perf_format *format)
{
	size_t at = event_number_at(h, format->sample_type);
	uint64_t id = 0;

	if ((format->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) &&
	    at >= sizeof(*h) && at <= h->size && h->size - at >= sizeof(id))
		memcpy(&id, (const char *)h + at, sizeof(id));
	return id;
}

static const struct perf_format *format_of(const struct perf_data *d,
					   const struct perf_event_header *h)
{
	uint64_t id = event_number(h, &d->attrs[0].format);

	for (size_t i = 0; id && i < d->nr_attrs; i++)
		for (size_t j = 0; j < d->attrs[i].nr_ids; j++)
			if (d->attrs[i].ids[j] == id)
				return &d->attrs[i].format;
	return &d->attrs[0].format;
}

/* If a record has no CPU number, use CPU 0. */
static struct perf_out *out_of(struct perf_data *d, struct writer *w, int cpu)
{
	size_t i = cpu >= 0 && cpu < CPUS_MAX ? cpu : 0;

	if (i >= d->nr_outs) {
		d->outs = mem_realloc(d->outs, i + 1, sizeof(*d->outs));
		memset(&d->outs[d->nr_outs], 0, (i + 1 - d->nr_outs) * sizeof(*d->outs));
		d->nr_outs = i + 1;
	}
	if (!d->outs[i].pages)
		d->outs[i].pages = pages_open(w, i);
	return d->outs[i].pages ? &d->outs[i] : NULL;
}

static int by_time(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void note_time(struct perf_data *d, uint64_t time)
{
	d->youngest = time > d->youngest ? time : d->youngest;
	if (time && (!d->oldest || time < d->oldest))
		d->oldest = time;
}

static int deliver_part(struct perf_data *d, struct perf_rows *rows, struct writer *w,
			struct perf_aux_part *part)
{
	struct perf_out *out = out_of(d, w, part->cpu);

	if (!out)
		return -1;
	note_time(d, part->time);
	perf_aux_whole(part, d->file, rows, out);
	return 0;
}

static int deliver(struct perf_data *d, struct perf_rows *rows, struct writer *w,
		   const struct perf_event_header *h)
{
	const struct perf_format *format;
	struct perf_id id;
	struct perf_out *out;

	if (h->type == AUXTRACE)
		return deliver_part(d, rows, w,
				    &d->aux.parts[((const struct waiting_part *)h)->part]);
	format = format_of(d, h);
	perf_id_read(h, format, &id);
	out = out_of(d, w, id.cpu);
	if (!out)
		return -1;
	if (h->type == PERF_RECORD_AUX && d->intel_bts)
		perf_aux_record(&d->aux, d->file, rows, out, h, &id);
	else
		perf_rows_record(rows, out, h, format);
	return 0;
}

/* Deliver the waiting records up to @time, in the order of their times. */
static int deliver_until(struct perf_data *d, struct perf_rows *rows, struct writer *w,
			 uint64_t time)
{
	struct bytes rest = {};
	size_t i, nr = 0;

	if (d->nr)
		qsort(d->list, d->nr, sizeof(*d->list), by_time);
	for (i = 0; i < d->nr && d->list[i].time <= time; i++)
		if (deliver(d, rows, w, (const void *)(d->bytes.data + d->list[i].at)))
			return -1;
	for (; i < d->nr; i++) {
		const struct perf_event_header *h = (const void *)(d->bytes.data + d->list[i].at);

		d->list[nr++] = (struct waiting) { .time = d->list[i].time, .at = rest.size };
		bytes_add(&rest, h, h->size);
	}
	bytes_free(&d->bytes);
	d->bytes = rest;
	d->nr = nr;
	return 0;
}

static void wait_until(struct perf_data *d, const struct perf_event_header *h, uint64_t time)
{
	if (d->nr == d->room) {
		d->room = d->room ? 2 * d->room : 1024;
		d->list = mem_realloc(d->list, d->room, sizeof(*d->list));
	}
	d->list[d->nr++] = (struct waiting) { .time = time, .at = d->bytes.size };
	bytes_add(&d->bytes, h, h->size);
}

static void wait(struct perf_data *d, const struct perf_event_header *h)
{
	struct perf_id id;

	perf_id_read(h, format_of(d, h), &id);
	wait_until(d, h, id.time);
	note_time(d, id.time);
}

/*
 * After each AUXTRACE record, the file contains a part of the AUX area. Add this part. But do not
 * update d->youngest with the part's time yet, because older records may follow in the file.
 */
static uint64_t add_part(struct perf_data *d, const struct perf_event_header *h, uint64_t at)
{
	struct waiting_part waiting = {
		.header = { .type = AUXTRACE, .size = sizeof(waiting) }, .part = d->aux.nr,
	};
	uint64_t size = perf_aux_data(&d->aux, h, at);

	if (d->untimed && waiting.part < d->aux.nr)
		wait_until(d, &waiting.header, d->aux.parts[waiting.part].time);
	return size;
}

/* Handle a record that the perf command added. Move @at past any data that follows the record. */
static int user_record(struct perf_data *d, struct perf_rows *rows, struct writer *w,
		       const struct perf_event_header *h, uint64_t *at)
{
	uint64_t size;
	int ret;

	switch (h->type) {
	case FINISHED_ROUND:
		ret = deliver_until(d, rows, w, d->flush);
		d->flush = d->youngest;
		return ret;
	case AUXTRACE:
		size = add_part(d, h, *at);
		if (size > d->size - *at)
			return damaged(d, "the file is truncated within the data of intel_bts");
		*at += size;
		return 0;
	case COMPRESSED:
		return damaged(d, "bts cannot read files that perf record -z has compressed");
	}
	return 0;
}

static int read_records(struct perf_data *d, struct perf_rows *rows, struct writer *w)
{
	uint64_t at = d->header.data.offset, end = end_of_records(d);
	char *room = mem_alloc(1 << 16);
	struct perf_event_header *h = (void *)room;
	int ret = 0;

	while (!ret && at < end) {
		if (!read_at(d, at, h, sizeof(*h)) || h->size < sizeof(*h) ||
		    h->size > end - at || !read_at(d, at, h, h->size)) {
			ret = damaged(d, "the file is truncated, or a record is damaged");
			break;
		}
		at += h->size;
		if (h->type >= RECORD_USER)
			ret = user_record(d, rows, w, h, &at);
		else if (h->size % sizeof(uint64_t))
			ret = damaged(d, "a record with invalid size");
		else
			wait(d, h);
	}
	free(room);
	/* If the file was truncated between two records, only its size reveals this. */
	if (!ret && d->header.data.size > end - d->header.data.offset)
		ret = damaged(d, "the file is truncated");
	return ret;
}

/* The kernel may lose AUX records. Report the branches that no AUX record describes. */
static int check_unread(struct perf_data *d)
{
	uint64_t unread = d->intel_bts ? perf_aux_unread(&d->aux) : 0;

	if (!unread)
		return 0;
	d->damaged = true;
	msg_error("read", d->path, "%llu branches have no AUX record", (unsigned long long)unread);
	return -1;
}

int perf_data_read(struct perf_data *d, struct perf_rows *rows, struct writer *w)
{
	int ret = read_records(d, rows, w);

	/* Even after a failure, deliver the waiting records, because they are undamaged. */
	ret |= deliver_until(d, rows, w, UINT64_MAX);
	ret = ret ? ret : check_unread(d);
	for (size_t i = 0; i < d->nr_outs; i++) {
		if (!d->outs[i].pages)
			continue;
		perf_rows_end(rows, &d->outs[i]);
		ret |= pages_close(d->outs[i].pages);
	}
	return ret;
}
