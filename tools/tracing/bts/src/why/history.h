/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system calls of one trace or of two.
 *
 * Included by: why/, cmd/why.c.
 */
#ifndef BTS_WHY_HISTORY_H
#define BTS_WHY_HISTORY_H

#include "diff/grow.h"

/**
 * struct system_call - a system call that has returned
 * @number:	which one
 * @result:	what it returned
 * @node:	its tree in the kernel
 * @run:	the trace
 */
struct system_call {
	int		pid;
	char		comm[16];
	long		number;
	long		result;
	uint32_t	node;
	unsigned int	run;
};

/**
 * struct history - system calls, in the order in which they returned
 * @run:	the traces: first the one with the failure
 * @events:	returns of system calls, those without a tree included
 */
struct history {
	struct forest		forest;
	struct grown		run[2];
	unsigned int		nr_runs;
	struct system_call	*list;
	size_t			nr;
	size_t			room;
	size_t			events;
};

/* Reads the traces, @paths[1] of which may be NULL. STATUS_OK or STATUS_FAILURE. */
int history_read(struct history *h, char *const paths[2], const struct options *options);
/* The last call of the first trace that failed: with @error if it is not 0, by @name or any. */
const struct system_call *history_failure(const struct history *h, int error, const char *name);
/* How many others of the first trace failed. */
size_t history_failures(const struct history *h);
bool has_failed(const struct system_call *call);
/* The name as programs know it: "openat". */
void system_call_name(char *buffer, size_t size, const struct history *h,
		      const struct system_call *call);
/* STATUS_OK or STATUS_FAILURE. */
int history_free(struct history *h);

#endif
