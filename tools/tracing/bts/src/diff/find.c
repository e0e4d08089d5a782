// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find all differences between two trees (tree.h describes the nodes), in these steps:
 *
 *	1. If two nodes are equal, skip them. Otherwise, align their equal children.
 *	2. Pair a remaining child of one node with a remaining child of the other node, if both
 *	   are calls to the same function, loops with the same first instruction, or iterations.
 *	3. Compare the two children of each pair by the same steps. Keep the result, so that a
 *	   pair that occurs a thousand times is compared only once.
 *	4. Report all other children as differences.
 *
 * Before a difference, both runs take the same branches, and continue at the same instruction. From
 * there, both runs execute the same instructions until one run takes a branch. This branch is the
 * place of the difference: the other run does not take the branch, or takes it to another target.
 * After a difference, the runs meet when both take equal branches again.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "align.h"
#include "describe.h"

/* Do not compare pairs beyond this nesting depth, because each level needs stack space. */
#define DEPTH_MAX	100000

static void found(struct find *s, uint32_t difference, uint64_t times)
{
	if (s->nr_found == s->found_room) {
		s->found_room = 2 * s->found_room + 64;
		s->found = mem_realloc(s->found, s->found_room, sizeof(*s->found));
	}
	s->found[s->nr_found++] = (struct found) { difference, times };
}

static int by_difference(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	return (a->difference > b->difference) - (a->difference < b->difference);
}

/* Sort s->found from index @begin to the end, and merge items that have the same difference. */
static void merge_found(struct find *s, size_t begin)
{
	size_t nr = begin;

	if (s->nr_found - begin < 2)
		return;
	qsort(s->found + begin, s->nr_found - begin, sizeof(*s->found), by_difference);
	for (size_t i = begin + 1; i < s->nr_found; i++) {
		if (s->found[i].difference == s->found[nr].difference)
			s->found[nr].times += s->found[i].times;
		else
			s->found[++nr] = s->found[i];
	}
	s->nr_found = nr + 1;
}

static uint64_t calls_of(const struct find *s, uint32_t elem)
{
	return is_node(elem) ? node_of(s->f, elem)->calls : 0;
}

static void difference(struct find *s, const struct range *r)
{
	enum occurrence occurs = s->unmet ? OCCURS_MORE : OCCURS_AGAIN;
	uint32_t nr = s->unmet - 1;
	size_t before = s->out->nr;

	if (!r->nr[0] && !r->nr[1])
		return;
	if (s->unmet) {
		describe_more(s, r);
	} else {
		nr = describe(s, r);
		found(s, nr, 1);
		if (s->out->nr > before)
			occurs = OCCURS_FIRST;
	}
	for (unsigned int side = 0; side < 2; side++)
		for (size_t i = 0; i < r->nr[side]; i++)
			s->calls[side] += calls_of(s, r->items[side][i].elem) *
					  r->items[side][i].count;
	if (s->out->ops)
		s->out->ops->differ(s->out->ctx, r, nr, occurs);
}

/* Handle an item that is equal in both runs. */
static void equal(struct find *s, const struct item *item, uint64_t times)
{
	s->calls[0] += calls_of(s, item->elem) * times;
	s->calls[1] += calls_of(s, item->elem) * times;
	if (s->out->ops)
		s->out->ops->equal(s->out->ctx, item, times);
}

static void equal_range(struct find *s, const struct range *r)
{
	equal(s, r->items[0], r->items[0]->count);
}

static void walk(struct find *s, const struct range *whole);

/* Return the items begin[i] to end[i] - 1 of each run i. Set rests[i] to the items after these. */
static struct range range_upto(const struct range *r, const size_t begin[2], const size_t end[2],
			       struct rest rests[2])
{
	struct range part = { .type = r->type, .nodes = { r->nodes[0], r->nodes[1] } };

	for (unsigned int side = 0; side < 2; side++) {
		part.items[side] = r->items[side] + begin[side];
		part.nr[side] = end[side] - begin[side];
		rests[side] = (struct rest) {
			.items = r->items[side] + end[side],
			.nr = r->nr[side] - end[side], .up = r->after[side],
		};
		part.after[side] = &rests[side];
	}
	return part;
}

