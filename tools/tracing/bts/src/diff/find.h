/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference of two trees.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_FIND_H
#define BTS_DIFF_FIND_H

#include "tree.h"

enum difference_kind {
	DIFF_BRANCH,		/* a branch went another way */
	DIFF_LOOP,		/* a loop ran more often */
	DIFF_RECURSION,		/* a function called itself more often */
};

/* So many callers of a difference are kept. */
#define PATH_MAX_NR	12

/* A function, and how often in a row. */
struct called {
	uint32_t	function;
	uint64_t	times;
};

/**
 * struct side - what a run did from a difference on, until the runs meet
 * @token:	the first branch that differs; NONE: the task ends
 * @insns:	executed meanwhile
 * @branches:	taken meanwhile
 * @calls:	functions called meanwhile, as text; or NULL
 * @times:	how often the loop ran, or how deep the recursion went
 */
struct side {
	uint32_t	token;
	uint64_t	insns;
	uint64_t	branches;
	char		*calls;
	uint64_t	times;
};

/**
 * struct difference - a difference, which may occur more than once
 * @function:	where it is
 * @path:	it and its callers at the first occurrence, innermost first
 * @path_cut:	there are more
 * @place:	the branch that went two ways
 * @place_addr:	its address
 * @meet:	the next instruction that both execute; @meets: there is one
 * @times:	occurrences
 */
struct difference {
	enum difference_kind	kind;
	uint32_t		function;
	struct called		path[PATH_MAX_NR];
	uint32_t		nr_path;
	bool			path_cut;
	struct place		place;
	uint64_t		place_addr;
	struct place		meet;
	bool			meets;
	struct side		side[2];
	uint64_t		times;
};

struct differences {
	struct difference	*list;
	size_t			nr;
	size_t			room;
	bool			too_deep;	/* the innermost calls were not compared */
};

/* Adds the differences of two tasks' nodes to the list, in order. */
void find_differences(struct forest *f, uint32_t a, uint32_t b, struct differences *out);
/* "main", or, of code without a symbol, where it was entered: "sort+0x1234". */
void function_text(char *buffer, size_t size, const struct function *fn);
void differences_free(struct differences *d);

#endif
