/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declare the internal functions and structures of the files that implement include/libbts.h.
 *
 * Included by: api/.
 */
#ifndef BTS_API_H
#define BTS_API_H

#include <libbts.h>

#include "flow/calls.h"
#include "flow/pipeline.h"
#include "lib/bytes.h"

/**
 * struct bts_trace - an open trace
 * @pipe:	the pipeline, whose error is also the trace's error
 * @options:	the options of @pipe
 * @ctx:	the first argument of the callbacks
 * @ran:	whether bts_run() was called
 * @stop:	the non-zero value that a callback returned to end the run
 * @frame:	the latest result of bts_frame()
 * @text:	the latest result of bts_bill() or bts_warning()
 */
struct bts_trace {
	struct pipe		pipe;
	struct options		options;
	bts_branch_fn		on_branch;
	bts_total_fn		on_total;
	bts_row_fn		on_row;
	bts_frame_fn		on_call;
	bts_frame_fn		on_return;
	bts_stack_fn		on_stack;
	bts_progress_fn		on_progress;
	void			*ctx;
	bool			ran;
	int			stop;
	struct bts_frame	frame;
	struct bts_totals	totals;
	struct bytes		text;
};

/*
 * trace.c: call @run through mem_try(), unless memory ran out earlier. Return -ENOMEM if memory ran
 * out, otherwise 0.
 */
int api_try(struct bts_trace *trace, void (*run)(void *arg), void *arg);

/* run.c */
void api_frame(struct calls *c, const struct frame *f, struct bts_frame *frame);
/* End all frames, and free all stacks. If @tell is true, call on_return() for each frame. */
void api_end_calls(struct bts_trace *trace, bool tell);

static inline const struct bts_sym *api_sym(const struct sym *sym)
{
	return (const struct bts_sym *)sym;
}

static inline const struct bts_task *api_task(const struct task *task)
{
	return (const struct bts_task *)task;
}

#endif
