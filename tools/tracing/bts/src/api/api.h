/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the library's interface share. include/libbts.h is the interface.
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
 * struct bts_trace - a trace that is open
 * @pipe:	its error is the trace's
 * @options:	of @pipe
 * @ctx:	of the functions
 * @ran:	bts_run() was called
 * @stop:	with this number, a function has ended the run
 * @frame:	the last one of bts_frame()
 * @text:	the last one of bts_bill() or bts_warning()
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
	void			*ctx;
	bool			ran;
	int			stop;
	struct bts_frame	frame;
	struct bts_totals	totals;
	struct bytes		text;
};

/* trace.c: call @run in a mem_try(). Return 0, or -ENOMEM, now or before. */
int api_try(struct bts_trace *trace, void (*run)(void *arg), void *arg);

/* run.c */
void api_frame(struct calls *c, const struct frame *f, struct bts_frame *frame);
/* Frees the stacks of all tasks. */
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
