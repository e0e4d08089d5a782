/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find where the differences are in the call tree of a task.
 *
 * Included by: tui/, cmd/tui.c.
 */
#ifndef BTS_TUI_MARKS_H
#define BTS_TUI_MARKS_H

#include "diff/compare.h"
#include "flow/calls.h"

#define MARK_ROWS	4

/**
 * struct mark - a difference, and its place in a task
 * @pid:	the PID of the task
 * @number:	number of the difference, counted from 1; the number is the same in both runs
 * @calls:	number of counted calls (is_counted()) before the difference
 * @depth:	how many of these calls end after the difference
 * @rows:	the lines of the difference's text
 */
struct mark {
	int		pid;
	uint32_t	number;
	uint64_t	calls;
	uint32_t	depth;
	char		*rows[MARK_ROWS];
};

/**
 * struct marks - the differences, with their places in one run
 * @list:	the differences, sorted by task and place
 */
struct marks {
	struct forest	*forest;
	struct mark	*list;
	size_t		nr;
};

/**
 * struct marker - the remaining differences of a task, during a pass over the trace
 * @next:	the first remaining difference
 * @end:	the end of the task's differences
 * @calls:	how many of the task's counted calls (is_counted()) have begun so far
 */
struct marker {
	const struct mark	*next;
	const struct mark	*end;
	uint64_t		calls;
};

/* List the differences of the comparison, with their places in run number @side. */
void marks_init(struct marks *m, struct comparison *c, unsigned int side);
void marks_free(struct marks *m);
struct marker marker_begin(const struct marks *m, int pid);
/*
 * Return the state of a new frame. @around is the state of the outer frame, or 0. Set
 * *@counted if the compared trees contain the new frame.
 */
uint32_t marker_enter(const struct marks *m, const struct frame *f, uint32_t around,
		      bool *counted);
/* Report whether the compared trees contain the frame whose state is @state. */
bool marker_counts(uint32_t state);
/* Return the next difference if its place is reached, or NULL. @state: the frame's state. */
const struct mark *marker_here(const struct marker *marker, uint32_t state);

#endif
