/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build and show the trees and sums of bts tui.
 *
 * Included by: tui/, cmd/tui.c.
 */
#ifndef BTS_TUI_H
#define BTS_TUI_H

#include "flow/calls.h"
#include "flow/pipeline.h"
#include "flow/tally.h"
#include "marks.h"

#define NODE_NONE UINT32_MAX

/**
 * struct tree_node - a call, or a row between calls
 * @sym:	the function, or NULL for a row
 * @text:	the text of a row
 * @task:	the task; its name may change later
 * @insns:	instructions executed during the call
 * @branches:	branches taken during the call
 * @parent:	the enclosing call
 * @next:	the first later node outside this call
 * @depth:	the number of enclosing calls
 * @kind:	FRAME_*
 * @loss:	branches are missing here
 * @difference:	number of the difference of which this is the first row, or 0
 * @mark:	the row is part of a difference
 * @folded:	the nodes inside this call are hidden
 */
struct tree_node {
	struct sym	*sym;
	char		*text;
	struct task	*task;
	uint64_t	insns;
	uint64_t	branches;
	uint32_t	parent;
	uint32_t	next;
	uint32_t	depth;
	uint32_t	difference;
	uint8_t		kind;
	bool		loss;
	bool		mark;
	bool		folded;
};

/* Each stack of each task has its own tree, a list of nodes in order of time. */
struct tree {
	struct task		*task;
	uint32_t		stack;
	struct tree_node	*nodes;
	uint32_t		nr;
	uint32_t		room;
	bool			full;
};

/**
 * struct tui - the data of bts tui
 * @trees:	the trees of all stacks
 * @by_stack:	the number of the tree, plus 1, as calls; key: task, stack
 * @nr_nodes:	the number of nodes in all trees
 * @by_function: sums; key: function
 * @functions:	the same sums, sorted by instructions
 * @lines:	sums; key: function, line, name of the file
 * @count:	the count of the step that is being added
 * @marks:	the differences from another run, or NULL
 * @markers:	for each task, the next of these differences
 */
struct tui {
	struct pipe		pipe;
	struct tree		*trees;
	size_t			nr_trees;
	struct tally		by_stack;
	uint64_t		nr_nodes;
	struct tally		by_function;
	struct tally_entry	*functions;
	size_t			nr_functions;
	struct tally		lines;
	uint64_t		count;
	const struct marks	*marks;
	struct marker		**markers;
	size_t			nr_markers;
};

/* tree.c: fill the trees and sums from a trace, with t->marks set, and free them. */
int tui_read(struct tui *t, const char *path, const struct options *options);
void tui_free(struct tui *t);
/* Return the next or the previous visible node, or NODE_NONE if there is none. */
uint32_t tree_after(const struct tree *tree, uint32_t node);
uint32_t tree_before(const struct tree *tree, uint32_t node);
/* Make the node visible. */
void tree_show(struct tree *tree, uint32_t node);
/* Find the next call, cyclically, whose name contains @text or, if @text is NULL, the next loss. */
uint32_t tree_search(const struct tree *tree, uint32_t from, const char *text);

/*
 * Return the next difference after node @from or, with @back, the previous difference. @from may be
 * NODE_NONE for the first difference, or, with @back, the number of nodes for the last. Return
 * NODE_NONE if there is no such difference.
 */
uint32_t tree_difference(const struct tree *tree, uint32_t from, bool back);

/* screen.c: run the terminal until the user quits. @runs are one run, or two that are compared. */
int tui_screen(struct tui *runs, unsigned int nr_runs);

/* source.c: show the lines around a function with their counts. */
void tui_source(struct tui *t, struct sym *sym);

#endif
