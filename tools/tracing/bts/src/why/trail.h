/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The conditions that a failed system call has passed.
 *
 * Included by: why/.
 */
#ifndef BTS_WHY_TRAIL_H
#define BTS_WHY_TRAIL_H

#include "history.h"

/**
 * struct activation - a function's call
 * @function:	which
 * @parent:	the call around it; its own number if there is none
 * @conditions:	executed in it so far
 * @last:	number of the last one, plus 1, if nothing was loaded after it
 * @loaded:	the error's number was loaded in it
 */
struct activation {
	uint32_t	function;
	uint32_t	parent;
	uint32_t	conditions;
	size_t		last;
	bool		loaded;
};

/**
 * struct condition - a jump that may lead two ways or more
 * @place:	the jump
 * @to:		where it led
 * @same:	struct token's, if it was taken; or 0
 * @activation:	where it is
 * @index:	among the activation's conditions
 * @before:	the error's number had been loaded before it
 * @load:	where the number is loaded next, with no condition in between, or 0
 */
struct condition {
	struct place	place;
	struct place	to;
	uint32_t	same;
	uint32_t	activation;
	uint32_t	index;
	bool		before;
	uint64_t	load;
};

/* All of them, in the order in which they were executed. */
struct trail {
	struct forest		*forest;
	int			error;
	struct activation	*activations;
	size_t			nr_activations;
	struct condition	*list;
	size_t			nr;
	size_t			room;
};

/* @error: the number to look for. */
void trail_walk(struct trail *t, struct forest *f, const struct system_call *call, int error);
/* How likely a condition is the check, seen from this call alone: 0 to 100. */
unsigned int trail_weight(const struct trail *t, const struct condition *c);
void trail_free(struct trail *t);

#endif
