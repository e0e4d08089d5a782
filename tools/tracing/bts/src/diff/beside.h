/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrange two runs side by side, as a list of differences and of the stretches between them.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_DIFF_BESIDE_H
#define BTS_DIFF_BESIDE_H

#include "find.h"
#include "items.h"

/* The maximum number of items to store at each end of a stretch. */
#define STRETCH_ENDS	20
/* The maximum number of items to store for a difference. */
#define DIFFERENCE_ITEMS 1000

enum part_type {
	PART_ENTER,		/* a call, loop or iteration begins in both runs */
	PART_LEAVE,
	PART_STRETCH,
	PART_DIFFERENCE,
};

/**
 * struct stretch - successive items without a new difference (see beside.c)
 * @first:	the first items
 * @last:	a ring buffer of the last items, without the items in @first
 * @nr:		total number of items
 * @insns:	instructions executed in each run
 * @branches:	branches taken in each run
 * @again:	the earlier differences that occur again in the items
 */
struct stretch {
	struct stretch_item {
		uint32_t	elem;
		bool		differs;
		uint64_t	times;
	}			first[STRETCH_ENDS], last[STRETCH_ENDS];
	uint64_t		nr;
	uint64_t		insns[2];
	uint64_t		branches[2];
	struct found		*again;
	size_t			nr_again;
};

/**
 * struct apart - the items that one run executed at a difference
 * @nr:		number of items in @items, at most DIFFERENCE_ITEMS
 * @left_out:	number of items that are not in @items
 * @first:	the run's first branch at the difference, or NONE
 * @next:	the first branch after the items, or NONE
 */
struct apart {
	struct item		*items;
	size_t			nr;
	size_t			left_out;
	uint32_t		first;
	uint32_t		next;
};

/**
 * struct part - an entry in the list of struct beside
 * @nodes:	for PART_ENTER, the nodes that are compared
 * @times:	for PART_ENTER, the number of consecutive repetitions of the nodes
 * @difference:	for PART_DIFFERENCE, the index of the difference
 * @more:	for PART_DIFFERENCE, whether this part continues the difference of an earlier part
 * @meets:	for PART_DIFFERENCE, whether the runs meet after this part
 */
struct part {
	enum part_type		type;
	uint32_t		nodes[2];
	uint64_t		times;
	struct stretch		*stretch;
	uint32_t		difference;
	bool			more;
	bool			meets;
	struct apart		side[2];
};

/**
 * struct beside - two runs, arranged as a list of parts
 * @rows:	maximum number of differences to show, or 0 for all
 * @open:	the indexes in @parts of all PART_ENTER parts that have no PART_LEAVE yet
 * @news:	number of PART_DIFFERENCE parts so far
 * @latest:	index of the last difference if the next part may continue it, otherwise NONE
 */
struct beside {
	const struct forest	*forest;
	unsigned long		rows;
	struct part		*parts;
	size_t			nr;
	size_t			room;
	struct beside_open {
		size_t		part;
		size_t		news;
	}			*open;
	size_t			nr_open;
	size_t			open_room;
	size_t			news;
	uint32_t		latest;
};

/*
 * The callbacks for find_differences(). The argument @ctx points to a struct beside, in which the
 * caller has set the members @forest and @rows.
 */
extern const struct find_ops beside_ops;

/* Return the item at @index in the stretch @s, or NULL if the item was not stored. */
const struct stretch_item *stretch_item(const struct stretch *s, uint64_t index);
void beside_free(struct beside *v);

#endif
