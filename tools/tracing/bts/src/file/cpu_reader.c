// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread for each CPU's part of the file, and the queue between it and the pipeline.
 *
 *	thread: unpack, decode -> [batch][batch][batch] -> pipeline: merge, count
 *
 * The queue is a ring of batches that are used again and again, so that memory does not
 * grow with the trace. Its two ends are under one lock, taken once a batch.
 *
 * The side that sleeps is woken when the queue is half full, or half empty, not with
 * each batch: a batch takes ten microseconds, and a wake-up half as much.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "cpu_reader.h"

static void *cpustream_thread(void *arg)
{
	struct cpustream *s = arg;

	cpustream_pages(s);
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_signal(&s->filled);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

bool cpustream_start(struct cpustream *s, struct dat *dat, struct dat_cpu *cpu,
		     const struct layout *layout)
{
	*s = (struct cpustream) { .dat = dat, .cpu = cpu, .layout = layout };
	dat_pages_open(&s->pages, dat, cpu);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->filled, NULL);
	pthread_cond_init(&s->emptied, NULL);
	s->queue = mem_alloc(STREAM_QUEUE * sizeof(*s->queue));
	errno = pthread_create(&s->thread, NULL, cpustream_thread, s);
	s->started = !errno;
	if (errno)
		msg_errno("start a thread", dat->path);
	return s->started;
}

struct batch *cpustream_reserve(struct cpustream *s)
{
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (s->in - s->out == STREAM_QUEUE && !s->stop)
		pthread_cond_wait(&s->emptied, &s->lock);
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop ? NULL : &s->queue[s->in % STREAM_QUEUE];
}

void cpustream_commit(struct cpustream *s)
{
	pthread_mutex_lock(&s->lock);
	s->in++;
	if (s->in - s->out == STREAM_QUEUE / 2)
		pthread_cond_signal(&s->filled);
	pthread_mutex_unlock(&s->lock);
}

struct batch *cpustream_peek(struct cpustream *s)
{
	bool ready;

	pthread_mutex_lock(&s->lock);
	if (s->in == s->out)
		while (s->in - s->out < STREAM_QUEUE / 2 && !s->ended)
			pthread_cond_wait(&s->filled, &s->lock);
	ready = s->in != s->out;
	pthread_mutex_unlock(&s->lock);
	return ready ? &s->queue[s->out % STREAM_QUEUE] : NULL;
}

void cpustream_next(struct cpustream *s)
{
	pthread_mutex_lock(&s->lock);
	s->out++;
	if (s->in - s->out == STREAM_QUEUE / 2)
		pthread_cond_signal(&s->emptied);
	pthread_mutex_unlock(&s->lock);
}

void cpustream_stop(struct cpustream *s)
{
	if (s->started) {
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		pthread_cond_signal(&s->emptied);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	dat_pages_close(&s->pages);
	free(s->queue);
	pthread_cond_destroy(&s->emptied);
	pthread_cond_destroy(&s->filled);
	pthread_mutex_destroy(&s->lock);
}
