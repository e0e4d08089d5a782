// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the condition in the kernel that made a system call fail.
 *
 * Compare the failed call with a successful call of the same system call. Of several successful
 * calls, choose the call that shares the most branches with the failed call. The failing check is
 * at or after a difference between the two calls. The most likely check is a condition next to an
 * instruction that loads the error number. If conditions are equally likely, list them in reverse
 * order of execution.
 *
 * With --alone, or if there is no successful call that differs from the failed call, rank all
 * conditions of the failed call. Leave out conditions whose likelihood is 0.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/large_stack.h"
#include "lib/mem.h"
#include "rank.h"

/*
 * The maximum number of compared successful calls (calls with equal branches count once). Choose
 * the latest calls, because earlier calls often also differ at places other than the failing check.
 */
#define GOODS_MAX	256

/* Return the number of branches that occur only in the failed call. */
static uint64_t foreign(const struct differences *d)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->nr; i++)
		sum += d->list[i].side[0].branches * d->list[i].times;
	return sum;
}

/* Add @node to the list of compared nodes. Return false if the list already contains @node. */
static bool add_node(uint32_t *nodes, unsigned int *nr, uint32_t node)
{
	for (unsigned int i = 0; i < *nr; i++)
		if (nodes[i] == node)
			return false;
	nodes[(*nr)++] = node;
	return true;
}

static void compare(struct ranking *r, struct history *h, const struct system_call *good)
{
	struct differences d = {};

	find_differences(&h->forest, r->failed->node, good->node, &d);
	if (d.nr && (!r->good || foreign(&d) < foreign(&r->differences))) {
		differences_free(&r->differences);
		r->differences = d;
		r->good = good;
	} else {
		differences_free(&d);
	}
}

static void choose_good(struct ranking *r, struct history *h)
{
	uint32_t compared[GOODS_MAX];
	unsigned int nr = 0;

	for (size_t i = h->nr; i-- > 0; ) {
		const struct system_call *call = &h->list[i];

		if (call->number != r->failed->number || call->result < 0 ||
		    node_of(&h->forest, call->node)->key !=
		    node_of(&h->forest, r->failed->node)->key)
			continue;
		r->goods++;
		if (nr < GOODS_MAX && add_node(compared, &nr, call->node))
			compare(r, h, call);
	}
}

/* Report whether the failed call took the branch at d->place. */
static bool is_taken(const struct forest *f, const struct difference *d)
{
	uint32_t token = d->side[0].token;

	return token != NONE && token_of(f, token)->from.addr == d->place.addr;
}

static bool is_condition_of(const struct trail *t, const struct condition *c,
			    const struct difference *d)
{
	return c->place.addr == d->place.addr &&
	       !strcmp(c->place.sym->object->name, d->place.sym->object->name) &&
	       t->forest->functions[t->activations[c->activation].function].base == d->function &&
	       !!c->same == is_taken(t->forest, d);
}

/*
 * Find the condition at the place of a difference. Differences and conditions are both in the order
 * of execution, so begin the search at index *@from, where the previous condition was found.
 */
static const struct condition *condition_of(const struct trail *t, const struct difference *d,
					    size_t *from)
{
	for (size_t i = 0; i < t->nr; i++) {
		size_t at = (*from + i) % t->nr;

		if (is_condition_of(t, &t->list[at], d)) {
			*from = at;
			return &t->list[at];
		}
	}
	return NULL;
}

static int by_way(const void *left, const void *right)
{
	const struct condition *a = left, *b = right;

	if (a->place.addr != b->place.addr)
		return a->place.addr < b->place.addr ? -1 : 1;
	return (a->same > b->same) - (a->same < b->same);
}

/*
 * Return true if the failed call loaded the error number between @c and the next condition. But
 * return false if the good call executed the same jump at least once, with the same outcome.
 */
static bool is_foreign_load(const struct condition *c, const struct trail *good)
{
	return c->load && !bsearch(c, good->list, good->nr, sizeof(*c), by_way);
}

static bool has_reason(const struct ranking *r, const struct condition *c)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->list[i].condition == c)
			return true;
	return false;
}

/*
 * Also add conditions that the failed call tested later than the first difference. The failing
 * check may be in code that only the failed call ran, or in a caller that tests a return value.
 */
static void add_foreign(struct ranking *r, struct history *h)
{
	const struct difference *parted = NULL;
	size_t next = 0, nr = r->nr;
	struct trail good;

	trail_walk(&good, &h->forest, r->good, r->trail.error);
	qsort(good.list, good.nr, sizeof(*good.list), by_way);
	for (size_t i = 0; i < r->trail.nr; i++) {
		const struct condition *c = &r->trail.list[i];

		while (next < nr && r->list[next].order <= i)
			parted = r->list[next++].difference;
		if (!is_foreign_load(c, &good) || !parted || has_reason(r, c))
			continue;
		r->list[r->nr++] = (struct reason) {
			.condition = c, .difference = parted, .order = i,
			.weight = trail_weight(&r->trail, c),
		};
	}
	trail_free(&good);
}

static void rank_differences(struct ranking *r, struct history *h)
{
	size_t from = 0;

	r->nr = r->differences.nr;
	r->list = mem_zalloc(r->nr + r->trail.nr + 1, sizeof(*r->list));
	for (size_t i = 0; i < r->nr; i++) {
		struct reason *reason = &r->list[i];

		reason->difference = &r->differences.list[i];
		reason->condition = condition_of(&r->trail, reason->difference, &from);
		reason->parted = true;
		reason->order = from;
		if (reason->condition)
			reason->weight = trail_weight(&r->trail, reason->condition);
	}
	add_foreign(r, h);
}

static void rank_conditions(struct ranking *r)
{
	r->list = mem_zalloc(r->trail.nr + 1, sizeof(*r->list));
	for (size_t i = 0; i < r->trail.nr; i++) {
		struct reason *reason = &r->list[r->nr];

		reason->condition = &r->trail.list[i];
		reason->weight = trail_weight(&r->trail, reason->condition);
		reason->order = i;
		r->nr += !!reason->weight;
	}
}

static int by_weight(const void *left, const void *right)
{
	const struct reason *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->order < b->order) - (a->order > b->order);
}

struct request {
	struct ranking	*ranking;
	struct history	*history;
	bool		alone;
};

static void rank_all(void *ctx)
{
	struct request *request = ctx;
	struct ranking *r = request->ranking;
	struct history *h = request->history;

	if (!request->alone)
		choose_good(r, h);
	trail_walk(&r->trail, &h->forest, r->failed, -r->failed->result);
	if (r->good)
		rank_differences(r, h);
	else
		rank_conditions(r);
	qsort(r->list, r->nr, sizeof(*r->list), by_weight);
}

bool rank(struct ranking *r, struct history *h, const struct system_call *failed, bool alone)
{
	struct request request = { .ranking = r, .history = h, .alone = alone };

	*r = (struct ranking) { .failed = failed };
	return on_large_stack(rank_all, &request);
}

void ranking_free(struct ranking *r)
{
	differences_free(&r->differences);
	trail_free(&r->trail);
	free(r->list);
}
