/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread for each CPU copies the pages of the CPU's ring buffer into the trace.
 *
 * Included by: record/, cmd/record.c.
 */
#ifndef BTS_COLLECTOR_H
#define BTS_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "instance.h"
#include "look.h"
#include "writer.h"

struct collector;

/*
 * Start a thread for each CPU of @inst. If @inst->maps is not NULL, do the same for @inst->maps. If
 * @waiting is true, the threads wait for data until collector_finish() is called. Otherwise, they
 * read only the data that is now in the ring buffer. On failure, print a message and return NULL.
 */
struct collector *collector_start(const struct instance *inst, struct writer *writer, bool waiting);
/* Return a descriptor that becomes readable after a thread has failed and printed a message. */
int collector_trouble_fd(const struct collector *collector);
/* Read the remaining data and end the threads. Return 0, or -1 if a thread failed. */
int collector_finish(struct collector *collector, struct look_counts *counts);

#endif
