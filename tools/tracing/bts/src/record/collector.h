/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that bring the ring buffer's pages into the file, one for each CPU.
 */
#ifndef BTS_STREAM_H
#define BTS_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/names.h"
#include "instance.h"
#include "writer.h"

struct streams;

/* What went by. */
struct stream_counts {
	unsigned long long	branches;	/* single ones, and those in packs */
	unsigned long long	switches;	/* rows bts_departs */
	unsigned long long	overwritten;	/* entries that the ring buffer has lost */
	struct names		names;		/* of the tasks that have rows */
};

/*
 * Opens trace_pipe_raw of each CPU that is online. WAITING: they wait for data, until
 * streams_finish(); else only what is there by then is read. NULL after a message.
 */
struct streams *streams_start(const struct instance *inst, struct datw *dat, bool waiting);
/* Readable when a thread has failed, which it has said. */
int streams_trouble_fd(const struct streams *streams);
/* Reads what is left and ends the threads. 0, or -1 if one of them has failed. */
int streams_finish(struct streams *streams, struct stream_counts *counts);

#endif
