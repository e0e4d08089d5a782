/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * List the elements of a node, and iterate over the branches that follow a place in a tree.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_ITEMS_H
#define BTS_DIFF_ITEMS_H

#include "tree.h"

/* An element that occurs @count times in succession. */
struct item {
	uint32_t	elem;
	uint64_t	count;
};

/**
 * struct rest - the items after a place in a tree
 * @items:	the first @nr items
 * @up:		the next items, which may belong to an outer node; NULL if no items follow
 */
struct rest {
	const struct item	*items;
	size_t			nr;
	const struct rest	*up;
};

/* A position in a tree, between two branches. */
struct cursor {
	const struct forest	*forest;
	struct rest		rest;
	uint64_t		used;		/* how often rest.items[0] was returned */
	struct open_node	*open;
	size_t			nr_open;
	size_t			room;
};

/* Return the items of a node. The caller frees the items. */
struct item *items_of(const struct forest *f, uint32_t elem, size_t *nr);
/* Copy the items. Replace each NODE_CHUNK with its elements, and "x 3 times" with "x, x, x". */
struct item *items_expand(const struct forest *f, const struct item *items, size_t nr,
			  size_t *nr_out);

void cursor_init(struct cursor *c, const struct forest *f, const struct rest *rest);
/* Return the next branch, or NONE at the end of the task. */
uint32_t cursor_next(struct cursor *c);
/* Skip and count equal elements. Set each token to the next branch, or NONE at the task's end. */
void cursors_part(struct cursor *a, struct cursor *b, uint32_t *token_a, uint32_t *token_b,
		  uint64_t *same);
void cursor_free(struct cursor *c);

#endif
