/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find all differences of two trees.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_FIND_H
#define BTS_DIFF_FIND_H

#include "tree.h"

enum difference_kind {
	DIFF_BRANCH,		/* a branch had different outcomes */
	DIFF_LOOP,		/* a loop ran more often in one run */
	DIFF_RECURSION,		/* a function called itself more often in one run */
};

#define PATH_MAX_NR	12

/* A function, and its number of calls or of consecutive frames. */
struct called {
	uint32_t	function;
	uint64_t	times;
};

/**
 * struct side - the execution of one run from a difference until the runs meet
 * @token:	the first branch that differs; NONE: no branch follows
 * @insns:	executed instructions
 * @branches:	taken branches
 * @calls:	called functions, as text, or NULL
 * @times:	iterations of the loop, or depth of the recursion
 */
struct side {
	uint32_t	token;
	uint64_t	insns;
	uint64_t	branches;
	char		*calls;
	uint64_t	times;
};

/**
 * struct difference - a difference, which may occur several times
 * @function:	the function that contains the difference
 * @path:	that function and its callers at the first occurrence, innermost first
 * @path_cut:	@path is not complete
 * @place:	the branch that differs
 * @place_addr:	the address of the branch in memory
 * @meet:	the next instruction that both runs execute, if @meets
 * @times:	number of occurrences
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

/* Add the differences of two nodes to the list, in order. */
void find_differences(struct forest *f, uint32_t a, uint32_t b, struct differences *out);
/* Write the function's name or, for code without a symbol, where it begins: "sort+0x1234". */
void function_text(char *buffer, size_t size, const struct function *fn);
void differences_free(struct differences *d);

#endif
