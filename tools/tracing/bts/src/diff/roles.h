/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pair the tasks of two runs.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_DIFF_ROLES_H
#define BTS_DIFF_ROLES_H

#include "grow.h"

/* One task of each run. If a run has no matching task, the pointer for this run is NULL. */
struct role_pair {
	struct track	*side[2];
};

/* List the pairs in the order of run A's tasks. Pairs without a task of run A come last. */
size_t roles_pair(struct grown *a, struct grown *b, struct role_pair **pairs);

#endif
