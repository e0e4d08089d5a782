/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Batches of branches of one task, and the queue of them between the thread that reads a
 * CPU's part of a trace and the pipeline.
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
	BATCH_LOST,		/* the tracer's row of a loss */
	BATCH_MISSED,		/* the reader's own loss; count 0: not known */
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

#define QUEUE_SIZE	16

/**
 * struct queue - a ring of batches, which the thread fills and the pipeline empties
 * @ring:	QUEUE_SIZE batches
 * @in:		how many batches were filled, under @lock
 * @out:	how many were emptied, under @lock
 * @ended:	no more will come, under @lock
 * @stop:	the pipeline wants no more, under @lock
 */
struct queue {
	pthread_mutex_t		lock;
	pthread_cond_t		filled;
	pthread_cond_t		emptied;
	struct batch		*ring;
	uint64_t		in;
	uint64_t		out;
	bool			ended;
	bool			stop;
};

void queue_init(struct queue *q);
void queue_free(struct queue *q);

/* For the thread: a batch to fill, NULL if the pipeline wants no more; and handing it over. */
struct batch *queue_reserve(struct queue *q);
void queue_commit(struct queue *q);
/* For the thread: no more will come. */
void queue_end(struct queue *q);

/* For the pipeline: the batch to be dealt with, NULL at the end; and it has been dealt with. */
struct batch *queue_peek(struct queue *q);
void queue_next(struct queue *q);
/* For the pipeline: it wants no more. */
void queue_stop(struct queue *q);

#endif
