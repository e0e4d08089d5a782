/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find where the differences between two runs are in the call trees of the tasks.
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
 * @calls:	number of the task's counted calls (is_counted()) that begin before this difference
 * @depth:	how many of the calls in @calls end after this difference
 * @rows:	strings that describe this difference; each string is shown in a row of its own
 */
struct mark {
	int		pid;
	uint32_t	number;
	uint64_t	calls;
	uint32_t	depth;
	char		*rows[MARK_ROWS];
};

/**
 * struct marks - the differences between two runs, with their places in one of these runs
 * @list:	the differences, sorted by task and place
 */
struct marks {
	struct forest	*forest;
	struct mark	*list;
	size_t		nr;
};

/**
 * struct marker - the differences of a task that a pass over the trace has not reached yet
 * @next:	the first of these differences
 * @end:	the end of the task's differences
 * @calls:	how many of the task's counted calls (is_counted()) have begun so far
 */
struct marker {
	const struct mark	*next;
	const struct mark	*end;
	uint64_t		calls;
};

/* List the differences in @c, and find their places in run c->run[@side]. */
void marks_init(struct marks *m, struct comparison *c, unsigned int side);
void marks_free(struct marks *m);
struct marker marker_begin(const struct marks *m, int pid);
/*
 * Return the state of the new frame @f, for marker_counts() and marker_here(). @around is the state
 * of the frame around @f, or 0. *@counted reports whether the compared trees contain @f.
 */
uint32_t marker_enter(const struct marks *m, const struct frame *f, uint32_t around,
		      bool *counted);
/* @state is the state of a frame. Report whether the compared trees contain this frame. */
bool marker_counts(uint32_t state);
/*
 * If the pass over the trace has reached the next difference, return this difference. Otherwise,
 * return NULL. @state is the state of the frame around the current position.
 */
const struct mark *marker_here(const struct marker *marker, uint32_t state);

#endif
