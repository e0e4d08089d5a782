/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One CPU's part of a trace: batches of branches of one task, and the rows between them.
 */
#ifndef BTS_CPUSTREAM_H
#define BTS_CPUSTREAM_H

#include <pthread.h>

#include "dat.h"
#include "format.h"

struct bts_decoder;

struct branch {
	uint64_t	from;
	uint64_t	to;
};

enum batch_type {
	BATCH_BRANCHES,		/* branches of one task */
	BATCH_LOST,		/* the tracer's row of a loss */
	BATCH_MISSED,		/* the ring buffer went round; count 0: not known */
	BATCH_DEPARTS,
	BATCH_ARRIVES,
	BATCH_MAP,
	BATCH_EVENT,		/* another event */
};

#define BATCH_BRANCHES_MAX	1024

/**
 * struct batch - what a stream hands over at a time
 * @type:	what it is
 * @cpu:	the CPU that took them
 * @pid:	the task
 * @nr:		branches
 * @ts:		of the first one, or of the row, in nanoseconds
 * @count:	lost branches
 * @cause:	of a loss
 * @branch:	branches
 * @times:	of each branch
 * @entry:	a row's bytes, @size of them, of the event @id
 */
struct batch {
	enum batch_type	type;
	int		cpu;
	int		pid;
	uint32_t	nr;
	uint64_t	ts;
	uint64_t	count;
	uint32_t	cause;
	uint32_t	id;
	uint32_t	size;
	struct branch	branch[BATCH_BRANCHES_MAX];
	union {
		uint64_t	times[BATCH_BRANCHES_MAX];
		uint8_t		entry[BATCH_BRANCHES_MAX * 8];
	};
};

/* Where the fields are that the streams read; the same for all of them. */
struct layout {
	uint32_t	branch_id;
	uint32_t	pack_id;
	uint32_t	lost_id;
	uint32_t	departs_id;
	uint32_t	arrives_id;
	uint32_t	map_id;
	uint32_t	pid_offset;
	uint32_t	from_offset;
	uint32_t	to_offset;
	uint32_t	branch_size;
	const struct format *lost;
	const struct format *pack;
	const struct format_field *lost_count;
	const struct format_field *lost_cause;
	const struct format_field *lost_seq;
	const struct format_field *pack_seq;
	const struct format_field *pack_nr;
	const struct format_field *pack_from;
	const struct format_field *pack_code;
};

/* False, after a message, if the file has no branches, or none of a form known here. */
bool layout_find(struct layout *layout, const struct formats *formats, struct dat *dat);

#define STREAM_QUEUE	16

/**
 * struct cpustream - a thread that reads the pages of a CPU, and what it has ready
 * @queue:	a ring; the thread fills, the pipeline empties
 * @in:		how many batches were filled, under @lock
 * @out:	how many were emptied, under @lock
 * @ended:	no more will come, under @lock
 * @stop:	the pipeline wants no more, under @lock
 * @packs:	packs read; written by the thread, read after its end
 * @seq:	number that the next pack should have, if @seq_known
 * @decoder:	of the pack that is being read
 */
struct cpustream {
	struct dat		*dat;
	struct dat_cpu		*cpu;
	const struct layout	*layout;
	struct dat_pages	pages;
	pthread_t		thread;
	bool			started;
	pthread_mutex_t		lock;
	pthread_cond_t		filled;
	pthread_cond_t		emptied;
	struct batch		*queue;
	uint64_t		in;
	uint64_t		out;
	bool			ended;
	bool			stop;
	uint64_t		packs;
	uint64_t		seq;
	bool			seq_known;
	struct bts_decoder	*decoder;
};

bool cpustream_start(struct cpustream *s, struct dat *dat, struct dat_cpu *cpu,
		     const struct layout *layout);
/* The batch to be dealt with; NULL at the end. */
struct batch *cpustream_peek(struct cpustream *s);
/* It has been dealt with. */
void cpustream_next(struct cpustream *s);
void cpustream_stop(struct cpustream *s);

/* For the thread: a batch to fill, NULL if the pipeline wants no more; and handing it over. */
struct batch *cpustream_reserve(struct cpustream *s);
void cpustream_commit(struct cpustream *s);
/* cpupages.c: reads the pages to their end, or until the pipeline wants no more. */
void cpustream_pages(struct cpustream *s);

#endif