/* Align the items by @keys. Pass matches to @match, and all other items to @each. Free @keys. */
static void each_gap(struct find *s, const struct range *r, uint64_t *keys[2],
		     void (*each)(struct find *s, const struct range *gap),
		     void (*match)(struct find *s, const struct range *pair))
{
	size_t room = r->nr[0] < r->nr[1] ? r->nr[0] : r->nr[1], nr, at[2] = {};
	struct match *matches = mem_alloc((room + 1) * sizeof(*matches));
	struct rest rests[2];

	nr = align(keys[0], r->nr[0], keys[1], r->nr[1], matches);
	for (size_t i = 0; i <= nr; i++) {
		size_t end[2] = { i < nr ? matches[i].a : r->nr[0],
				  i < nr ? matches[i].b : r->nr[1] };
		size_t next[2] = { end[0] + 1, end[1] + 1 };
		struct range part = range_upto(r, at, end, rests);

		if (part.nr[0] || part.nr[1])
			each(s, &part);
		if (i < nr) {
			part = range_upto(r, end, next, rests);
			match(s, &part);
		}
		at[0] = next[0];
		at[1] = next[1];
	}
	free(matches);
	free(keys[0]);
	free(keys[1]);
}

/* Find the differences between two nodes of the same type. */
static void find_pair(struct find *s, const uint32_t nodes[2], const struct rest *const after[2])
{
	const struct node *n = node_of(s->f, nodes[0]);
	struct range r = { .type = n->type, .nodes = { nodes[0], nodes[1] } };
	bool call = n->type == NODE_CALL;

	if (s->depth >= DEPTH_MAX) {
		s->too_deep = true;
		return;
	}
	s->depth++;
	if (call)
		path_push(s, n->key);
	for (unsigned int side = 0; call && side < 2; side++)
		s->calls[side] += is_counted(s->f, n->key);
	for (unsigned int side = 0; side < 2; side++) {
		r.items[side] = items_of(s->f, nodes[side], &r.nr[side]);
		r.after[side] = after[side];
	}
	walk(s, &r);
	free(r.items[0]);
	free(r.items[1]);
	if (call)
		s->nr_path--;
	s->depth--;
}

/* Compare two nodes for the first time. @times is how often each run executes its node here. */
static void find_new_pair(struct find *s, const uint32_t nodes[2],
			  const struct rest *const after[2], uint64_t times)
{
	const struct find_ops *ops = s->out->ops;
	size_t begin = s->nr_found;

	if (ops)
		ops->enter(s->out->ctx, nodes, times);
	find_pair(s, nodes, after);
	merge_found(s, begin);
	if (ops)
		ops->leave(s->out->ctx, s->found + begin, s->nr_found - begin);
}

/*
 * @calls[i] is the number of calls that run i made before it reached nodes[i]. Set s->calls[i] to
 * the number of calls after @times repetitions of nodes[i].
 */
static void pass_pair(struct find *s, const uint64_t calls[2], const uint32_t nodes[2],
		      uint64_t times)
{
	for (unsigned int side = 0; side < 2; side++)
		s->calls[side] = calls[side] + calls_of(s, nodes[side]) * times;
}

/* Reuse the result of an earlier comparison, or call find_new_pair() and keep the result. */
static void find_pair_once(struct find *s, const uint32_t nodes[2],
			   const struct rest *const after[2], uint64_t times)
{
	const uint64_t calls[2] = { s->calls[0], s->calls[1] };
	const struct find_ops *ops = s->out->ops;
	struct tally_key key = {
		.a = s, .a_addr = (uint64_t)nodes[0] << 32 | nodes[1],
	};
	size_t begin = s->nr_found, nr;
	struct tally_entry *e = tally_get(&s->pairs, &key);

	if (e->kind) {
		for (uint64_t i = 0; i < e->branches; i++)
			found(s, s->kept[e->insns + i].difference,
			      s->kept[e->insns + i].times * times);
		s->unmet = e->calls;
		pass_pair(s, calls, nodes, times);
		if (ops)
			ops->known(s->out->ctx, nodes, times, s->kept + e->insns, e->branches);
		return;
	}
	find_new_pair(s, nodes, after, times);
	pass_pair(s, calls, nodes, times);
	nr = s->nr_found - begin;
	e = tally_get(&s->pairs, &key);
	e->kind = 1;
	e->insns = s->nr_kept;
	e->branches = nr;
	e->calls = s->unmet;
	if (s->nr_kept + nr > s->kept_room) {
		s->kept_room = 2 * s->kept_room + nr + 64;
		s->kept = mem_realloc(s->kept, s->kept_room, sizeof(*s->kept));
	}
	for (size_t i = begin; i < s->nr_found; i++) {
		s->kept[s->nr_kept++] = s->found[i];
		s->found[i].times *= times;
	}
}

