// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert perf's records to rows of a trace.
 *
 *	SAMPLE	a branch			MMAP2	a mapping, with its build ID
 *	SWITCH	bts_departs or bts_arrives	FORK	a task, with its parent's mappings
 *	LOST	a loss				COMM	the task's name; exec() removes its mappings
 *	EXIT	the task's last bts_departs
 *
 * When a task leaves a CPU, the kernel writes the SWITCH record before it copies the task's last
 * branches out of the hardware's buffer. So bts delays the bts_departs row until the CPU has a
 * record of another task, or until the task returns to the CPU. A LOST record contains the number
 * of lost records, but not the number of lost branches.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "pages.h"
#include "perf_rows.h"
#include "perf_task.h"

/* States in bts_departs rows: the kernel's TASK_INTERRUPTIBLE and TASK_DEAD. */
#define STATE_SLEEPS	0x01
#define STATE_DEAD	0x80

/* The kernel's BTS_LOST_RING_BUFFER. */
#define LOST_RING_BUFFER	0

/* All records except samples end with these fields. */
#define SAMPLE_ID_BITS	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* --- A record's fields ---------------------------------------------------------------- */

/* A cursor that reads a record in steps of eight bytes. Past the end, the cursor returns 0. */
struct fields {
	const char	*at, *end;
};

static uint64_t next_field(struct fields *f)
{
	uint64_t value = 0;

	if (f->end - f->at >= (ptrdiff_t)sizeof(value))
		memcpy(&value, f->at, sizeof(value));
	f->at += sizeof(value);
	return value;
}

static void take_tid(struct fields *f, struct perf_id *id)
{
	uint64_t value = next_field(f);

	id->pid = (uint32_t)value;
	id->tid = value >> 32;
}

/* A sample of the tool's events. Most records are such samples, so read_branch() must be fast. */
struct record_branch {
	struct perf_event_header	header;
	uint64_t			from;
	uint32_t			pid, tid;
	uint64_t			time, to;
};

static bool read_branch(const struct perf_event_header *h, uint64_t type, struct perf_id *id,
			uint64_t *from, uint64_t *to)
{
	const struct record_branch *r = (const void *)h;

	if (type != PERF_BRANCH_SAMPLE || h->size != sizeof(*r))
		return false;
	id->pid = r->pid;
	id->tid = r->tid;
	id->time = r->time;
	*from = r->from;
	*to = r->to;
	return true;
}

/* Read the fields that samples and other records have in common. */
static void take_ids_and_cpu(struct fields *f, uint64_t type, struct perf_id *id)
{
	if (type & PERF_SAMPLE_ID)
		next_field(f);
	if (type & PERF_SAMPLE_STREAM_ID)
		next_field(f);
	if (type & PERF_SAMPLE_CPU)
		id->cpu = (uint32_t)next_field(f);
}

static void read_sample(const struct perf_event_header *h, uint64_t type, struct perf_id *id,
			uint64_t *ip, uint64_t *addr)
{
	struct fields f = { (const char *)(h + 1), (const char *)h + h->size };

	*ip = 0;
	*addr = 0;
	if (type & PERF_SAMPLE_IDENTIFIER)
		next_field(&f);
	if (type & PERF_SAMPLE_IP)
		*ip = next_field(&f);
	if (type & PERF_SAMPLE_TID)
		take_tid(&f, id);
	if (type & PERF_SAMPLE_TIME)
		id->time = next_field(&f);
	if (type & PERF_SAMPLE_ADDR)
		*addr = next_field(&f);
	take_ids_and_cpu(&f, type, id);
}

static void read_sample_id(const struct perf_event_header *h, uint64_t type, struct perf_id *id)
{
	size_t size = 8 * __builtin_popcountll(type & SAMPLE_ID_BITS);
	struct fields f = { (const char *)h + h->size - size, (const char *)h + h->size };

	if (h->size < sizeof(*h) + size)
		return;
	if (type & PERF_SAMPLE_TID)
		take_tid(&f, id);
	if (type & PERF_SAMPLE_TIME)
		id->time = next_field(&f);
	take_ids_and_cpu(&f, type, id);
}

void perf_id_read(const struct perf_event_header *h, const struct perf_format *format,
		  struct perf_id *id)
{
	uint64_t ip, addr;

	*id = (struct perf_id) { .cpu = -1 };
	if (h->type == PERF_RECORD_SAMPLE)
		read_sample(h, format->sample_type, id, &ip, &addr);
	else if (format->sample_id_all)
		read_sample_id(h, format->sample_type, id);
}

