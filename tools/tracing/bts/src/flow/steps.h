/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of steps, without duplicates. A step is a straight run with the branch at its end.
 *
 * Included by: flow/.
 */
#ifndef BTS_STEPS_H
#define BTS_STEPS_H

#include "pipeline.h"
#include "space.h"

#define STEP_SLAB	4096

/**
 * struct steps - the table of steps
 * @slots:	a hash table with linear probing; at most half of the slots are used
 * @slabs:	the memory of the steps, with STEP_SLAB steps in each slab
 */
struct steps {
	struct step	**slots;
	size_t		room;
	struct step	**slabs;
	size_t		nr_slabs;
	size_t		nr;
};

/* The arguments after @all are the key of a step. Return the step with this key, or NULL. */
struct step *steps_find(struct steps *all, uint32_t space, uint64_t start, uint64_t from,
			uint64_t to);
/* Add a step with this key (see steps_find()), and set the step's other members to 0. */
struct step *steps_add(struct steps *all, uint32_t space, uint64_t start, uint64_t from,
		       uint64_t to);
/* Call @fold for each step, then free all steps. */
void steps_clear(struct steps *all, void (*fold)(void *ctx, struct step *step), void *ctx);

/*
 * Set kind, length, insns and flags of @s. The caller has already set start, from, to and at_*.
 * If @near is true (s->from is shortly after s->start), do not set STEP_GAP for unknown code.
 */
void step_resolve(struct step *s, bool near);

#endif