/* Compare two items, one from each run. The keys of the items are equal (see shape()). */
static void pair_items(struct find *s, const struct range *r)
{
	struct item *a = r->items[0], *b = r->items[1];
	uint64_t times = a->count < b->count ? a->count : b->count;
	struct range left = *r;

	if (a->elem != b->elem && is_node(a->elem))
		find_pair_once(s, (uint32_t[2]) { a->elem, b->elem }, r->after, times);
	else
		equal(s, a, times);
	if (a->count == b->count)
		return;
	/* If one run repeats the item more often, the additional repetitions are a difference. */
	a->count -= times;
	b->count -= times;
	left.nr[0] = !!a->count;
	left.nr[1] = !!b->count;
	difference(s, &left);
}

/* Return a key for an item. Two items can be compared with each other if their keys are equal. */
static uint64_t shape(const struct forest *f, const struct item *item)
{
	const struct node *n;

	if (!is_node(item->elem))
		return elem_key(f, item->elem);
	n = node_of(f, item->elem);
	if (n->type == NODE_CHUNK)
		return (uint64_t)NODE_CHUNK << 40 | item->elem;
	return (uint64_t)(n->type + 1) << 40 | n->key;
}

static uint64_t identity(const struct forest *f, const struct item *item)
{
	return elem_key(f, item->elem) | item->count << 32;
}

/*
 * Return the keys of a run's items. The key of a call includes the branch before the call, so that
 * calls to a function from different places have different keys.
 */
static uint64_t *keys_of(const struct find *s, const struct range *r, unsigned int side,
			 uint64_t (*key)(const struct forest *f, const struct item *item))
{
	uint64_t *keys = mem_alloc((r->nr[side] + 1) * sizeof(*keys));

	for (size_t i = 0; i < r->nr[side]; i++) {
		const struct item *item = &r->items[side][i];

		keys[i] = key(s->f, item);
		if (i && !is_node(item[-1].elem) && is_node(item->elem) &&
		    node_of(s->f, item->elem)->type == NODE_CALL)
			keys[i] = (keys[i] ^ (uint64_t)elem_key(s->f, item[-1].elem) << 43) *
				  0x9e3779b97f4a7c15ULL;
	}
	return keys;
}

/* The runs differ in @r. Compare an item of A with an item of B if both have the same shape(). */
static void gap(struct find *s, const struct range *r)
{
	uint64_t *keys[2];

	if (!r->nr[0] || !r->nr[1]) {
		difference(s, r);
		return;
	}
	keys[0] = keys_of(s, r, 0, shape);
	keys[1] = keys_of(s, r, 1, shape);
	each_gap(s, r, keys, difference, pair_items);
}

static bool has_chunks(const struct find *s, const struct range *r)
{
	for (unsigned int side = 0; side < 2; side++)
		for (size_t i = 0; i < r->nr[side]; i++)
			if (shape(s->f, &r->items[side][i]) >> 40 == NODE_CHUNK)
				return true;
	return false;
}

/* In @r, the runs differ. Replace each NODE_CHUNK with its elements, and compare the elements. */
static void open_chunks(struct find *s, const struct range *r)
{
	struct range open = *r;

	for (unsigned int side = 0; side < 2; side++)
		open.items[side] = items_expand(s->f, r->items[side], r->nr[side],
						&open.nr[side]);
	walk(s, &open);
	free(open.items[0]);
	free(open.items[1]);
}

