// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a perf.data file for perf script --itrace=b and perf report. The file has the format that
 * perf record -e intel_bts// writes. Each branch takes up 24 bytes, so users should convert only a
 * part of a long trace (--time, --head).
 *
 *	header, one attribute
 *	AUXTRACE_INFO		the PMU is intel_bts, and times are in nanoseconds
 *	COMM, MMAP2, LOST	names of tasks, mapped files, and losses
 *	AUXTRACE		branches of one task: from, to, flags
 *
 * The address at which a program or library is mapped is computed from any branch in its code: the
 * branch's address in the process minus the branch's address in the file. To resolve an address,
 * perf uses the last mapping that contains the address. So if mapping B covers part of an older
 * mapping A, mapping A is written again before the next branch in A. No mapping is written for the
 * kernel, so perf prints kernel addresses without names.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "flow/tally.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "dump.h"

#define CHUNK_BRANCHES	65536
#define PAGE_MASK	4095ULL
/* The PMU's type can be any number, but must be the same in AUXTRACE_INFO and in the attribute. */
#define PMU_TYPE	6
#define EVENT_ID	1

/* These values are defined in tools/perf/util/event.h and auxtrace.h. */
#define RECORD_AUXTRACE_INFO	70
#define RECORD_AUXTRACE		71
#define AUXTRACE_INTEL_BTS	2

struct section {
	uint64_t	offset;
	uint64_t	size;
};

struct header {
	char		magic[8];
	uint64_t	size;
	uint64_t	attr_size;
	struct section	attrs;
	struct section	data;
	struct section	event_types;
	uint64_t	features[4];
};

struct file_attr {
	struct perf_event_attr	attr;
	struct section		ids;
};

struct auxtrace_info {
	struct perf_event_header header;
	uint32_t	type;
	uint32_t	reserved;
	uint64_t	pmu_type;
	uint64_t	time_shift;
	uint64_t	time_mult;
	uint64_t	time_zero;
	uint64_t	cap_user_time_zero;
	uint64_t	snapshot;
};

struct auxtrace {
	struct perf_event_header header;
	uint64_t	size;
	uint64_t	offset;
	uint64_t	reference;
	uint32_t	idx;
	uint32_t	tid;
	uint32_t	cpu;
	uint32_t	reserved;
};

struct mmap2 {
	struct perf_event_header header;
	uint32_t	pid;
	uint32_t	tid;
	uint64_t	addr;
	uint64_t	len;
	uint64_t	pgoff;
	uint8_t		build_id_size;
	uint8_t		reserved[3];
	uint8_t		build_id[20];
	uint32_t	prot;
	uint32_t	flags;
};

/* With sample_id_all, records such as COMM and MMAP2 end with these fields. */
struct trailer {
	uint32_t	pid;
	uint32_t	tid;
	uint64_t	time;
	uint64_t	id;
};

struct bts_record {
	uint64_t	from;
	uint64_t	to;
	uint64_t	flags;
};

/*
 * A mapping that was written to the output, and that no later mapping has covered. @bias is the
 * address of a byte in the process minus the byte's address in the file.
 */
struct perf_map {
	const struct object	*object;
	uint64_t		bias;
	uint64_t		begin;
	uint64_t		end;
};

/* The mappings of a process. */
struct perf_process {
	struct perf_map	*maps;
	size_t		nr;
};

/**
 * struct perf_dump - the state while a perf.data file is written
 * @head:	the maximum number of branches, or 0 for all branches
 * @nr:		the number of branches so far
 * @task:	the task of the branches in @chunk
 * @began:	the time of the first branch in @chunk
 * @nr_chunk:	the number of branches in @chunk
 * @nr_tasks:	the number of tasks whose names have been written
 * @processes:	a table that maps the PID of a process to 1 + the process's index in @process
 * @generation:	how often a new mapping has covered an older mapping, at least in part
 */
struct perf_dump {
	const struct pipe	*pipe;
	FILE			*out;
	uint64_t		head;
	uint64_t		nr;
	struct task		*task;
	uint64_t		began;
	size_t			nr_chunk;
	uint32_t		nr_tasks;
	struct tally		processes;
	struct perf_process	*process;
	uint32_t		generation;
	struct bts_record	chunk[CHUNK_BRANCHES + 1];
};

/* A task: its AUXTRACE queue number, and the process PID and name in its last COMM record. */
struct perf_task {
	uint32_t	idx;
	int		tgid;
	char		comm[16];
};

static void put(struct perf_dump *p, const void *data, size_t size)
{
	fwrite(data, 1, size, p->out);
}

