/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build a tree of all call stacks, with counts of instructions and branches, for folded stacks and
 * flame graphs.
 *
 * Included by: dump/.
 */
#ifndef BTS_STACKS_H
#define BTS_STACKS_H

#include "dump.h"

/**
 * struct stacks_node - a function on a stack; @parent is the function's caller on this stack
 * @comm:	in a child of the root, the task name (and @sym is NULL); in all other nodes, NULL
 * @insns:	number of instructions that the function itself executed
 * @branches:	number of branches that the function itself took
 * @total:	the sum of stacks_count() of this node and of all nodes below it
 */
struct stacks_node {
	struct sym		*sym;
	char			*comm;
	struct stacks_node	*parent;
	struct stacks_node	*child;
	struct stacks_node	*sibling;
	uint64_t		insns;
	uint64_t		branches;
	uint64_t		total;
};

/* Read the trace with pipe_run(), and build the tree below @root. Return pipe_run()'s result. */
int stacks_read(struct dump *d, struct stacks_node *root);
void stacks_free(struct stacks_node *root);

/* Return the node's @insns or, if d->by_branches is set, its @branches. */
uint64_t stacks_count(const struct dump *d, const struct stacks_node *n);
/*
 * Return the children, sorted by name, or NULL for a node without children. The caller frees the
 * list.
 */
struct stacks_node **stacks_children(const struct stacks_node *n, size_t *nr);

#endif
