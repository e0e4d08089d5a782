/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that bring the ring buffer's pages into the file, one for each CPU.
 *
 * Included by: record/, cmd/record.c.
 */
#ifndef BTS_STREAM_H
#define BTS_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/names.h"
#include "instance.h"
#include "writer.h"

struct collector;

/* What went by. */
struct collector_counts {
	unsigned long long	branches;	/* single ones, and those in packs */
	unsigned long long	switches;	/* rows bts_departs */
	unsigned long long	overwritten;	/* entries that the ring buffer has lost */
	struct names		names;		/* of the tasks that have rows */
};

/*
 * Opens trace_pipe_raw of each CPU that is online. WAITING: they wait for data, until
 * collector_finish(); else only what is there by then is read. NULL after a message.
 */
struct collector *collector_start(const struct instance *inst, struct writer *writer, bool waiting);
/* Readable when a thread has failed, which it has said. */
int collector_trouble_fd(const struct collector *collector);
/* Reads what is left and ends the threads. 0, or -1 if one of them has failed. */
int collector_finish(struct collector *collector, struct collector_counts *counts);

#endif
