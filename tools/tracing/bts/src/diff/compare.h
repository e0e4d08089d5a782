/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare two runs.
 *
 * Included by: diff/, tui/, cmd/.
 */
#ifndef BTS_DIFF_COMPARE_H
#define BTS_DIFF_COMPARE_H

#include "find.h"
#include "roles.h"
#include "beside.h"

/* Two tasks, and their differences. @beside stays empty unless comparison.besides is set. */
struct compared {
	struct role_pair	pair;
	struct differences	differences;
	struct beside		beside;
};

/**
 * struct comparison - a comparison of two runs
 * @rows:	maximum number of differences to show for each pair of tasks, or 0 for all
 * @besides:	for each pair of tasks, arrange the two runs side by side in compared.beside
 */
struct comparison {
	struct grown		run[2];
	struct forest		forest;
	struct compared		*tasks;
	size_t			nr_tasks;
	unsigned long		rows;
	bool			besides;
};

/*
 * Read the traces c->run[].path, and find the differences. Return STATUS_OK or STATUS_FAILURE. Even
 * if a trace is damaged, compare its undamaged part, and set c->tasks.
 */
int compare(struct comparison *c, const struct options *options);
/* Return STATUS_OK or STATUS_FAILURE. */
int comparison_free(struct comparison *c);

#endif
