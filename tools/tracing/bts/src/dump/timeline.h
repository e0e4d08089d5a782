/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls over time, for the formats that draw them.
 *
 * Included by: dump/.
 */
#ifndef BTS_TIMELINE_H
#define BTS_TIMELINE_H

#include "flow/calls.h"
#include "lib/text.h"
#include "dump.h"

/**
 * struct timeline - a dump of calls over time
 * @text:	where it goes; when that has failed the run ends
 * @begin:	of the trace, in nanoseconds: times that are given are since then
 * @enter:	a call, at f->ts. May be NULL
 * @leave:	its end
 * @mark:	what is no call: departs, arrives, LOST, GAP, an event, a guess
 * @stack:	the task is on this stack for the first time; not called for the first one
 * @task:	each task, at the end
 * @ctx:	the format's own
 */
struct timeline {
	struct dump	*dump;
	struct text	*text;
	uint64_t	begin;
	void		(*enter)(struct timeline *tl, struct calls *c, struct frame *f);
	void		(*leave)(struct timeline *tl, struct calls *c, struct frame *f,
				 uint64_t end);
	void		(*mark)(struct timeline *tl, struct calls *c, const char *text,
				uint64_t at);
	void		(*stack)(struct timeline *tl, struct calls *c);
	void		(*task)(struct timeline *tl, struct task *t);
	void		*ctx;
};

/*
 * Calls of a task lie within each other, but for those on different stacks: each stack has a
 * number of its own. That of the first one is the task's.
 */
static inline uint64_t timeline_track(const struct calls *c)
{
	return (uint64_t)c->now.id << 32 | (uint32_t)c->task->pid;
}

/* What pipe_run() returns. */
int timeline_run(struct timeline *tl);

#endif
