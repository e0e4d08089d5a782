/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between two runs by chance.
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_NOISE_H
#define BTS_DIFF_NOISE_H

#include "tree.h"

enum {
	NOISE_STRINGS = 1,	/* where strings lie decides which branches are taken */
	NOISE_ALLOCATOR,	/* what was allocated before, by all threads */
	NOISE_WAITING,		/* which thread comes first */
	NOISE_CLOCK,
	NOISE_KINDS
};

extern const char *const noise_names[NOISE_KINDS];

/* Sets the function's flags. @all: nothing is noise. */
void noise_classify(struct function *fn, bool all);
/* Is the step one that is not compared? */
bool noise_step(const struct step *s);

#endif
