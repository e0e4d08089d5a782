/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrange two runs beside each other: equal stretches and differences, in order.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_DIFF_BESIDE_H
#define BTS_DIFF_BESIDE_H

#include "find.h"
#include "items.h"

/* The number of items to keep at the beginning and at the end of a stretch. */
#define STRETCH_ENDS	20
/* The number of items of a difference to keep. */
#define DIFFERENCE_ITEMS 1000

enum part_type {
	PART_ENTER,		/* two calls, loops or iterations begin */
	PART_LEAVE,
	PART_STRETCH,
	PART_DIFFERENCE,
};

/**
 * struct stretch - items that both runs have, or whose differences occurred before
 * @first:	the first items
 * @last:	a ring of the items after these
 * @nr:		number of items in all
 * @insns:	instructions executed in each run
 * @branches:	branches taken in each run
 * @again:	the differences
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
 * struct apart - the items of a run at a difference
 * @nr:		number of items in @items, at most DIFFERENCE_ITEMS
 * @left_out:	number of further items
 * @first:	the first branch, or NONE
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
 * struct part - a part of the runs
 * @nodes:	PART_ENTER: the nodes that are compared
 * @times:	PART_ENTER: number of times that they occur in succession
 * @difference:	PART_DIFFERENCE: its number
 * @more:	PART_DIFFERENCE: the difference began before
 * @meets:	PART_DIFFERENCE: the runs meet after this part
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
 * struct beside - the parts of two runs
 * @rows:	differences with higher numbers are not shown; 0: show all
 * @open:	for each pair that is being compared: the index of its part
 * @news:	number of differences shown so far
 * @latest:	number of the difference that can go on, or NONE
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

/* The callbacks for find_differences(). Their data is a struct beside with @forest and @rows. */
extern const struct find_ops beside_ops;

/* Return the item at an index of the stretch, or NULL if the item was not kept. */
const struct stretch_item *stretch_item(const struct stretch *s, uint64_t index);
void beside_free(struct beside *v);

#endif
