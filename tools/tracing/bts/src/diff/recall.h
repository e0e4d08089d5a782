/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remember the branches of whole calls, to build the tree of an equal call at once.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_RECALL_H
#define BTS_DIFF_RECALL_H

#include "flow/calls.h"
#include "noise.h"
#include "tree.h"

/* Longer calls are not remembered. */
#define RECALL_MAX	256
#define RECALL_LOG	4096

/**
 * struct recall - the latest branches of a task, and the call that is being recalled
 *
 * The lists grow on demand, because there may be thousands of tasks.
 *
 * @log:	tokens of the latest branches, with room for @log_room; there were @nr_log
 *		branches, and @base are forgotten
 * @broken:	calls that began before this branch are not remembered
 * @site:	the call's place in the code, plus 1, or 0 if no call is being recalled
 * @state:	the state that the branches so far have reached
 * @ret:	the return address
 * @begin:	@nr_log when the call began
 * @steps:	the call and its branches so far; @nr steps, with room for @steps_room
 */
struct recall {
	uint32_t		*log;
	size_t			log_room;
	uint64_t		nr_log;
	uint64_t		base;
	uint64_t		broken;
	uint32_t		site;
	uint32_t		state;
	uint64_t		ret;
	uint64_t		begin;
	struct step		**steps;
	size_t			steps_room;
	uint32_t		nr;
};

/**
 * struct pending - a call that has not returned, in the body of its caller
 * @token:	the call, or NONE
 * @begin:	index of its first branch in the log
 * @ret:	the return address
 * @node:	the last node that was added to the body, if @nodes is not 0
 * @nodes:	the number of nodes added to the body since the call
 */
struct pending {
	uint32_t	token;
	uint64_t	begin;
	uint64_t	ret;
	uint32_t	node;
	uint32_t	nodes;
};

/**
 * struct recalled - the effect of a call
 * @node:	its tree
 * @noise:	the calls in the tree whose branches are not compared, by NOISE_*
 */
struct recalled {
	uint32_t	node;
	uint32_t	noise[NOISE_KINDS];
};

/* Make room in the log. Forget its branches if it is as large as possible. */
void recall_more_log(struct recall *r);

/* Add a branch to the log. */
static inline void recall_log(struct recall *r, uint32_t token)
{
	if (r->nr_log - r->base == r->log_room)
		recall_more_log(r);
	r->log[r->nr_log++ - r->base] = token;
}

/* Something happened that the log does not show. */
static inline void recall_break(struct recall *r)
{
	r->broken = r->nr_log;
}

/* Remember the call that has returned. */
void recall_learn(struct forest *f, struct recall *r, const struct pending *p);
/* If calls at this place are remembered, begin to recall, and return true. */
bool recall_begin(struct forest *f, struct recall *r, struct step *call);
/*
 * Compare the next branch, and log it. Return false if no remembered call continues in this way.
 * After the last branch of a call, set @done to the effect of the call.
 */
bool recall_step(struct forest *f, struct recall *r, struct step *s,
		 const struct recalled **done);

/* The call must be taken again. Remove its branches from the log. */
void recall_fail(struct recall *r);
void recall_free(struct recall *r);

#endif
