/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the branches that separate failed runs from passed runs.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_DIFF_SUSPECTS_H
#define BTS_DIFF_SUSPECTS_H

#include "noise.h"

/**
 * struct suspect - an outcome of a branch: taken with the target @to, or not taken
 * @from:	the branch
 * @to:		the instruction that was executed after the branch
 * @straight:	the branch was not taken
 * @runtime:	the branch is in the C library, the C++ library or the dynamic linker
 * @runs:	number of passed runs and number of failed runs that contain this outcome
 * @first:	position of this outcome (1, 2, ...) in the first failed run that contains it
 * @score:	the Ochiai score, between 0 and 1
 * @last:	the number of the latest run that was counted in @runs
 */
struct suspect {
	struct place	from;
	struct place	to;
	uint64_t	from_addr;
	bool		straight;
	bool		runtime;
	unsigned int	runs[2];
	uint64_t	first;
	double		score;
	unsigned int	last;
};

/**
 * struct suspects - passed and failed runs
 * @paths:	the trace files of passed runs, and those of failed runs
 * @pipes:	the @nr_pipes open traces; @forest and @list refer to functions of these traces
 * @closed:	the combined status of the traces that are already closed
 * @list:	outcomes of branches, indexed by the IDs that forest.places assigns to them
 * @placed:	number of outcomes in @list whose places are known
 * @ranked:	outcomes that occur in a failed run, but not in every run; highest score first;
 *		among equal scores, those with @runtime set are last
 */
struct suspects {
	struct forest	forest;
	char		**paths[2];
	size_t		nr_paths[2];
	struct pipe	*pipes;
	size_t		nr_pipes;
	int		closed;
	struct suspect	*list;
	size_t		nr;
	size_t		room;
	size_t		placed;
	struct suspect	*ranked;
	size_t		nr_ranked;
};

void suspects_add_path(struct suspects *s, bool failed, char *path);
/* Read all traces, and rank the outcomes of branches. Return STATUS_OK or STATUS_FAILURE. */
int suspects_find(struct suspects *s, const struct options *options);
/* Return a string such as "main+0x12 (main.c:4) -> main+0x1f". The caller frees the string. */
char *suspect_text(const struct suspects *s, const struct suspect *x);
void suspects_show(const struct suspects *s, unsigned long rows, FILE *out);
void suspects_show_json(const struct suspects *s, FILE *out);
int suspects_free(struct suspects *s);

#endif
