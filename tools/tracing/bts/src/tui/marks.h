/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the places of differences in the calls of a task.
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
 * @pid:	the task
 * @number:	number of the difference, from 1; the same in both runs
 * @calls:	number of calls before the difference, see is_counted()
 * @depth:	number of these calls that have not ended
 * @rows:	its text
 */
struct mark {
	int		pid;
	uint32_t	number;
	uint64_t	calls;
	uint32_t	depth;
	char		*rows[MARK_ROWS];
};

/**
 * struct marks - the differences in a run
 * @list:	sorted by task and place
 */
struct marks {
	struct forest	*forest;
	struct mark	*list;
	size_t		nr;
};

/**
 * struct marker - a task that is being read
 * @next:	the next difference
 * @end:	the end of its differences
 * @calls:	number of calls so far
 */
struct marker {
	const struct mark	*next;
	const struct mark	*end;
	uint64_t		calls;
};

/* List the differences of one side of the comparison. */
void marks_init(struct marks *m, struct comparison *c, unsigned int side);
void marks_free(struct marks *m);
struct marker marker_begin(const struct marks *m, int pid);
/*
 * Count a frame that begins. @around and the result are the state of the outer frame, or 0, and of
 * the new frame. Set @counted if the frame is in the trees that were compared.
 */
uint32_t marker_enter(const struct marks *m, const struct frame *f, uint32_t around,
		      bool *counted);
/* Report whether the frame with this state is in the trees that were compared. */
bool marker_counts(uint32_t state);
/* Return the next difference if its place has been reached, inside the frame with this state. */
const struct mark *marker_here(const struct marker *marker, uint32_t state);

#endif
