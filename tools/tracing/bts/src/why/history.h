/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the system calls of one or two traces.
 *
 * Included by: why/, cmd/why.c.
 */
#ifndef BTS_WHY_HISTORY_H
#define BTS_WHY_HISTORY_H

#include "diff/grow.h"

/**
 * struct system_call - a completed system call
 * @number:	the system call's number
 * @result:	the return value
 * @node:	the call tree in the kernel
 * @run:	the index of the trace
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
 * struct history - completed system calls, in the order of their returns
 * @run:	one or two traces; run[0] contains the failure
 * @events:	number of sys_exit events, including those of system calls without a call tree
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

/* Read one or two traces. @paths[1] may be NULL. Return STATUS_OK or STATUS_FAILURE. */
int history_read(struct history *h, char *const paths[2], const struct options *options);
/* Find the last failed call with @error (0: any) and @name (NULL: any) in the first trace. */
const struct system_call *history_failure(const struct history *h, int error, const char *name);
/* Return the number of failed calls in the first trace. */
size_t history_failures(const struct history *h);
bool has_failed(const struct system_call *call);
/* Write the part of the kernel function's name after "_sys_", such as "openat" or "newstat". */
void system_call_name(char *buffer, size_t size, const struct history *h,
		      const struct system_call *call);
/* Return STATUS_OK or STATUS_FAILURE. */
int history_free(struct history *h);

#endif
