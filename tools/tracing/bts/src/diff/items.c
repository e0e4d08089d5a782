// SPDX-License-Identifier: GPL-2.0-only
/*
 * List the elements of a node, and iterate over the branches that follow a place in a tree.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "items.h"

/* Do not expand a NODE_RUN that has more iterations than this. */
#define RUN_MAX		256

/* A node that contains the cursor. @at: the next element. @times: repetitions that are left. */
struct open_node {
	uint32_t	elem;
	uint32_t	at;
	uint64_t	times;
};

static struct item item_of(const struct forest *f, uint32_t elem)
{
	struct item item = { .elem = elem, .count = 1 };

	if (is_node(elem) && node_of(f, elem)->type == NODE_RUN) {
		item.elem = node_of(f, elem)->key;
		item.count = node_of(f, elem)->begin;
	}
	return item;
}

struct item *items_of(const struct forest *f, uint32_t elem, size_t *nr)
{
	const struct node *n = node_of(f, elem);
	struct item *items = mem_alloc((n->nr + 1) * sizeof(*items));

	*nr = n->nr;
	for (uint32_t i = 0; i < n->nr; i++)
		items[i] = item_of(f, f->elems[n->begin + i]);
	return items;
}

static bool is_chunk(const struct forest *f, const struct item *item)
{
	return is_node(item->elem) && node_of(f, item->elem)->type == NODE_CHUNK;
}

struct item *items_expand(const struct forest *f, const struct item *items, size_t nr,
			  size_t *nr_out)
{
	struct item *out;
	size_t room = 0, at = 0;

	for (size_t i = 0; i < nr; i++)
		room += is_chunk(f, &items[i]) ? node_of(f, items[i].elem)->nr :
			items[i].count <= RUN_MAX ? items[i].count : 1;
	out = mem_alloc((room + 1) * sizeof(*out));
	for (size_t i = 0; i < nr; i++) {
		const struct node *n = is_chunk(f, &items[i]) ? node_of(f, items[i].elem) : NULL;

		for (uint32_t j = 0; n && j < n->nr; j++)
			out[at++] = item_of(f, f->elems[n->begin + j]);
		if (n)
			continue;
		if (items[i].count > RUN_MAX)
			out[at++] = items[i];
		else
			for (uint64_t j = 0; j < items[i].count; j++)
				out[at++] = (struct item) { items[i].elem, 1 };
	}
	*nr_out = at;
	return out;
}

void cursor_init(struct cursor *c, const struct forest *f, const struct rest *rest)
{
	*c = (struct cursor) { .forest = f, .rest = *rest };
}

static void open_node(struct cursor *c, uint32_t elem)
{
	const struct node *n = node_of(c->forest, elem);
	struct open_node new = { .elem = elem, .times = 1 };

	if (n->type == NODE_RUN) {
		new.elem = n->key;
		new.times = n->begin;
	}
	if (c->nr_open == c->room) {
		c->room = c->room ? 2 * c->room : 16;
		c->open = mem_realloc(c->open, c->room, sizeof(*c->open));
	}
	c->open[c->nr_open++] = new;
}

/* Return the next element (a token or a node), or NONE at the end. */
static uint32_t next_elem(struct cursor *c)
{
	while (c->nr_open) {
		struct open_node *o = &c->open[c->nr_open - 1];
		const struct node *n = node_of(c->forest, o->elem);

		if (o->at < n->nr)
			return c->forest->elems[n->begin + o->at++];
		if (--o->times)
			o->at = 0;
		else
			c->nr_open--;
	}
	while (!c->rest.nr) {
		if (!c->rest.up)
			return NONE;
		c->rest = *c->rest.up;
		c->used = 0;
	}
	if (++c->used >= c->rest.items->count) {
		c->used = 0;
		c->rest.nr--;
		return c->rest.items++->elem;
	}
	return c->rest.items->elem;
}

uint32_t cursor_next(struct cursor *c)
{
	uint32_t elem;

	while ((elem = next_elem(c)) != NONE && is_node(elem))
		open_node(c, elem);
	return elem;
}

/* Skip equal elements, and descend into nodes that differ, until branches differ or a run ends. */
void cursors_part(struct cursor *a, struct cursor *b, uint32_t *token_a, uint32_t *token_b,
		  uint64_t *same)
{
	const struct forest *f = a->forest;

	*same = 0;
	for (;; ++*same) {
		uint32_t x = next_elem(a), y = next_elem(b);

		while (x != y && x != NONE && is_node(x)) {
			open_node(a, x);
			x = next_elem(a);
		}
		while (x != y && y != NONE && is_node(y)) {
			open_node(b, y);
			y = next_elem(b);
		}
		*token_a = x;
		*token_b = y;
		if (x == NONE || y == NONE)
			break;
		/* Equal nodes are skipped. */
		if (is_node(x) || is_node(y)) {
			if (x == y)
				continue;
			break;
		}
		if (elem_key(f, x) != elem_key(f, y))
			break;
	}
}

void cursor_free(struct cursor *c)
{
	free(c->open);
}
