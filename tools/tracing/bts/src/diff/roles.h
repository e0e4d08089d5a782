/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which task of one run is which of the other.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_DIFF_ROLES_H
#define BTS_DIFF_ROLES_H

#include "grow.h"

/* Two tasks; NULL if only one run has it. */
struct role_pair {
	struct track	*side[2];
};

/* The pairs, in the order of the first run; then those that only the second has. Their number. */
size_t roles_pair(struct grown *a, struct grown *b, struct role_pair **pairs);

#endif
