/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find executed code that differs between two runs by chance (noise).
 *
 * Included by: diff/.
 */
#ifndef BTS_DIFF_NOISE_H
#define BTS_DIFF_NOISE_H

#include "tree.h"

enum {
	NOISE_STRINGS = 1,	/* branches in string functions depend on the strings' addresses */
	NOISE_ALLOCATOR,	/* branches in malloc() depend on what all threads have allocated */
	NOISE_WAITING,		/* branches in thread functions depend on which thread runs first */
	NOISE_CLOCK,
	NOISE_KINDS
};

extern const char *const noise_names[NOISE_KINDS];

/* Set the flags of a function. If @all is set, treat no function as noise. */
void noise_classify(struct function *fn, bool all);
/* Report whether the step is noise. */
bool noise_step(const struct step *s);

#endif
