/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find all differences between two trees.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_FIND_H
#define BTS_DIFF_FIND_H

#include "tree.h"

enum difference_kind {
	DIFF_BRANCH,		/* a branch had different outcomes */
	DIFF_LOOP,		/* one run executed more iterations of a loop */
	DIFF_RECURSION,		/* the recursion of a function was deeper in one run */
};

#define PATH_MAX_NR	12

/* In difference.path, @times counts consecutive frames of @function. Elsewhere, it counts calls. */
struct called {
	uint32_t	function;
	uint64_t	times;
};

/**
 * struct side - what one run executes from a difference until the runs meet
 * @token:	the run's first branch that differs, or NONE if the run takes no further branch
 * @insns:	executed instructions
 * @branches:	taken branches
 * @calls:	called functions, as text, or NULL
 * @times:	for DIFF_LOOP, the number of iterations; for DIFF_RECURSION, the depth
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
 * @path:	@function and its callers when the difference first occurs, innermost first
 * @path_cut:	@path is not complete
 * @place:	the branch that differs
 * @place_addr:	the run-time address of @place
 * @meet:	if @meets is set, the next instruction that both runs execute
 * @times:	number of occurrences
 * @calls:	number of calls in each run before the difference first occurs (see is_counted())
 * @depth:	how many of the calls in @calls have not returned when the difference first occurs
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
	uint64_t		calls[2];
	uint32_t		depth;
};

/* An index into differences.list, and how often that difference occurs between two nodes. */
struct found {
	uint32_t	difference;
	uint64_t	times;
};

enum occurrence {
	OCCURS_FIRST,
	OCCURS_AGAIN,
	OCCURS_MORE,		/* the last difference continues: the runs have not met again */
};

struct item;
struct range;

/**
 * struct find_ops - callbacks that receive all parts of two runs, in order
 * @equal:	receives an item that is equal in both runs, and the number of its repetitions
 * @enter:	begins the comparison of two nodes (calls, loops or iterations), one from each run.
 *		@times is the number of repetitions of the nodes in each run
 * @leave:	ends the comparison that @enter began, and receives the differences that were found
 * @known:	called instead of @enter and @leave for two nodes that were already compared once
 * @differ:	receives a range in which the runs differ
 */
struct find_ops {
	void	(*equal)(void *ctx, const struct item *item, uint64_t times);
	void	(*enter)(void *ctx, const uint32_t nodes[2], uint64_t times);
	void	(*leave)(void *ctx, const struct found *list, size_t nr);
	void	(*known)(void *ctx, const uint32_t nodes[2], uint64_t times,
			 const struct found *list, size_t nr);
	void	(*differ)(void *ctx, const struct range *r, uint32_t difference,
			  enum occurrence occurs);
};

/**
 * struct differences - the differences of two trees
 * @ops:	callbacks, or NULL
 * @ctx:	data of @ops
 * @too_deep:	some calls were not compared, because they were nested too deeply
 */
struct differences {
	struct difference	*list;
	size_t			nr;
	size_t			room;
	const struct find_ops	*ops;
	void			*ctx;
	bool			too_deep;
};

/* Add the differences of two nodes to out->list, sorted by first occurrence. */
void find_differences(struct forest *f, uint32_t a, uint32_t b, struct differences *out);
/* Write the function's name or, for code without a symbol, a place such as "sort+0x1234". */
void function_text(char *buffer, size_t size, const struct function *fn);
/* Return how often a loop's body was executed. */
uint64_t loop_times(const struct forest *f, uint32_t elem);
void differences_free(struct differences *d);

#endif
