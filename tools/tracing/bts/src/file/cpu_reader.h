/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In a thread, read one CPU's part of a trace, and queue the branches and rows in batches.
 *
 * Included by: file/, flow/.
 */
#ifndef BTS_CPU_READER_H
#define BTS_CPU_READER_H

#include "dat.h"
#include "layout.h"
#include "queue.h"

/**
 * struct cpu_reader - a thread that reads one CPU's part of a trace
 * @queue:	batches for the pipeline
 * @failed:	whether memory ran out (valid after the thread has ended)
 */
struct cpu_reader {
	struct dat		*dat;
	struct dat_cpu		*cpu;
	const struct layout	*layout;
	struct dat_pages	pages;
	struct queue		queue;
	pthread_t		thread;
	bool			started;
	bool			failed;
};

/* On failure, set @e and return false. Even then, the caller must call cpu_reader_stop(). */
bool cpu_reader_start(struct cpu_reader *r, struct dat *dat, struct dat_cpu *cpu,
		      const struct layout *layout, struct error *e);
void cpu_reader_stop(struct cpu_reader *r);

#endif
