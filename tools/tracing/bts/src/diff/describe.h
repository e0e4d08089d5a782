/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the files that find differences.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_DESCRIBE_H
#define BTS_DIFF_DESCRIBE_H

#include "find.h"
#include "items.h"

/**
 * struct range - items of both runs to compare
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

struct found {
	uint32_t	difference;
	uint64_t	times;
};

/**
 * struct find - a search
 * @groups:	numbers of differences, by the key of group_of()
 * @pairs:	pairs that were compared, with the position and number of their results in @kept
 * @found:	differences found so far in the pairs that are being compared
 * @path:	the enclosing functions, outermost first
 * @depth:	number of enclosing pairs
 * @unmet:	number of the last difference, plus 1, if the runs have not met after it; or 0
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
	bool			too_deep;
};

/* Find or add the difference. Return its number in the list. */
uint32_t describe(struct find *s, const struct range *r);
/* Add the range to the last difference, because the runs have not met since. */
void describe_more(struct find *s, const struct range *r);
void path_push(struct find *s, uint32_t function);

#endif
