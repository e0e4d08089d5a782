/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect the elements (tree.h) that a function executes, and fold its loops.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_LOOPS_H
#define BTS_DIFF_LOOPS_H

#include "recall.h"
#include "tree.h"

/**
 * struct seq - a sequence of elements
 * @cut:	the first @cut elements are NODE_CHUNKs (tree.h). The next chunk begins after them
 */
struct seq {
	uint32_t	*elems;
	uint32_t	nr;
	uint32_t	room;
	uint32_t	cut;
};

/* The maximum number of forward jumps to store for an iteration. */
#define ENTRIES_MAX	4

/* The target of a forward jump. A loop may begin there. @header: the target's ID (forest.places) */
struct entry {
	struct place	place;
	uint32_t	object;
	uint32_t	header;
};

/**
 * struct level - a loop that is being executed or, at level 0, a function
 * @header:	the ID that forest.places assigns to the loop's first instruction
 * @object:	the object of the first instruction
 * @addr:	the address of the first instruction
 * @low:	the lowest address in the first iteration
 * @entries:	a ring buffer of the targets of the latest forward jumps in the sequence @now
 * @nr_entries:	number of forward jumps in @now
 * @list:	the complete iterations
 * @iter:	the last complete iteration, which is not in @list yet
 * @times:	number of consecutive repetitions of @iter
 * @now:	the elements of the current iteration or, at level 0, of the function
 */
struct level {
	uint32_t	header;
	uint32_t	object;
	uint64_t	addr;
	uint64_t	low;
	struct entry	entries[ENTRIES_MAX];
	uint32_t	nr_entries;
	struct seq	list;
	uint32_t	iter;
	uint64_t	times;
	struct seq	now;
};

/**
 * struct body - a function that is being executed
 * @silent:	the contents of the function are not compared
 * @hidden:	the function does not appear in the tree
 * @branches:	a branch of the function (not of a function that it calls) has passed the filters
 * @pending:	the latest call from this function, see recall.h
 * @next:	the next body in the list of unused bodies
 */
struct body {
	struct level	*levels;
	uint32_t	depth;
	uint32_t	room;
	uint32_t	function;
	bool		silent;
	bool		hidden;
	bool		branches;
	struct pending	pending;
	struct body	*next;
};

/* Add a token or a node to a body. A token may begin or end a loop or an iteration. */
void body_add(struct forest *f, struct body *b, uint32_t elem);
/* End all loops in a body. Afterwards, levels[0].now contains all elements of the function. */
void body_end(struct forest *f, struct body *b);
/* Empty a body for reuse. Free only its long sequences. */
void body_reset(struct body *b);
void body_free(struct body *b);

#endif
