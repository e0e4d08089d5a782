// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compute when calls begin and end.
 *
 * BTS records do not contain times. So each task has a clock, which advances by one nanosecond per
 * instruction. If the trace contains a time for the task's next branch or row, and the clock is
 * behind this time, the clock is set to it. Calls are drawn in the order of execution. The width of
 * a call is its number of instructions, unless the clock was set during the call. Each call, return
 * and mark needs one extra nanosecond, because speedscope mixes up events with equal times.
 */
#include <stdlib.h>

#include "lib/mem.h"
#include "timeline.h"

/*
 * The clock of a task
 * @now: the earliest time that the task's next call, return or mark can have
 * @insns: number of instructions that the task had executed when @now was computed
 * @stack: the ID (stack.id) of the stack for which timeline.stack() was last called
 */
struct clock {
	uint64_t	now;
	uint64_t	insns;
	uint32_t	stack;
};

static struct clock *clock_of(struct calls *c)
{
	if (!c->node)
		c->node = mem_zalloc(1, sizeof(struct clock));
	return c->node;
}

/* Return the current time of the task's clock. Then advance the clock by one nanosecond. */
static uint64_t tick(struct calls *c)
{
	struct clock *k = clock_of(c);

	k->now += c->insns - k->insns;
	k->insns = c->insns;
	if (c->ts > k->now)
		k->now = c->ts;
	return k->now++;
}

static uint64_t since(const struct timeline *tl, uint64_t ts)
{
	return tl->begin && ts > tl->begin ? ts - tl->begin : 0;
}

static void enter(struct calls *c, struct frame *f)
{
	struct timeline *tl = c->ctx;

	f->ts = since(tl, tick(c));
	if (tl->enter)
		tl->enter(tl, c, f);
}

static void leave(struct calls *c, struct frame *f)
{
	struct timeline *tl = c->ctx;

	tl->leave(tl, c, f, since(tl, tick(c)));
}

/* Before a frame moves to another stack, draw its call on the old stack, and reset its counts. */
static void detach(struct calls *c, struct frame *f)
{
	leave(c, f);
	f->insns_at = c->insns;
	f->branches_at = c->branches;
}

static void change(struct calls *c)
{
	struct clock *k = clock_of(c);

	if (c->now.id <= k->stack)
		return;
	k->stack = c->now.id;
	((struct timeline *)c->ctx)->stack(c->ctx, c);
}

static void guessed(struct calls *c)
{
	struct timeline *tl = c->ctx;

	tl->mark(tl, c, "stack guessed", since(tl, tick(c)));
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .detach = detach, .attach = enter, .change = change,
	.guess = guessed,
};

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct timeline *tl = ctx;

	if (!tl->begin)
		tl->begin = ts;
	if (s->flags & STEP_SHOWN)
		calls_step(calls_of(&tl->dump->pipe, t, &ops, tl), s, ts);
	return tl->text->failed;
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct timeline *tl = ctx;
	struct calls *c;

	if (!t)
		return 0;
	c = calls_of(&tl->dump->pipe, t, &ops, tl);
	if (row->type != ROW_MAP) {
		if (row->ts > c->ts)
			c->ts = row->ts;
		tl->mark(tl, c, row_text(&tl->dump->pipe, t, row), since(tl, tick(c)));
	}
	calls_row(c, row);
	return tl->text->failed;
}

int timeline_run(struct timeline *tl)
{
	struct pipe *pipe = &tl->dump->pipe;
	int status;

	pipe->consumer = (struct consumer) { .ctx = tl, .branch = branch, .row = row };
	status = pipe_run(pipe);
	for (struct task *t = pipe->tasks; t; t = t->list_next) {
		struct calls *c = t->priv;
		struct clock *k;

		tl->task(tl, t);
		if (!c)
			continue;
		calls_end(c);
		k = c->node;
		calls_free(t);
		free(k);
	}
	return status;
}