/* --- Rows ----------------------------------------------------------------------------- */

static void put_departs(struct perf_rows *rows, struct perf_out *out)
{
	if (!out->departing)
		return;
	out->departing = false;
	pages_row(out->pages, out->departs_ts, &out->departs, sizeof(out->departs));
	rows->switches++;
}

static void departs(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		    bool voluntary, unsigned int state)
{
	const struct perf_task *t = perf_task_get(rows, id->pid, id->tid);

	put_departs(rows, out);
	out->departs = (struct made_departs) {
		.entry = { .type = MADE_DEPARTS, .pid = id->tid },
		.pid = id->tid, .tgid = id->pid, .state = state, .voluntary = voluntary,
	};
	memcpy(out->departs.comm, t->comm, sizeof(t->comm));
	out->departs_ts = id->time;
	out->departing = true;
}

static void arrives(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id)
{
	struct perf_task *t = perf_task_get(rows, id->pid, id->tid);
	struct made_arrives row = {
		.entry = { .type = MADE_ARRIVES, .pid = id->tid },
		.pid = id->tid, .tgid = id->pid, .user_ip = t->goes_on,
	};

	put_departs(rows, out);
	t->goes_on = 0;
	t->told = true;
	memcpy(row.comm, t->comm, sizeof(t->comm));
	memcpy(names_get(&rows->names, id->tid)->comm, t->comm, sizeof(t->comm));
	pages_row(out->pages, id->time, &row, sizeof(row));
}

void perf_rows_branch(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		      uint64_t from, uint64_t to)
{
	if (rows->user_only && ((int64_t)from < 0 || (int64_t)to < 0))
		return;
	if (out->departing && out->departs.pid != id->tid)
		put_departs(rows, out);
	if (!rows->last || rows->last->tid != id->tid)
		rows->last = perf_task_get(rows, id->pid, id->tid);
	/* Branch rows have only the TID, so a row with the PID must precede the first branch. */
	if (!rows->last->told)
		arrives(rows, out, id);
	pages_branch(out->pages, id->tid, id->time, from, to);
}

void perf_rows_lost(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id)
{
	put_departs(rows, out);
	pages_lost(out->pages, id->time, id->tid, LOST_RING_BUFFER);
	rows->losses++;
}

static void put_map(struct perf_rows *rows, struct perf_out *out, int tid, uint64_t ts,
		    struct perf_map *map)
{
	const struct perf_task *t = perf_task_find(rows, tid);

	map->row.entry.pid = tid;
	memset(map->row.comm, 0, sizeof(map->row.comm));
	if (t)
		memcpy(map->row.comm, t->comm, sizeof(t->comm));
	pages_row(out->pages, ts, &map->row, map->size);
}

static void put_maps(struct perf_rows *rows, struct perf_out *out, int pid, uint64_t ts)
{
	put_departs(rows, out);
	for (struct perf_map *map = perf_task_get(rows, pid, pid)->maps; map; map = map->next)
		put_map(rows, out, pid, ts, map);
}

void perf_rows_process(struct perf_rows *rows, struct perf_out *out, int pid, uint64_t ts)
{
	perf_task_read(rows, pid);
	put_maps(rows, out, pid, ts);
}

void perf_rows_stands(struct perf_rows *rows, int tid, uint64_t user_ip, bool ends)
{
	struct perf_task *t = perf_task_find(rows, tid);

	if (t && ends)
		t->ends_at = user_ip;
	else if (t)
		t->goes_on = user_ip;
}

/* --- Records -------------------------------------------------------------------------- */

struct record_task {
	struct perf_event_header	header;
	uint32_t			pid, ppid, tid, ptid;
	uint64_t			time;
};

struct record_comm {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	char				comm[];
};

struct record_mmap {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	uint64_t			addr, len, offset;
	char				path[];
};

struct record_mmap2 {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	uint64_t			addr, len, offset;
	union {
		struct {
			uint32_t	maj, min;
			uint64_t	ino, ino_generation;
		};
		struct {
			uint8_t		build_id_size, reserved[3];
			uint8_t		build_id[MADE_BUILD_ID];
		};
	};
	uint32_t			prot, flags;
	char				path[];
};

static void record_fork(struct perf_rows *rows, struct perf_out *out,
			const struct record_task *r, uint64_t ts)
{
	perf_task_fork(rows, r->pid, r->tid, r->ppid, r->ptid);
	if (r->pid != r->ppid)
		put_maps(rows, out, r->pid, ts);
}

