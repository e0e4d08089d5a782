/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For each difference between two runs, find its place in the task's call tree.
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
 * @calls:	how many calls begin before this difference (marks.c explains which calls count)
 * @depth:	how many of these calls have not ended when this difference occurs
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
 * struct marker - the remaining differences of a task while bts tui reads the trace
 * @next:	the first difference that bts tui has not reached yet
 * @end:	the end of the task's differences
 * @calls:	how many calls have begun so far (marks.c explains which calls count)
 */
struct marker {
	const struct mark	*next;
	const struct mark	*end;
	uint64_t		calls;
};

/* Copy the differences from @c to @m, and find their places in the run c->run[@side]. */
void marks_init(struct marks *m, struct comparison *c, unsigned int side);
void marks_free(struct marks *m);
struct marker marker_begin(const struct marks *m, int pid);
/*
 * Return the state of the new frame @f (see marks.c). @around is the state of the next outer frame,
 * or 0 if @f is the outermost frame. *@counted reports whether mark.calls counts @f's call.
 */
uint32_t marker_enter(const struct marks *m, const struct frame *f, uint32_t around,
		      bool *counted);
/* @state is the state of a frame. Report whether mark.calls counts the frame's call. */
bool marker_counts(uint32_t state);
/*
 * If bts tui has reached the next difference, return this difference. Otherwise, return NULL.
 * @state is the state of the innermost frame at this point of the trace, or 0 without a frame.
 */
const struct mark *marker_here(const struct marker *marker, uint32_t state);

#endif
