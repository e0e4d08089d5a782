/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The elements of a node, and the branches from a place in a tree on.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_ITEMS_H
#define BTS_DIFF_ITEMS_H

#include "tree.h"

/* An element, and how often in a row. */
struct item {
	uint32_t	elem;
	uint64_t	count;
};

/**
 * struct rest - what follows
 * @items:	first these,
 * @up:		then what follows them; or NULL
 */
struct rest {
	const struct item	*items;
	size_t			nr;
	const struct rest	*up;
};

/* A place between two branches. */
struct cursor {
	const struct forest	*forest;
	struct rest		rest;
	uint64_t		used;		/* of the first item's count */
	struct open_node	*open;
	size_t			nr_open;
	size_t			room;
};

/* The items of a node, for the caller to free. */
struct item *items_of(const struct forest *f, uint32_t elem, size_t *nr);
/* With chunks replaced by what is in them, and short runs by their iterations. */
struct item *items_expand(const struct forest *f, const struct item *items, size_t nr,
			  size_t *nr_out);

void cursor_init(struct cursor *c, const struct forest *f, const struct rest *rest);
/* The next branch; NONE at the task's end. */
uint32_t cursor_next(struct cursor *c);
/* Steps over what is the same in both; then the next branches, which differ, or end. */
void cursors_part(struct cursor *a, struct cursor *b, uint32_t *token_a, uint32_t *token_b,
		  uint64_t *same);
void cursor_free(struct cursor *c);

#endif
