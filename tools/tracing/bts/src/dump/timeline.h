/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass calls and their times to the functions that write a timeline.
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
 * @text:	the output; if a write fails, the dump ends
 * @begin:	time of the first branch in nanoseconds; the callbacks' times are relative to @begin
 * @enter:	called when a call begins, with the time in f->ts; may be NULL
 * @leave:	called when a call ends
 * @mark:	called for each row of a task except ROW_MAP, and when flow/calls.c guesses a stack
 * @stack:	called when a task continues on a new stack
 * @task:	called for each task after the trace was read
 * @ctx:	a pointer that only the callbacks use
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
 * Each stack of a task has its own track, because calls in a track must be nested. A track's ID is
 * the PID, plus 2^22 times the number of the stack (from 0). PIDs are less than 2^22, so the IDs of
 * the first 1,024 stacks are less than 2^32, and ui.perfetto.dev accepts them as thread IDs. An
 * idle task has PID 0 and one stack. In its track ID, the CPU's number replaces the stack's number.
 */
static inline uint64_t timeline_first_track(const struct task *t)
{
	return ((uint64_t)t->idle_cpu << 22) + (uint32_t)t->pid;
}

/* Return the ID of the track of the current stack. */
static inline uint64_t timeline_track(const struct calls *c)
{
	return ((uint64_t)c->now.id << 22) + timeline_first_track(c->task);
}

/* Return the result of pipe_run(). */
int timeline_run(struct timeline *tl);

#endif
