// SPDX-License-Identifier: GPL-2.0-only
/*
 * libbts: read a trace. Convert the pipeline's steps, rows and frames to the structures of
 * libbts.h, and pass these structures to the program's callbacks.
 */
#include <errno.h>

#include "api.h"
#include "lib/mem.h"

_Static_assert((int)BTS_EXIT == (int)BRANCH_EXIT && (int)BTS_EXIT + 1 == BRANCH_KINDS, "kinds");
_Static_assert((int)BTS_ROW_SIGRETURN == (int)ROW_SIGRETURN, "types of rows");
_Static_assert((int)BTS_FRAME_INLINED == (int)FRAME_INLINED, "kinds of frames");

static struct bts_place place_at(const struct place *place, uint64_t addr)
{
	return (struct bts_place) {
		.addr = addr, .object_addr = place->addr, .sym = api_sym(place->sym),
	};
}

/* Fill @b. For on_total(), @t is NULL, because several processes may have taken the branch. */
static void fill_branch(const struct bts_trace *trace, const struct task *t,
			const struct step *step, uint64_t ts, struct bts_branch *b)
{
	const struct step copy = pipe_step(&trace->pipe, t, step), *s = &copy;
	bool begins = s->flags & (STEP_GAP | STEP_HEAD);

	*b = (struct bts_branch) {
		.time = ts, .start = place_at(&s->at_start, begins ? s->from : s->start),
		.from = place_at(&s->at_from, s->from), .to = place_at(&s->at_to, s->to),
		.kind = s->kind, .insns = s->insns, .count = s->count, .user = s->priv,
		.flags = (s->flags & STEP_GAP ? BTS_BRANCH_GAP : 0) |
			 (s->flags & STEP_BLIND ? BTS_BRANCH_NO_CODE : 0) |
			 (s->flags & STEP_HEAD ? BTS_BRANCH_HEAD : 0) |
			 (s->flags & STEP_END ? BTS_BRANCH_END : 0),
	};
}

/* Report whether a callback returned non-zero, or libbts ran out of memory within a callback. */
static int stopped(const struct bts_trace *trace)
{
	return trace->stop || trace->pipe.error.code == ENOMEM;
}

/* --- Calls -------------------------------------------------------------------------- */

void api_frame(struct calls *c, const struct frame *f, struct bts_frame *frame)
{
	*frame = (struct bts_frame) {
		.sym = api_sym(f->sym), .kind = f->kind, .depth = f - c->now.frames,
		.stack = c->now.id, .time = f->ts,
		.ret = f->approx ? 0 : pipe_addr(c->pipe, c->task, f->ret),
		.insns = c->insns - f->insns_at, .branches = c->branches - f->branches_at,
		.unfinished = c->closing, .user = f->node,
	};
}

static void tell_frame(struct calls *c, struct frame *f, bts_frame_fn fn)
{
	struct bts_trace *trace = c->ctx;
	struct bts_frame frame;

	if (!fn || stopped(trace))
		return;
	api_frame(c, f, &frame);
	trace->stop = fn(trace->ctx, api_task(c->task), &frame);
	f->node = frame.user;
}

static void enter(struct calls *c, struct frame *f)
{
	struct bts_trace *trace = c->ctx;

	tell_frame(c, f, trace->on_call);
}

static void leave(struct calls *c, struct frame *f)
{
	struct bts_trace *trace = c->ctx;

	tell_frame(c, f, trace->on_return);
}

static void tell_stack(struct calls *c, bool guessed)
{
	struct bts_trace *trace = c->ctx;

	if (trace->on_stack && !stopped(trace))
		trace->stop = trace->on_stack(trace->ctx, api_task(c->task), c->now.id, guessed);
}

static void change(struct calls *c)
{
	tell_stack(c, false);
}

static void guessed(struct calls *c)
{
	tell_stack(c, true);
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .change = change, .guess = guessed,
};

static bool follows(const struct bts_trace *trace)
{
	return trace->on_call || trace->on_return || trace->on_stack;
}

