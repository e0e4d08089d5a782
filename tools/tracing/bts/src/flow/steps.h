/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of steps: every straight run with the branch at its end, once.
 *
 * Included by: flow/.
 */
#ifndef BTS_STEPS_H
#define BTS_STEPS_H

#include "pipeline.h"
#include "space.h"

#define STEP_SLAB	4096

/**
 * struct steps - all of them
 * @slots:	a hash table with linear probing, at most half full
 * @slabs:	where they lie, STEP_SLAB in each
 */
struct steps {
	struct step	**slots;
	size_t		room;
	struct step	**slabs;
	size_t		nr_slabs;
	size_t		nr;
};

/* The step, or NULL; and a new one, all but its key empty. */
struct step *steps_find(struct steps *all, uint32_t space, uint64_t start, uint64_t from,
			uint64_t to);
struct step *steps_add(struct steps *all, uint32_t space, uint64_t start, uint64_t from,
		       uint64_t to);
/* Calls @fold for each, with a count that is not 0, then forgets all. */
void steps_clear(struct steps *all, void (*fold)(void *ctx, struct step *step), void *ctx);

/* What the code says about a new step: kind, instructions, gap; its places are set. */
void step_resolve(struct step *s);

#endif
