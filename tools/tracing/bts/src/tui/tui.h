/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build and show what bts tui displays: the trees of calls, and the counts of each function.
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
 * @task:	the task
 * @insns:	number of instructions executed during the call
 * @branches:	number of branches taken during the call
 * @parent:	the enclosing call
 * @next:	the first node after the nodes inside this call
 * @depth:	the number of enclosing calls
 * @kind:	FRAME_*
 * @loss:	the row reports that branches are missing
 * @difference:	mark.number (see marks.h) if this node is the first row of a mark; otherwise 0
 * @mark:	the row belongs to a mark, which describes a difference between two runs
 * @folded:	the nodes inside this call are not shown
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

/* The call tree of one stack, sorted by time. A task that uses coroutines has several stacks. */
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
 * @by_stack:	for each task and stack, 1 + the index of the stack's tree in @trees
 * @nr_nodes:	the number of nodes in all trees
 * @by_function: the calls, instructions and branches of each function
 * @functions:	the entries of @by_function, sorted by instructions
 * @lines:	number of executed instructions for each key (function, line number, file name)
 * @count:	step.count (pipeline.h) of the step that fold() is adding to @by_function and @lines
 * @marks:	if bts tui compares this run with another run, the differences; otherwise NULL
 * @markers:	for each task, the differences that tui_read() has not reached yet (struct marker)
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

/* tree.c: read a trace into @t. Set t->marks before the call. tui_free() later frees the data. */
int tui_read(struct tui *t, const char *path, const struct options *options);
void tui_free(struct tui *t);
/* Return the next or the previous visible node, or NODE_NONE. */
uint32_t tree_after(const struct tree *tree, uint32_t node);
uint32_t tree_before(const struct tree *tree, uint32_t node);
/* Make the node visible. */
void tree_show(struct tree *tree, uint32_t node);
/* Find a call whose name contains @text. If @text is NULL, find a row about a loss. Wrap around. */
uint32_t tree_search(const struct tree *tree, uint32_t from, const char *text);

/*
 * Return the nearest difference after node @from. If @back is set, return the nearest difference
 * before node @from. If no difference is found, return NODE_NONE. To search the whole tree
 * forward, set @from to NODE_NONE; to search it backward, set @from to the number of nodes.
 */
uint32_t tree_difference(const struct tree *tree, uint32_t from, bool back);

/* screen.c: show one run, or two compared runs, on the terminal until the user quits. */
int tui_screen(struct tui *runs, unsigned int nr_runs);

/* source.c: show a function's source, and how many instructions were executed for each line. */
void tui_source(struct tui *t, struct sym *sym);

#endif