static void follow(struct bts_trace *trace, struct task *t, const struct step *s, uint64_t ts)
{
	const struct options *o = &trace->options;
	bool from_kernel = is_kernel(s->from), to_kernel = is_kernel(s->to);

	if ((o->user && from_kernel && to_kernel) || (o->kernel && !from_kernel && !to_kernel))
		return;
	calls_step(calls_of(&trace->pipe, t, &ops, trace), s, ts);
}

void api_end_calls(struct bts_trace *trace, bool tell)
{
	static const struct calls_ops silent;

	for (struct task *t = trace->pipe.tasks; t; t = t->list_next) {
		struct calls *c = t->priv;

		if (c && (!tell || stopped(trace)))
			c->ops = &silent;
		calls_free(t);
	}
}

/* --- The callbacks of the pipeline -------------------------------------------------- */

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct bts_trace *trace = ctx;
	struct bts_branch b;

	if (trace->on_branch && (s->flags & STEP_SHOWN)) {
		fill_branch(trace, t, s, ts, &b);
		trace->stop = trace->on_branch(trace->ctx, api_task(t), &b);
		s->priv = b.user;
	}
	if (!stopped(trace) && follows(trace))
		follow(trace, t, s, ts);
	return stopped(trace);
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct bts_trace *trace = ctx;

	if (trace->on_row) {
		const struct bts_row public = {
			.type = (enum bts_row_type)row->type, .cpu = row->cpu, .time = row->ts,
			.count = row->count, .ended = row->dead,
			.text = row_text(&trace->pipe, t, row),
		};

		trace->stop = trace->on_row(trace->ctx, api_task(t), &public);
	}
	if (!stopped(trace) && follows(trace) && t)
		calls_row(calls_of(&trace->pipe, t, &ops, trace), row);
	return stopped(trace);
}

static void fold(void *ctx, struct step *s)
{
	struct bts_trace *trace = ctx;
	struct bts_branch b;

	if (!s->count || !(s->flags & STEP_SHOWN))
		return;
	fill_branch(trace, NULL, s, 0, &b);
	trace->on_total(trace->ctx, &b);
}

static void run(void *arg)
{
	struct bts_trace *trace = arg;

	trace->pipe.consumer = (struct consumer) {
		.ctx = trace,
		.branch = trace->on_branch || follows(trace) ? branch : NULL,
		.row = trace->on_row || follows(trace) ? row : NULL,
		.fold = trace->on_total ? fold : NULL,
	};
	trace->pipe.inlines = trace->options.inlines;
	trace->pipe.progress = trace->on_progress;
	trace->pipe.progress_ctx = trace->ctx;
	pipe_run(&trace->pipe);
	api_end_calls(trace, true);
}

static void refuse(void *arg)
{
	struct bts_trace *trace = arg;

	error_set(&trace->pipe.error, EALREADY, "read", NULL, "the trace was already read");
}

int bts_run(struct bts_trace *trace, void *ctx)
{
	if (!trace->pipe.error.code && trace->ran)
		api_try(trace, refuse, trace);
	if (trace->pipe.error.code)
		return -trace->pipe.error.code;
	trace->ran = true;
	trace->ctx = ctx;
	if (api_try(trace, run, trace))
		return -ENOMEM;
	return trace->stop ? trace->stop : -trace->pipe.error.code;
}

void bts_on_branch(struct bts_trace *trace, bts_branch_fn fn)
{
	trace->on_branch = fn;
}

void bts_on_total(struct bts_trace *trace, bts_total_fn fn)
{
	trace->on_total = fn;
}

void bts_on_row(struct bts_trace *trace, bts_row_fn fn)
{
	trace->on_row = fn;
}

void bts_on_call(struct bts_trace *trace, bts_frame_fn fn)
{
	trace->on_call = fn;
}

void bts_on_return(struct bts_trace *trace, bts_frame_fn fn)
{
	trace->on_return = fn;
}

void bts_on_stack(struct bts_trace *trace, bts_stack_fn fn)
{
	trace->on_stack = fn;
}

void bts_on_progress(struct bts_trace *trace, bts_progress_fn fn)
{
	trace->on_progress = fn;
}
