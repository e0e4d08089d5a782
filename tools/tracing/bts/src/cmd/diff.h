/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of bts diff share.
 *
 * Included by: cmd/diff*.c.
 */
#ifndef BTS_DIFF_H
#define BTS_DIFF_H

#include "flow/calls.h"
#include "flow/tally.h"
#include "command.h"

/* A mark stands after so many branches. */
#define DIFF_WINDOW	4096

enum diff_pass {
	PASS_MARKS,		/* a mark for each window, and sums by function */
	PASS_WINDOW,		/* the branches of the first window that differs */
	PASS_STACK,		/* the stack at the first branch that differs */
};

/**
 * struct track - a task's branches in a trace
 * @nr:		so many, in this pass
 * @total:	in all
 * @hash:	of all up to here
 * @marks:	it, after each window
 * @window_at:	the branch that the window begins with
 * @window:	of each branch in it, a number that stands for its ends
 * @parts_at:	the first branch that differs from the other trace's; UINT64_MAX: none
 * @where:	that branch, as text
 * @stack:	functions around it
 */
struct track {
	int		pid;
	char		comm[16];
	uint64_t	nr;
	uint64_t	total;
	uint64_t	hash;
	uint64_t	*marks;
	size_t		nr_marks;
	uint64_t	window_at;
	uint64_t	*window;
	uint64_t	parts_at;
	char		*where;
	char		*stack;
};

/* A function's sums in a trace. */
struct function {
	char		*name;
	uint64_t	insns;
	uint64_t	calls;
};

/**
 * struct diff_trace - one of the two traces
 * @tracks:	tasks in the order of their first branch
 * @seen:	how many of these were seen in this pass
 * @all:	the kernel's branches as well
 */
struct diff_trace {
	const char		*path;
	struct pipe		pipe;
	enum diff_pass		pass;
	bool			opened;		/* it is a trace */
	bool			all;
	struct track		**tracks;
	size_t			nr_tracks;
	size_t			seen;
	struct tally		tally;
	struct function		*functions;
	size_t			nr_functions;
};

/* diff_pass.c: one pass over a trace. STATUS_OK or STATUS_FAILURE. */
int diff_pass(struct diff_trace *r, enum diff_pass pass, const struct options *options);
void diff_free(struct diff_trace *r);

#endif