static void flush(struct perf_dump *p)
{
	const struct perf_task *t = p->task ? p->task->priv : NULL;
	struct auxtrace a = {
		.header = { .type = RECORD_AUXTRACE, .size = sizeof(a) },
		.size = (p->nr_chunk + 1) * sizeof(*p->chunk),
		/* Add 1, so that perf sorts this record after COMM records of the same time. */
		.reference = p->began + 1, .cpu = -1,
	};

	if (!p->nr_chunk)
		return;
	a.idx = t->idx;
	a.tid = p->task->pid;
	/* Add an empty record, because perf 6.1 ignores the last record of a chunk. */
	p->chunk[p->nr_chunk] = (struct bts_record) {};
	put(p, &a, sizeof(a));
	put(p, p->chunk, a.size);
	p->nr_chunk = 0;
}

static void put_trailer(struct perf_dump *p, const struct task *t, uint64_t ts)
{
	struct trailer trailer = { .time = ts, .id = EVENT_ID };

	if (t) {
		trailer.pid = t->tgid;
		trailer.tid = t->pid;
	}
	put(p, &trailer, sizeof(trailer));
}

static void put_comm(struct perf_dump *p, struct task *t, uint64_t ts)
{
	struct {
		struct perf_event_header header;
		uint32_t	pid;
		uint32_t	tid;
		char		comm[16];
	} comm = {
		.header = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER,
			    .size = sizeof(comm) + sizeof(struct trailer) },
		.pid = t->tgid, .tid = t->pid,
	};
	struct perf_task *known = t->priv;

	flush(p);
	if (!known) {
		known = mem_zalloc(1, sizeof(*known));
		known->idx = p->nr_tasks++;
		t->priv = known;
	}
	known->tgid = t->tgid;
	memcpy(known->comm, t->comm, sizeof(known->comm));
	memcpy(comm.comm, t->comm, sizeof(comm.comm) - 1);
	put(p, &comm, sizeof(comm));
	put_trailer(p, t, ts);
}

static void put_map(struct perf_dump *p, struct task *t, uint64_t ts, const struct object *o,
		    const struct mmap2 *where)
{
	char path[4096] = "";
	size_t size = (strnlen(o->path, sizeof(path) - 8) + 8) & ~7ULL;
	struct mmap2 map = *where;

	map.header.size = sizeof(map) + size + sizeof(struct trailer);
	map.pid = t->tgid;
	map.tid = t->pid;
	map.prot = 5;	/* read, execute */
	map.flags = 2;	/* private */
	if (o->build_id_size == sizeof(map.build_id)) {
		map.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		map.build_id_size = sizeof(map.build_id);
		memcpy(map.build_id, o->build_id, sizeof(map.build_id));
	}
	snprintf(path, sizeof(path), "%.*s", (int)(sizeof(path) - 8), o->path);
	put(p, &map, sizeof(map));
	put(p, path, size);
	put_trailer(p, t, ts);
}

static struct perf_process *process_of(struct perf_dump *p, const struct task *t)
{
	const struct tally_key key = { .a = p, .b_addr = t->tgid };
	struct tally_entry *entry = tally_get(&p->processes, &key);
	size_t nr = p->processes.nr;

	if (!entry->calls) {
		entry->calls = nr;
		p->process = mem_realloc(p->process, nr, sizeof(*p->process));
		p->process[nr - 1] = (struct perf_process) {};
	}
	return &p->process[entry->calls - 1];
}

static bool same_place(const struct perf_map *a, const struct perf_map *b)
{
	return a->object == b->object && a->bias == b->bias;
}

/*
 * Add a mapping to the mappings of a process, and remove the mappings that the new mapping covers.
 * Return false if the mapping is already in the list.
 */
static bool add_map(struct perf_dump *p, const struct task *t, const struct perf_map *map)
{
	struct perf_process *process = process_of(p, t);
	struct perf_map *maps = process->maps;
	size_t nr = 0;

	for (size_t i = 0; i < process->nr; i++)
		if (same_place(&maps[i], map) && maps[i].begin == map->begin)
			return false;
	for (size_t i = 0; i < process->nr; i++)
		if (same_place(&maps[i], map) || maps[i].end <= map->begin ||
		    map->end <= maps[i].begin)
			maps[nr++] = maps[i];
	if (nr < process->nr)
		p->generation++;
	process->maps = mem_realloc(maps, nr + 1, sizeof(*maps));
	process->maps[nr] = *map;
	process->nr = nr + 1;
	return true;
}

/* Write a mapping record for the segment at @addr, unless this record was written before. */
static void describe(struct perf_dump *p, struct task *t, uint64_t ts, uint64_t addr,
		     const struct place *place)
{
	const struct object *o = place->sym->object;
	const struct segment *s = o->is_file ? object_segment(o, place->addr) : NULL;
	struct mmap2 map = {
		.header = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER },
	};
	struct perf_map known;

	if (!s)
		return;
	map.addr = (addr - place->addr + s->vaddr) & ~PAGE_MASK;
	map.len = (s->size + (s->vaddr & PAGE_MASK) + PAGE_MASK) & ~PAGE_MASK;
	map.pgoff = s->offset & ~PAGE_MASK;
	known.object = o;
	known.bias = addr - place->addr;
	known.begin = map.addr;
	known.end = map.addr + map.len;
	if (!add_map(p, t, &known))
		return;
	flush(p);
	put_map(p, t, ts, o, &map);
}

