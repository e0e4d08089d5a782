// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pass batches from a reader thread to the pipeline.
 *
 *	thread: decompress, decode -> [batch][batch][batch] -> pipeline: merge, count
 *
 * The queue is a ring that reuses its batches, so memory use does not grow with the trace. One lock
 * protects the whole queue.
 *
 * A thread that waits for batches or for room is woken only when the queue is half full, or when
 * the other thread ends. A wake-up for each batch would be slow, because a wake-up takes five
 * microseconds, half as long as processing a batch.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "queue.h"

void queue_init(struct queue *q, size_t nr_queues)
{
	*q = (struct queue) { .size = QUEUE_ALL / nr_queues };
	if (q->size < QUEUE_MIN)
		q->size = QUEUE_MIN;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->filled, NULL);
	pthread_cond_init(&q->emptied, NULL);
	q->ring = mem_alloc(q->size * sizeof(*q->ring));
}

void queue_free(struct queue *q)
{
	free(q->ring);
	pthread_cond_destroy(&q->emptied);
	pthread_cond_destroy(&q->filled);
	pthread_mutex_destroy(&q->lock);
}

struct batch *queue_reserve(struct queue *q)
{
	bool stop;

	pthread_mutex_lock(&q->lock);
	while (q->in - q->out == q->size && !q->stop)
		pthread_cond_wait(&q->emptied, &q->lock);
	stop = q->stop;
	pthread_mutex_unlock(&q->lock);
	return stop ? NULL : &q->ring[q->in % q->size];
}

void queue_commit(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->in++;
	if (q->in - q->out == q->size / 2)
		pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

struct batch *queue_peek(struct queue *q)
{
	bool ready;

	pthread_mutex_lock(&q->lock);
	if (q->in == q->out)
		while (q->in - q->out < q->size / 2 && !q->ended)
			pthread_cond_wait(&q->filled, &q->lock);
	ready = q->in != q->out;
	pthread_mutex_unlock(&q->lock);
	return ready ? &q->ring[q->out % q->size] : NULL;
}

void queue_next(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->out++;
	if (q->in - q->out == q->size / 2)
		pthread_cond_signal(&q->emptied);
	pthread_mutex_unlock(&q->lock);
}

void queue_stop(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_cond_signal(&q->emptied);
	pthread_mutex_unlock(&q->lock);
}