static void walk_middle(struct find *s, const struct range *r)
{
	struct range flat = *r;
	uint64_t *keys[2];

	if (!has_chunks(s, r)) {
		for (unsigned int side = 0; side < 2; side++)
			flat.items[side] = items_expand(s->f, r->items[side], r->nr[side],
							&flat.nr[side]);
		keys[0] = keys_of(s, &flat, 0, identity);
		keys[1] = keys_of(s, &flat, 1, identity);
		each_gap(s, &flat, keys, gap, equal_range);
		free(flat.items[0]);
		free(flat.items[1]);
		return;
	}
	keys[0] = keys_of(s, r, 0, identity);
	keys[1] = keys_of(s, r, 1, identity);
	each_gap(s, r, keys, open_chunks, equal_range);
}

static bool same_item(const struct find *s, const struct item *a, const struct item *b)
{
	return elem_key(s->f, a->elem) == elem_key(s->f, b->elem);
}

static void strip_begin(struct find *s, struct range *r)
{
	while (r->nr[0] && r->nr[1] && same_item(s, r->items[0], r->items[1])) {
		uint64_t less = r->items[0]->count < r->items[1]->count ? r->items[0]->count :
									  r->items[1]->count;

		equal(s, r->items[0], less);
		for (unsigned int side = 0; side < 2; side++) {
			r->items[side]->count -= less;
			if (!r->items[side]->count) {
				r->items[side]++;
				r->nr[side]--;
			}
		}
	}
}

/*
 * If both runs end with equal items, move these items from @r to @rests. Then, both runs may still
 * end with the same element, but repeat this element a different number of times, such as 3 and 5.
 * If so, move 3 repetitions from each run to @cut.
 */
static void strip_end(const struct find *s, struct range *r, struct rest rests[4],
		      struct item cut[2])
{
	size_t nr[2] = { r->nr[0], r->nr[1] };
	uint64_t less = 0;

	while (nr[0] && nr[1] && same_item(s, &r->items[0][nr[0] - 1], &r->items[1][nr[1] - 1])) {
		struct item *a = &r->items[0][nr[0] - 1], *b = &r->items[1][nr[1] - 1];

		if (a->count != b->count) {
			less = a->count < b->count ? a->count : b->count;
			break;
		}
		nr[0]--;
		nr[1]--;
	}
	for (unsigned int side = 0; side < 2; side++) {
		struct item *last = nr[side] ? &r->items[side][nr[side] - 1] : NULL;

		rests[side] = (struct rest) {
			.items = r->items[side] + nr[side], .nr = r->nr[side] - nr[side],
			.up = r->after[side],
		};
		r->after[side] = &rests[side];
		r->nr[side] = nr[side];
		if (!less || !last)
			continue;
		cut[side] = (struct item) { last->elem, less };
		rests[2 + side] = (struct rest) { &cut[side], 1, &rests[side] };
		r->after[side] = &rests[2 + side];
		last->count -= less;
		r->nr[side] -= !last->count;
	}
}

static void walk(struct find *s, const struct range *whole)
{
	struct range r = *whole;
	struct rest rests[4];
	struct item cut[2];

	strip_begin(s, &r);
	strip_end(s, &r, rests, cut);
	if (r.nr[0] || r.nr[1])
		walk_middle(s, &r);
	/* The items that strip_end() has moved to @rests are equal in both runs. */
	for (const struct rest *rest = r.after[0]; rest != whole->after[0]; rest = rest->up)
		for (size_t i = 0; i < rest->nr; i++)
			equal(s, &rest->items[i], rest->items[i].count);
}

void find_differences(struct forest *f, uint32_t a, uint32_t b, struct differences *out)
{
	struct find s = { .f = f, .out = out };
	const struct rest *const after[2] = {};

	if (a != b)
		find_new_pair(&s, (uint32_t[2]) { a, b }, after, 1);
	for (size_t i = 0; i < s.nr_found; i++)
		out->list[s.found[i].difference].times += s.found[i].times;
	out->too_deep |= s.too_deep;
	tally_free(&s.pairs);
	tally_free(&s.groups);
	free(s.found);
	free(s.kept);
	free(s.path);
}

void differences_free(struct differences *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		free(d->list[i].side[0].calls);
		free(d->list[i].side[1].calls);
	}
	free(d->list);
}
