/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which branches separate the runs that failed from those that passed.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_DIFF_SUSPECTS_H
#define BTS_DIFF_SUSPECTS_H

#include "noise.h"

/**
 * struct suspect - a way that a branch went
 * @from:	the branch
 * @to:		where it led; of a conditional branch that was not taken, what follows it
 * @straight:	it was not taken
 * @runs:	so many runs went that way, of those that passed and of those that failed
 * @first:	how many other ways the first failed run with this one went before
 * @score:	Ochiai's, between 0 and 1
 * @last:	the last run that was counted
 */
struct suspect {
	struct place	from;
	struct place	to;
	uint64_t	from_addr;
	bool		straight;
	unsigned int	runs[2];
	uint64_t	first;
	double		score;
	unsigned int	last;
};

/**
 * struct suspects - several runs of each kind
 * @paths:	of the traces; 0: passed, 1: failed
 * @ranked:	@suspects of the failed runs, the best one first; one for each branch
 */
struct suspects {
	struct forest	forest;
	char		**paths[2];
	size_t		nr_paths[2];
	struct pipe	*pipes;
	size_t		nr_pipes;
	struct suspect	*list;
	size_t		nr;
	size_t		room;
	struct suspect	*ranked;
	size_t		nr_ranked;
};

void suspects_add_path(struct suspects *s, bool failed, char *path);
/* Reads all traces and ranks. STATUS_OK or STATUS_FAILURE. */
int suspects_find(struct suspects *s, const struct options *options);
void suspects_show(const struct suspects *s, unsigned long rows, FILE *out);
void suspects_show_json(const struct suspects *s, FILE *out);
int suspects_free(struct suspects *s);

#endif
