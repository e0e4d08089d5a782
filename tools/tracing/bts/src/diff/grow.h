/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build the call trees of a run.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_GROW_H
#define BTS_DIFF_GROW_H

#include "flow/calls.h"
#include "loops.h"
#include "noise.h"

/**
 * struct track - a task, with its call tree
 * @order:	index in grown.tracks. The task whose first row is the earliest has index 0
 * @node:	the root of the call tree
 * @role:	the task's role in the program, see roles.c
 * @body:	collects the outermost calls
 * @cut:	an interrupt has cut a straight run. The part before the interrupt begins at @start
 *		and has @insns instructions. The part after the interrupt begins at @resume
 * @branches:	branches of the task, including branches that are not compared
 * @lost:	number of losses and gaps
 * @call:	for bts why, the node of the last completed system call, or 0
 * @calls:	the task's call stacks
 */
struct track {
	int		pid;
	int		tgid;
	char		comm[16];
	size_t		order;
	uint32_t	node;
	char		*role;
	struct body	*body;
	bool		cut;
	struct place	start;
	uint64_t	resume;
	uint32_t	insns;
	uint64_t	branches;
	uint64_t	lost;
	uint32_t	call;
	struct calls	*calls;
	struct recall	recall;
};

/**
 * struct grown - a recorded run, with the call trees of its tasks
 * @filtered:	a filter hides branches inside calls
 * @remembers:	if true, bts remembers completed calls, to recognize repeated calls (recall.c)
 * @recalling:	number of tasks whose current call is compared with remembered calls (recall.c)
 * @noise:	number of calls whose branches are not compared, by reason (NOISE_*)
 * @interrupts:	number of interrupts and page faults that are not compared
 * @resolved:	number of functions that the dynamic linker looked up
 * @kernel:	number of kernel branches that are not compared
 * @event:	if not NULL, called for each trace event, after track.call is updated
 * @ctx:	a pointer that only the function @event uses
 */
struct grown {
	const char	*path;
	struct pipe	pipe;
	struct forest	*forest;
	struct track	**tracks;
	size_t		nr_tracks;
	struct body	*free;
	const struct step *step;
	bool		filtered;
	bool		remembers;
	unsigned int	recalling;
	uint64_t	noise[NOISE_KINDS];
	uint64_t	interrupts;
	uint64_t	resolved;
	uint64_t	kernel;
	void		(*event)(struct grown *g, struct track *t, struct task *task,
				 const char *text);
	void		*ctx;
	bool		open;
};

/* Return STATUS_OK or STATUS_FAILURE. If grow() sets g->open, grown_free() must be called. */
int grow(struct grown *g, const struct options *options);
/* Close the trace. Return STATUS_OK or STATUS_FAILURE. */
int grown_free(struct grown *g);

#endif
