/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remember the branches of whole calls, so that the tree of an earlier call can be used again.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_RECALL_H
#define BTS_DIFF_RECALL_H

#include "flow/calls.h"
#include "noise.h"
#include "tree.h"

/* The maximum number of branches of a remembered call, and the maximum size of the log. */
#define RECALL_MAX	256
#define RECALL_LOG	4096

/**
 * struct recall - the latest branches of a task, and the call that is being recalled
 *
 * The lists grow on demand, because there may be thousands of tasks.
 *
 * @log:	tokens of the latest branches, with room for @log_room tokens
 * @nr_log:	number of branches logged so far, including branches that were dropped
 * @base:	number of branches that were logged before the first branch in @log
 * @broken:	value of @nr_log at the last recall_break(); calls begun earlier are not remembered
 * @site:	1 + the index of the call's struct site; 0 if no call is being recalled
 * @state:	the call's latest branch, as an index into memory.states (recall.c)
 * @ret:	the return address
 * @begin:	value of @nr_log when the call began
 * @steps:	the @nr steps of the call so far, with room for @steps_room steps
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
 * struct pending - a call that has not returned; stored in the struct body of its caller
 * @token:	the token (tree.h) of the call instruction; NONE if no call is pending
 * @begin:	index of the call's first branch in the log
 * @ret:	the return address
 * @node:	the last node that was added to the caller's body; valid if @nodes is not 0
 * @nodes:	the number of nodes added to the caller's body since the call
 */
struct pending {
	uint32_t	token;
	uint64_t	begin;
	uint64_t	ret;
	uint32_t	node;
	uint32_t	nodes;
};

/**
 * struct recalled - the result of a remembered call
 * @node:	the call's tree
 * @noise:	number of calls in the tree whose branches are not compared, by reason (NOISE_*)
 */
struct recalled {
	uint32_t	node;
	uint32_t	noise[NOISE_KINDS];
};

/* Make room in the log. If the log has reached its maximum size, drop all its branches. */
void recall_more_log(struct recall *r);

/* Add a branch to the log. */
static inline void recall_log(struct recall *r, uint32_t token)
{
	if (r->nr_log - r->base == r->log_room)
		recall_more_log(r);
	r->log[r->nr_log++ - r->base] = token;
}

/* Do not remember the calls in progress, because the log does not describe them completely. */
static inline void recall_break(struct recall *r)
{
	r->broken = r->nr_log;
}

/* Remember the call @p, which has just returned. */
void recall_learn(struct forest *f, struct recall *r, const struct pending *p);
/* Begin to recall @call. Return false if @call is not compared with remembered calls. */
bool recall_begin(struct forest *f, struct recall *r, struct step *call);
/*
 * @s is the new call's next branch. If a remembered call begins with the same branches, log this
 * branch and return true. If the branch ends the call, also set *@done to the call's result.
 */
bool recall_step(struct forest *f, struct recall *r, struct step *s,
		 const struct recalled **done);

/* Stop comparing the call with remembered calls. Remove the call's branches from the log. */
void recall_fail(struct recall *r);
void recall_free(struct recall *r);

#endif
