/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks that instructions were executed in, as a tree: what folded stacks and flame
 * graphs are made of.
 *
 * Included by: dump/.
 */
#ifndef BTS_STACKS_H
#define BTS_STACKS_H

#include "dump.h"

/**
 * struct stacks_node - a function, called the way its parents say
 * @comm:	of a task, which is the outermost one: its name; @sym is NULL then
 * @insns:	of its own, without what it calls
 * @branches:	of its own
 * @total:	with what it calls: stacks_read() fills it in
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

/* Runs the pipe. The tasks are the children of @root. Returns what pipe_run() does. */
int stacks_read(struct dump *d, struct stacks_node *root);
void stacks_free(struct stacks_node *root);

/* Of its own, as the dump counts. */
uint64_t stacks_count(const struct dump *d, const struct stacks_node *n);
/* The children by their names, to be freed; NULL if there is none. */
struct stacks_node **stacks_children(const struct stacks_node *n, size_t *nr);

#endif
