/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declare functions and types for the files that find and describe differences.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_DESCRIBE_H
#define BTS_DIFF_DESCRIBE_H

#include "find.h"
#include "items.h"

/**
 * struct range - consecutive items of run A, to be compared with consecutive items of run B
 * @after:	the items after the range
 * @type:	the type of @nodes
 * @nodes:	the nodes that contain the items
 */
struct range {
	struct item		*items[2];
	size_t			nr[2];
	const struct rest	*after[2];
	enum node_type		type;
	uint32_t		nodes[2];
};

/**
 * struct find - the state of the search for differences
 * @groups:	maps each difference, identified by group_of(), to 1 + its index in out->list
 * @pairs:	maps each compared pair of nodes to its differences in @kept (first index, count)
 * @found:	differences found so far in the pairs that are being compared
 * @path:	the functions on the call path to the current place, outermost first
 * @depth:	nesting depth of the pair of nodes that is being compared
 * @unmet:	1 + the index of the last difference; 0 after both runs take the same branch again
 * @calls:	number of calls in each run so far; kernel functions count only if f->all is set
 */
struct find {
	struct forest		*f;
	struct differences	*out;
	struct tally		groups;
	struct tally		pairs;
	struct found		*found;
	size_t			nr_found;
	size_t			found_room;
	struct found		*kept;
	size_t			nr_kept;
	size_t			kept_room;
	uint32_t		*path;
	size_t			nr_path;
	size_t			path_room;
	unsigned int		depth;
	uint32_t		unmet;
	uint64_t		calls[2];
	bool			too_deep;
};

/* Add the difference in the range to the list, unless it is already there. Return its index. */
uint32_t describe(struct find *s, const struct range *r);
/* The runs have not met since the last difference, so add the range to that difference. */
void describe_more(struct find *s, const struct range *r);
void path_push(struct find *s, uint32_t function);
/* Count the leading elements that are equal in both runs. Set @tokens to each run's next branch. */
uint64_t range_parts(const struct forest *f, const struct range *r, uint32_t tokens[2]);
/* Set @tokens to each run's first branch after the range. Report whether the branches are equal. */
bool range_meets(const struct forest *f, const struct range *r, uint32_t tokens[2]);

#endif