/* Return the value that step->priv has after the mappings of the step are written for task @t. */
static uintptr_t described(const struct perf_dump *p, const struct task *t)
{
	return (uint64_t)p->generation << 32 | ((uint32_t)t->tgid + 1);
}

static bool comm_known(const struct task *t)
{
	const struct perf_task *known = t->priv;

	return known && known->tgid == t->tgid &&
	       !strncmp(known->comm, t->comm, sizeof(known->comm));
}

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct perf_dump *p = ctx;
	struct bts_record r;

	if (!(s->flags & STEP_SHOWN))
		return 0;
	r = (struct bts_record) {
		.from = pipe_addr(p->pipe, t, s->from), .to = pipe_addr(p->pipe, t, s->to),
	};
	if (!comm_known(t))
		put_comm(p, t, ts);
	if ((uintptr_t)s->priv != described(p, t)) {
		describe(p, t, ts, r.from, &s->at_from);
		describe(p, t, ts, r.to, &s->at_to);
		s->priv = (void *)described(p, t);
	}
	if (p->task != t || p->nr_chunk == CHUNK_BRANCHES)
		flush(p);
	if (!p->nr_chunk)
		p->began = ts;
	p->task = t;
	p->chunk[p->nr_chunk++] = r;
	return ++p->nr == p->head;
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct perf_dump *p = ctx;
	struct {
		struct perf_event_header header;
		uint64_t	id;
		uint64_t	lost;
	} lost = {
		.header = { .type = PERF_RECORD_LOST,
			    .size = sizeof(lost) + sizeof(struct trailer) },
		.id = EVENT_ID, .lost = row->count ? row->count : 1,
	};

	if (row->type != ROW_LOST)
		return 0;
	flush(p);
	put(p, &lost, sizeof(lost));
	put_trailer(p, t, row->ts);
	return 0;
}

static void put_head(struct perf_dump *p, uint64_t data_size)
{
	struct header h = {
		.magic = "PERFILE2", .size = sizeof(h), .attr_size = sizeof(struct file_attr),
		.attrs = { sizeof(h), sizeof(struct file_attr) },
		.data = { sizeof(h) + sizeof(struct file_attr) + sizeof(uint64_t), data_size },
	};
	struct file_attr f = {
		.attr = {
			.type = PMU_TYPE, .size = sizeof(f.attr), .sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_IDENTIFIER,
			.read_format = PERF_FORMAT_ID, .sample_id_all = 1, .comm = 1, .mmap = 1,
			.mmap2 = 1,
		},
		.ids = { sizeof(h) + sizeof(f), sizeof(uint64_t) },
	};
	uint64_t id = EVENT_ID;

	put(p, &h, sizeof(h));
	put(p, &f, sizeof(f));
	put(p, &id, sizeof(id));
}

int dump_perf(struct dump *d)
{
	struct auxtrace_info info = {
		.header = { .type = RECORD_AUXTRACE_INFO, .size = sizeof(info) },
		.type = AUXTRACE_INTEL_BTS, .pmu_type = PMU_TYPE, .time_mult = 1,
		.cap_user_time_zero = 1,
	};
	struct perf_dump *p;
	off_t begin, end;
	int status;

	/* The output cannot be a pipe, because the header is rewritten at the end. */
	if (fseeko(d->out, 0, SEEK_CUR))
		return msg_error("dump", "perf", "a pipe cannot be the output; use -o FILE");
	p = mem_zalloc(1, sizeof(*p));
	p->pipe = &d->pipe;
	p->out = d->out;
	p->head = d->pipe.options->head;
	d->pipe.consumer = (struct consumer) { .ctx = p, .branch = branch, .row = row };
	put_head(p, 0);
	begin = ftello(p->out);
	put(p, &info, sizeof(info));
	status = pipe_run(&d->pipe);
	flush(p);
	end = ftello(p->out);
	if (fseeko(p->out, 0, SEEK_SET))
		status = msg_errno("write", "perf.data");
	put_head(p, end - begin);
	fseeko(p->out, 0, SEEK_END);
	for (struct task *t = d->pipe.tasks; t; t = t->list_next)
		free(t->priv);
	for (size_t i = 0; i < p->processes.nr; i++)
		free(p->process[i].maps);
	free(p->process);
	tally_free(&p->processes);
	free(p);
	return status;
}
