/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call trees of one run.
 *
 * Included by: diff/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_GROW_H
#define BTS_DIFF_GROW_H

#include "flow/calls.h"
#include "loops.h"
#include "noise.h"

/**
 * struct track - a task
 * @order:	of its first branch among the tasks
 * @node:	its tree
 * @role:	what it does in the program: roles.c
 * @body:	its outermost calls
 * @cut:	an interrupt has cut a run: it began at @start, with @insns up to the interrupt
 * @branches:	of the task, those that are not compared included
 * @lost:	losses and gaps
 * @call:	with a kernel forest: the node of the system call that ended last, or 0
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
};

/**
 * struct grown - a run
 * @noise:	calls that are not compared, by NOISE_*
 * @interrupts:	and page faults, that are not compared
 * @resolved:	functions that were looked up at their first call
 * @kernel:	branches in the kernel that are not compared
 * @event:	gets the trace's events of other kinds, after @call was set; or NULL
 * @ctx:	its own
 */
struct grown {
	const char	*path;
	struct pipe	pipe;
	struct forest	*forest;
	struct track	**tracks;
	size_t		nr_tracks;
	struct body	*free;
	const struct step *step;
	uint64_t	noise[NOISE_KINDS];
	uint64_t	interrupts;
	uint64_t	resolved;
	uint64_t	kernel;
	void		(*event)(struct grown *g, struct track *t, struct task *task,
				 const char *text);
	void		*ctx;
	bool		open;
};

/* Reads the trace. STATUS_OK or STATUS_FAILURE; the pipe stays open if @open is set. */
int grow(struct grown *g, const struct options *options);
/* Closes the trace. STATUS_OK or STATUS_FAILURE. */
int grown_free(struct grown *g);

#endif
