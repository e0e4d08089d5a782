/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks that instructions were executed in, as a tree: what folded stacks and flame
 * graphs are made of.
 */
#ifndef BTS_STACKS_H
#define BTS_STACKS_H

#include "dump.h"

/**
 * struct node - a function, called the way its parents say
 * @comm:	of a task, which is the outermost one: its name; @sym is NULL then
 * @insns:	of its own, without what it calls
 * @branches:	of its own
 * @total:	with what it calls: filled in by stacks_sum()
 */
struct node {
	struct sym	*sym;
	char		*comm;
	struct node	*parent;
	struct node	*child;
	struct node	*sibling;
	uint64_t	insns;
	uint64_t	branches;
	uint64_t	total;
};

/* Runs the pipe. The tasks are the children of @root. Returns what bts_pipe_run() does. */
int stacks_read(struct dump *d, struct node *root);
void stacks_free(struct node *root);

/* Of its own, as the dump counts. */
uint64_t stacks_count(const struct dump *d, const struct node *n);
/* The children by their names, to be freed; NULL if there is none. */
struct node **stacks_children(const struct node *n, size_t *nr);

#endif
