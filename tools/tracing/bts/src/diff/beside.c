// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arrange two runs side by side while they are compared.
 *
 * The result is a list of parts. A pair is two calls, loops or iterations that are compared with
 * each other. In the list, a pair begins with an ENTER part and ends with a LEAVE part:
 *
 *	ENTER main  STRETCH  ENTER check  DIFFERENCE 1  STRETCH  LEAVE  STRETCH  LEAVE
 *
 * A STRETCH part collects successive items without a new difference: items that are equal in both
 * runs, and pairs that contain only differences that were found earlier. So the size of the list
 * depends on the number of differences, not on the length of the runs.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "describe.h"
#include "beside.h"

static struct part *add_part(struct beside *v, enum part_type type)
{
	if (v->nr == v->room) {
		v->room = 2 * v->room + 64;
		v->parts = mem_realloc(v->parts, v->room, sizeof(*v->parts));
	}
	v->parts[v->nr] = (struct part) { .type = type };
	return &v->parts[v->nr++];
}

static void free_part(struct part *p)
{
	if (p->stretch)
		free(p->stretch->again);
	free(p->stretch);
	free(p->side[0].items);
	free(p->side[1].items);
}

static struct stretch *stretch_of(struct beside *v)
{
	struct part *p = v->nr ? &v->parts[v->nr - 1] : NULL;

	if (!p || p->type != PART_STRETCH) {
		p = add_part(v, PART_STRETCH);
		p->stretch = mem_zalloc(1, sizeof(*p->stretch));
	}
	return p->stretch;
}

static void push_item(struct stretch *s, uint32_t elem, uint64_t times, bool differs)
{
	struct stretch_item *at = s->nr < STRETCH_ENDS ? &s->first[s->nr] :
							 &s->last[s->nr % STRETCH_ENDS];

	*at = (struct stretch_item) { .elem = elem, .times = times, .differs = differs };
	s->nr++;
}

const struct stretch_item *stretch_item(const struct stretch *s, uint64_t index)
{
	if (index < STRETCH_ENDS)
		return &s->first[index];
	return s->nr - index <= STRETCH_ENDS ? &s->last[index % STRETCH_ENDS] : NULL;
}

static void add_sums(const struct beside *v, struct stretch *s, unsigned int side, uint32_t elem,
		     uint64_t times)
{
	uint64_t insns = 0, branches = 0;

	elem_sums(v->forest, elem, &insns, &branches);
	s->insns[side] += insns * times;
	s->branches[side] += branches * times;
}

static void add_elem(const struct beside *v, struct stretch *s, uint32_t elem)
{
	const struct node *n = is_node(elem) ? node_of(v->forest, elem) : NULL;

	if (n && n->type == NODE_RUN)
		push_item(s, n->key, n->begin, false);
	else
		push_item(s, elem, 1, false);
}

static void equal(void *ctx, const struct item *item, uint64_t times)
{
	struct beside *v = ctx;
	struct stretch *s = stretch_of(v);
	const struct node *n = is_node(item->elem) ? node_of(v->forest, item->elem) : NULL;

	for (unsigned int side = 0; side < 2; side++)
		add_sums(v, s, side, item->elem, times);
	if (!n || n->type != NODE_CHUNK) {
		push_item(s, item->elem, times, false);
		return;
	}
	for (uint32_t i = 0; i < n->nr; i++)
		add_elem(v, s, v->forest->elems[n->begin + i]);
}

static void add_found(struct stretch *s, const struct found *list, size_t nr, uint64_t times)
{
	for (size_t i = 0; i < nr; i++) {
		size_t at = 0;

		while (at < s->nr_again && s->again[at].difference != list[i].difference)
			at++;
		if (at == s->nr_again) {
			s->again = mem_realloc(s->again, ++s->nr_again, sizeof(*s->again));
			s->again[at] = (struct found) { list[i].difference, 0 };
		}
		s->again[at].times += list[i].times * times;
	}
}

/* All differences in the two nodes were found earlier (@list). Add the nodes to a STRETCH part. */
static void known(void *ctx, const uint32_t nodes[2], uint64_t times, const struct found *list,
		  size_t nr)
{
	struct beside *v = ctx;
	struct stretch *s = stretch_of(v);

	for (unsigned int side = 0; side < 2; side++)
		add_sums(v, s, side, nodes[side], times);
	push_item(s, nodes[0], times, true);
	add_found(s, list, nr, times);
}

static void enter(void *ctx, const uint32_t nodes[2], uint64_t times)
{
	struct beside *v = ctx;
	struct part *p;

	if (v->nr_open == v->open_room) {
		v->open_room = 2 * v->open_room + 64;
		v->open = mem_realloc(v->open, v->open_room, sizeof(*v->open));
	}
	v->open[v->nr_open++] = (struct beside_open) { v->nr, v->news };
	p = add_part(v, PART_ENTER);
	p->nodes[0] = nodes[0];
	p->nodes[1] = nodes[1];
	p->times = times;
}

static void leave(void *ctx, const struct found *list, size_t nr)
{
	struct beside *v = ctx;
	const struct beside_open *o = &v->open[--v->nr_open];
	uint32_t nodes[2];
	uint64_t times;

	if (v->news > o->news) {
		add_part(v, PART_LEAVE);
		return;
	}
	memcpy(nodes, v->parts[o->part].nodes, sizeof(nodes));
	times = v->parts[o->part].times;
	while (v->nr > o->part)
		free_part(&v->parts[--v->nr]);
	known(v, nodes, times, list, nr);
}

static void add_apart(struct beside *v, struct part *p, const struct range *r)
{
	uint32_t next[2], first[2];

	range_parts(v->forest, r, first);
	p->meets = range_meets(v->forest, r, next);
	for (unsigned int side = 0; side < 2; side++) {
		struct apart *a = &p->side[side];

		a->nr = r->nr[side] < DIFFERENCE_ITEMS ? r->nr[side] : DIFFERENCE_ITEMS;
		a->left_out = r->nr[side] - a->nr;
		a->items = mem_alloc((a->nr + 1) * sizeof(*a->items));
		if (a->nr)
			memcpy(a->items, r->items[side], a->nr * sizeof(*a->items));
		a->first = first[side];
		a->next = next[side];
	}
}

static void differ(void *ctx, const struct range *r, uint32_t difference,
		   enum occurrence occurs)
{
	struct beside *v = ctx;
	struct stretch *s;
	struct part *p;

	if (occurs == OCCURS_FIRST)
		v->latest = v->rows && difference >= v->rows ? NONE : difference;
	else if (occurs == OCCURS_AGAIN)
		v->latest = NONE;
	if (v->latest == difference) {
		p = add_part(v, PART_DIFFERENCE);
		p->difference = difference;
		p->more = occurs == OCCURS_MORE;
		add_apart(v, p, r);
		v->news++;
		return;
	}
	s = stretch_of(v);
	for (unsigned int side = 0; side < 2; side++)
		for (size_t i = 0; i < r->nr[side]; i++)
			add_sums(v, s, side, r->items[side][i].elem, r->items[side][i].count);
	if (occurs != OCCURS_MORE)
		add_found(s, &(struct found) { difference, 1 }, 1, 1);
}

const struct find_ops beside_ops = {
	.equal = equal, .enter = enter, .leave = leave, .known = known, .differ = differ,
};

void beside_free(struct beside *v)
{
	while (v->nr)
		free_part(&v->parts[--v->nr]);
	free(v->parts);
	free(v->open);
}
