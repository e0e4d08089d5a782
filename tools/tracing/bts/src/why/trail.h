/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect the conditions that a system call tested.
 *
 * Included by: why/.
 */
#ifndef BTS_WHY_TRAIL_H
#define BTS_WHY_TRAIL_H

#include "history.h"

/**
 * struct activation - a call of a function
 * @function:	number of the function
 * @parent:	index of the caller's activation or, for the outermost activation, its own index
 * @conditions:	number of conditions tested so far
 * @last:	1 + the index of the latest condition in trail.list. The value is 0 before the first
 *		condition, and between a load of the error number and the next condition
 * @loaded:	the function loaded the error number
 */
struct activation {
	uint32_t	function;
	uint32_t	parent;
	uint32_t	conditions;
	size_t		last;
	bool		loaded;
};

/**
 * struct condition - a conditional or indirect jump
 * @place:	the jump
 * @to:		the next executed instruction
 * @same:	identifies a taken jump (see @same of struct token); 0 if the jump was not taken
 * @activation:	index, in trail.activations, of the function call that executed the jump
 * @index:	index among the conditions of the activation
 * @before:	the error number was loaded before the jump
 * @load:	the address of an instruction that loaded the error number between this jump and
 *		the next condition of the same function call, or 0
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

/*
 * All conditions of a system call, in the order of execution. If @too_deep is true, some calls were
 * nested too deeply, and their conditions are missing.
 */
struct trail {
	struct forest		*forest;
	int			error;
	struct activation	*activations;
	size_t			nr_activations;
	struct condition	*list;
	size_t			nr;
	size_t			room;
	bool			too_deep;
};

/* Collect the conditions that @call tested, and the instructions that loaded -@error. */
void trail_walk(struct trail *t, struct forest *f, const struct system_call *call, int error);
/* Return the likelihood (0 to 100) that @c is the failing check, using only the trail @t. */
unsigned int trail_weight(const struct trail *t, const struct condition *c);
void trail_free(struct trail *t);

#endif
