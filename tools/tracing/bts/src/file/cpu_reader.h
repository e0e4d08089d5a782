/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that reads one CPU's part of a trace: batches of branches of one task, and the
 * rows between them.
 *
 * Included by: file/, flow/.
 */
#ifndef BTS_CPU_READER_H
#define BTS_CPU_READER_H

#include "dat.h"
#include "layout.h"
#include "queue.h"

/**
 * struct cpu_reader - the thread
 * @queue:	what it has ready
 * @failed:	there was no memory; true only after the thread has ended
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

/* False, with @e set, if there is no thread. cpu_reader_stop() is due in any case. */
bool cpu_reader_start(struct cpu_reader *r, struct dat *dat, struct dat_cpu *cpu,
		      const struct layout *layout, struct error *e);
void cpu_reader_stop(struct cpu_reader *r);

#endif
