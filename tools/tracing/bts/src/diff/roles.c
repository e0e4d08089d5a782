// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pair the tasks of two runs.
 *
 * The role of a task consists of its program and, for a thread, the first function that the thread
 * entered outside of the C and C++ libraries. Tasks with the same role are paired in the order of
 * their PIDs, because tasks get PIDs in the order of their creation. In contrast, the order in
 * which tasks first run depends on the scheduler.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "roles.h"

#define SEARCH_MAX	4096

/* Return the first function outside of the runtime libraries, in depth-first order, or NULL. */
static const struct function *find_entry(const struct forest *f, uint32_t elem,
					 unsigned int *left)
{
	const struct node *n = node_of(f, elem);
	const struct function *found = NULL;

	if (n->type == NODE_CALL && !f->functions[n->key].runtime)
		return &f->functions[n->key];
	for (uint32_t i = 0; i < n->nr && !found && *left; i++) {
		--*left;
		if (is_node(f->elems[n->begin + i]))
			found = find_entry(f, f->elems[n->begin + i], left);
	}
	return found;
}

static char *role_of(const struct forest *f, const struct track *t)
{
	unsigned int left = SEARCH_MAX;
	const struct function *entry;

	if (t->pid == t->tgid)
		return mem_strdup(t->comm);
	entry = find_entry(f, t->node, &left);
	return mem_format("%s:%s", t->comm, entry ? entry->sym->name : "");
}

static int by_role(const void *left, const void *right)
{
	const struct track *a = *(struct track *const *)left, *b = *(struct track *const *)right;
	int order = strcmp(a->role, b->role);

	return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

static struct track **sorted(struct grown *g)
{
	struct track **list = mem_zalloc(g->nr_tracks + 1, sizeof(struct track *));

	for (size_t i = 0; i < g->nr_tracks; i++) {
		g->tracks[i]->role = role_of(g->forest, g->tracks[i]);
		g->tracks[i]->order = i;
		list[i] = g->tracks[i];
	}
	if (g->nr_tracks)
		qsort(list, g->nr_tracks, sizeof(*list), by_role);
	return list;
}

static size_t order_of(const struct role_pair *p)
{
	return p->side[0] ? p->side[0]->order : p->side[1]->order;
}

/* Sort pairs by the order of run A's tasks. Pairs without a task of run A come last. */
static int by_order(const void *left, const void *right)
{
	const struct role_pair *a = left, *b = right;

	if (!a->side[0] != !b->side[0])
		return a->side[0] ? -1 : 1;
	return (order_of(a) > order_of(b)) - (order_of(a) < order_of(b));
}

size_t roles_pair(struct grown *a, struct grown *b, struct role_pair **pairs)
{
	struct track **lists[2] = { sorted(a), sorted(b) };
	size_t at[2] = {}, nr = 0;

	*pairs = mem_zalloc(a->nr_tracks + b->nr_tracks + 1, sizeof(**pairs));
	while (lists[0][at[0]] || lists[1][at[1]]) {
		struct track *left = lists[0][at[0]], *right = lists[1][at[1]];
		int order = !left ? 1 : !right ? -1 : strcmp(left->role, right->role);

		if (order <= 0) {
			(*pairs)[nr].side[0] = left;
			at[0]++;
		}
		if (order >= 0) {
			(*pairs)[nr].side[1] = right;
			at[1]++;
		}
		nr++;
	}
	qsort(*pairs, nr, sizeof(**pairs), by_order);
	free(lists[0]);
	free(lists[1]);
	return nr;
}
