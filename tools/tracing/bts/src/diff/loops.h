/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a function does, element by element, with its loops folded.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_LOOPS_H
#define BTS_DIFF_LOOPS_H

#include "tree.h"

/**
 * struct seq - elements
 * @cut:	the last chunk ends here
 */
struct seq {
	uint32_t	*elems;
	uint32_t	nr;
	uint32_t	room;
	uint32_t	cut;
};

/* So many jumps ahead are remembered in an iteration. */
#define ENTRIES_MAX	4

/**
 * struct level - a loop that goes on; or, at level 0, the function
 * @header:	the number of its first instruction
 * @object:	and its object
 * @addr:	its address
 * @low:	the lowest address in its first iteration
 * @entries:	tokens: the latest jumps ahead in @now; @nr_entries so far
 * @list:	its complete iterations
 * @iter:	the last one, which is not in @list yet,
 * @times:	and so often
 * @now:	the iteration that goes on; or what the function does
 */
struct level {
	uint32_t	header;
	uint32_t	object;
	uint64_t	addr;
	uint64_t	low;
	uint32_t	entries[ENTRIES_MAX];
	uint32_t	nr_entries;
	struct seq	list;
	uint32_t	iter;
	uint64_t	times;
	struct seq	now;
};

/**
 * struct body - a function that is being executed
 * @silent:	what it does is not compared
 * @hidden:	it is not shown at all
 * @next:	of the bodies that are free
 */
struct body {
	struct level	*levels;
	uint32_t	depth;
	uint32_t	room;
	uint32_t	function;
	bool		silent;
	bool		hidden;
	struct body	*next;
};

void seq_add(struct forest *f, struct seq *s, uint32_t elem);
/* A token or a node. A token may begin an iteration. */
void body_add(struct forest *f, struct body *b, uint32_t elem);
/* Ends all loops: levels[0].now is what the function did. */
void body_end(struct forest *f, struct body *b);
/* Empty again, its memory kept. */
void body_reset(struct body *b);
void body_free(struct body *b);

#endif
