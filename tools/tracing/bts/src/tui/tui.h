/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of bts tui share.
 *
 * Included by: tui/, cmd/tui.c.
 */
#ifndef BTS_TUI_H
#define BTS_TUI_H

#include "flow/calls.h"
#include "flow/pipeline.h"
#include "flow/tally.h"

#define NODE_NONE UINT32_MAX

/**
 * struct tree_node - a call, or a row between calls
 * @sym:	the function, or NULL
 * @text:	of a row that is no call
 * @task:	the task; its name may change later
 * @insns:	executed until it ended
 * @branches:	taken
 * @parent:	the call around it
 * @next:	the first node that is not within it
 * @depth:	calls around it
 * @kind:	FRAME_*
 * @loss:	branches are missing here
 * @folded:	what is within it is not shown
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
	uint8_t		kind;
	bool		loss;
	bool		folded;
};

/* Of each stack of each task its own tree: a list of nodes in their order. */
struct tree {
	struct task		*task;
	uint32_t		stack;
	struct tree_node	*nodes;
	uint32_t		nr;
	uint32_t		room;
	bool			full;
};

/**
 * struct tui - all that is shown
 * @trees:	of the tasks' stacks
 * @nr_nodes:	in all trees
 * @by_function: sums. key: function
 * @functions:	the same, the most instructions first
 * @lines:	sums. key: function, line, name of the file
 * @count:	of the step that is being counted
 */
struct tui {
	struct pipe		pipe;
	struct tree		*trees;
	size_t			nr_trees;
	uint64_t		nr_nodes;
	struct tally		by_function;
	struct tally_entry	*functions;
	size_t			nr_functions;
	struct tally		lines;
	uint64_t		count;
};

/* tree.c: fills the trees and sums from the trace, and frees them. */
int tui_read(struct tui *t, const struct options *options);
void tui_free(struct tui *t);
/* The node that is shown before or after this one; NODE_NONE at the ends. */
uint32_t tree_after(const struct tree *tree, uint32_t node);
uint32_t tree_before(const struct tree *tree, uint32_t node);
/* Unfolds all that is around the node. */
void tree_show(struct tree *tree, uint32_t node);
/* The next node, going round, whose function has this in its name, or that is a loss. */
uint32_t tree_search(const struct tree *tree, uint32_t from, const char *text);

/* screen.c: the terminal, until the user quits. */
int tui_screen(struct tui *t);

/* source.c: lines of a file with their counts, around a function. */
void tui_source(struct tui *t, struct sym *sym);

#endif