static void record_exit(struct perf_rows *rows, struct perf_out *out,
			const struct record_task *r, struct perf_id id)
{
	id.pid = r->pid;
	id.tid = r->tid;
	if (perf_task_get(rows, id.pid, id.tid)->told) {
		departs(rows, out, &id, true, STATE_DEAD);
		out->departs.user_ip = perf_task_get(rows, id.pid, id.tid)->ends_at;
		put_departs(rows, out);
	}
	perf_task_end(rows, id.tid);
}

static void record_comm(struct perf_rows *rows, const struct record_comm *r)
{
	size_t room = r->header.size - sizeof(*r);

	perf_task_named(rows, r->pid, r->tid, r->comm, room,
			r->header.misc & PERF_RECORD_MISC_COMM_EXEC);
}

static void map(struct perf_rows *rows, struct perf_out *out, struct made_map *row,
		const struct perf_event_header *h, const char *path, uint64_t ts)
{
	const char *end = (const char *)h + h->size;

	/* Skip mappings of the kernel, and mappings of data. */
	if ((h->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    (h->misc & PERF_RECORD_MISC_MMAP_DATA) || path >= end)
		return;
	put_departs(rows, out);
	put_map(rows, out, row->pid, ts,
		perf_task_map(rows, row, path, strnlen(path, end - path)));
}

static void record_mmap(struct perf_rows *rows, struct perf_out *out,
			const struct record_mmap *r, uint64_t ts)
{
	struct made_map row = {
		.pid = r->tid, .tgid = r->pid,
		.addr = r->addr, .len = r->len, .offset = r->offset,
	};

	map(rows, out, &row, &r->header, r->path, ts);
}

static void record_mmap2(struct perf_rows *rows, struct perf_out *out,
			 const struct record_mmap2 *r, uint64_t ts)
{
	struct made_map row = {
		.pid = r->tid, .tgid = r->pid,
		.addr = r->addr, .len = r->len, .offset = r->offset,
	};

	if (r->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		row.build_id_size = r->build_id_size < MADE_BUILD_ID ? r->build_id_size :
								       MADE_BUILD_ID;
		memcpy(row.build_id, r->build_id, row.build_id_size);
	} else {
		row.maj = r->maj;
		row.min = r->min;
		row.inode = r->ino;
	}
	map(rows, out, &row, &r->header, r->path, ts);
}

static void record_switch(struct perf_rows *rows, struct perf_out *out,
			  const struct perf_event_header *h, const struct perf_id *id)
{
	bool preempted = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		departs(rows, out, id, !preempted, preempted ? 0 : STATE_SLEEPS);
	else
		arrives(rows, out, id);
}

void perf_rows_record(struct perf_rows *rows, struct perf_out *out,
		      const struct perf_event_header *h, const struct perf_format *format)
{
	static const uint16_t least[] = {
		[PERF_RECORD_MMAP]	= sizeof(struct record_mmap),
		[PERF_RECORD_COMM]	= sizeof(struct record_comm),
		[PERF_RECORD_EXIT]	= sizeof(struct record_task),
		[PERF_RECORD_FORK]	= sizeof(struct record_task),
		[PERF_RECORD_MMAP2]	= sizeof(struct record_mmap2),
		[PERF_RECORD_SWITCH]	= sizeof(struct perf_event_header),
	};
	const void *record = h;
	struct perf_id id = {};
	uint64_t from, to;

	if (h->type == PERF_RECORD_SAMPLE) {
		id.cpu = -1;
		if (!read_branch(h, format->sample_type, &id, &from, &to))
			read_sample(h, format->sample_type, &id, &from, &to);
		if (format->branches)
			perf_rows_branch(rows, out, &id, from, to);
		return;
	}
	if (h->type < ARRAY_SIZE(least) && h->size < least[h->type])
		return;
	perf_id_read(h, format, &id);
	switch (h->type) {
	case PERF_RECORD_MMAP:
		record_mmap(rows, out, record, id.time);
		break;
	case PERF_RECORD_MMAP2:
		record_mmap2(rows, out, record, id.time);
		break;
	case PERF_RECORD_COMM:
		record_comm(rows, record);
		break;
	case PERF_RECORD_FORK:
		record_fork(rows, out, record, id.time);
		break;
	case PERF_RECORD_EXIT:
		record_exit(rows, out, record, id);
		break;
	case PERF_RECORD_SWITCH:
		record_switch(rows, out, h, &id);
		break;
	case PERF_RECORD_LOST:
		perf_rows_lost(rows, out, &id);
		break;
	}
}

void perf_rows_end(struct perf_rows *rows, struct perf_out *out)
{
	put_departs(rows, out);
}
