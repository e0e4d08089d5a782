// SPDX-License-Identifier: GPL-2.0-only
/* Read two traces, pair the tasks of the two runs, and find the differences of each pair. */
#include <stdlib.h>

#include "lib/large_stack.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "compare.h"

static void find_all(void *ctx)
{
	struct comparison *c = ctx;

	for (size_t i = 0; i < c->nr_tasks; i++) {
		struct role_pair *pair = &c->tasks[i].pair;

		if (pair->side[0] && pair->side[1])
			find_differences(&c->forest, pair->side[0]->node, pair->side[1]->node,
					 &c->tasks[i].differences);
	}
}

static bool pair_tasks(struct comparison *c)
{
	struct role_pair *pairs;

	c->nr_tasks = roles_pair(&c->run[0], &c->run[1], &pairs);
	c->tasks = mem_zalloc(c->nr_tasks + 1, sizeof(*c->tasks));
	for (size_t i = 0; i < c->nr_tasks; i++) {
		struct compared *t = &c->tasks[i];

		t->pair = pairs[i];
		t->beside = (struct beside) { .forest = &c->forest, .rows = c->rows };
		t->differences.ops = c->besides ? &beside_ops : NULL;
		t->differences.ctx = &t->beside;
	}
	free(pairs);
	if (on_large_stack(find_all, c))
		return true;
	free(c->tasks);
	c->tasks = NULL;
	c->nr_tasks = 0;
	return false;
}

int compare(struct comparison *c, const struct options *options)
{
	int status = STATUS_OK;

	/* The option -k implies --all, because only --all compares branches in the kernel. */
	c->forest.all |= options->kernel;
	for (unsigned int side = 0; side < 2; side++) {
		c->run[side].forest = &c->forest;
		status |= grow(&c->run[side], options);
		if (!c->run[side].open)
			return STATUS_FAILURE;
	}
	return pair_tasks(c) ? status : STATUS_FAILURE;
}

int comparison_free(struct comparison *c)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < c->nr_tasks; i++) {
		differences_free(&c->tasks[i].differences);
		beside_free(&c->tasks[i].beside);
	}
	free(c->tasks);
	for (unsigned int side = 0; side < 2; side++)
		status |= grown_free(&c->run[side]);
	forest_free(&c->forest);
	return status;
}
