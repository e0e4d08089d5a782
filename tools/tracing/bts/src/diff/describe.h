/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files that find differences share.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_DESCRIBE_H
#define BTS_DIFF_DESCRIBE_H

#include "find.h"
#include "items.h"

/**
 * struct range - items of both runs that are compared with each other
 * @type:	of the nodes that they are in
 * @nodes:	these
 * @after:	what follows
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
 * @groups:	differences by what they have in common
 * @pairs:	nodes that were compared: from where in @kept, and how many
 * @found:	differences of the pairs that are being compared
 * @path:	functions around, outermost first
 * @depth:	pairs around
 * @unmet:	the last difference, plus 1, if the runs have not met after it
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

/* The difference's number in the list, to which it is added if it is not there. */
uint32_t describe(struct find *s, const struct range *r);
/* The range belongs to the last difference: the runs have not met before it. */
void describe_more(struct find *s, const struct range *r);
void path_push(struct find *s, uint32_t function);

#endif
