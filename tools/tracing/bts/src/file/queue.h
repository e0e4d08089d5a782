/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass batches to the pipeline from a thread that reads one CPU's part of a trace.
 *
 * Included by: file/, flow/.
 */
#ifndef BTS_QUEUE_H
#define BTS_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/causes.h"

struct branch {
	uint64_t	from;
	uint64_t	to;
};

enum batch_type {
	BATCH_BRANCHES,		/* branches of one task */
	BATCH_LOST,		/* a loss that the tracer reported */
	BATCH_MISSED,		/* a loss that the reader found */
	BATCH_DEPARTS,
	BATCH_ARRIVES,
	BATCH_MAP,
	BATCH_EVENT,		/* any other event */
};

#define BATCH_BRANCHES_MAX	1024

/**
 * struct batch - consecutive branches of one task on one CPU, or one non-branch row
 * @pid:	the task; -1 for BATCH_MISSED
 * @nr:		the number of branches
 * @position:	how many bytes of the CPU's data were read before this batch
 * @ts:		the time of the first branch or of the row, in nanoseconds
 * @count:	the number of lost branches; 0 if unknown
 * @id:		the ID of the row's event
 * @size:	the size of @entry
 * @entry:	a copy of the ring buffer's entry for the row
 */
struct batch {
	enum batch_type	type;
	int		cpu;
	int		pid;
	uint32_t	nr;
	uint64_t	position;
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

/*
 * The queues of all CPUs together have room for QUEUE_ALL batches, but each queue has room for at
 * least QUEUE_MIN batches. QUEUE_ALL is so large that all batches together do not fit into a core's
 * cache. If they fitted, a reader thread would write to cache lines that the pipeline's core still
 * holds, which is slower than writing to memory.
 */
#define QUEUE_ALL	256
#define QUEUE_MIN	16

/**
 * struct queue - a ring of batches, which a reader thread fills and the pipeline empties
 * @ring:	@size batches
 * @in:		the number of batches filled so far; protected by @lock, like the members below
 * @out:	the number of batches emptied so far
 * @ended:	the reader thread adds no more batches
 * @stop:	the pipeline wants no more batches
 */
struct queue {
	pthread_mutex_t		lock;
	pthread_cond_t		filled;
	pthread_cond_t		emptied;
	struct batch		*ring;
	uint32_t		size;
	uint64_t		in;
	uint64_t		out;
	bool			ended;
	bool			stop;
};

/* Allocate one CPU's queue. There are @nr_queues queues in total. */
void queue_init(struct queue *q, size_t nr_queues);
void queue_free(struct queue *q);

/* The reader thread reserves an empty batch, fills the batch, and then commits it. */
struct batch *queue_reserve(struct queue *q);
void queue_commit(struct queue *q);
/* The reader thread announces that no more batches follow. */
void queue_end(struct queue *q);

/* queue_peek() returns the oldest batch, or NULL after the last one. queue_next() releases it. */
struct batch *queue_peek(struct queue *q);
void queue_next(struct queue *q);
/* The pipeline wants no more batches, so queue_reserve() returns NULL from now on. */
void queue_stop(struct queue *q);

#endif
