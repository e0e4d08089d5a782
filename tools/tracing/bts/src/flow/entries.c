// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the inlined calls that a step enters.
 *
 * A step enters an inlined call if control reaches the call's code in one of three ways: by a jump,
 * by a return from another function, or without a branch. calls.c finds the same calls, but needs
 * the frames of a task. The rules in this file need only the step. So it is enough to examine a
 * step once, even if it was taken a million times.
 */
#include "symbols/inlines.h"
#include "symbols/roles.h"
#include "pipeline.h"

/**
 * struct entries - a walk through the instructions of a run
 * @in:		the inlined call that contains the previous instruction, or NULL
 * @begun:	the first instruction has been handled
 */
struct entries {
	step_enter_fn		enter;
	void			*ctx;
	const struct inlined	*in;
	bool			begun;
};

/* Call e->enter() for each inlined call that contains @to, but not @from. Both may be NULL. */
static void move(const struct entries *e, const struct inlined *from, const struct inlined *to)
{
	for (unsigned int depth = 1; to && depth <= to->depth; depth++) {
		const struct inlined *call = inlined_at(to, depth);

		if (inlined_at(from, depth) != call)
			e->enter(e->ctx, call->sym);
	}
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct entries *e = ctx;
	const struct inlined *in = object_inlined(sym->object, addr, NULL);

	(void)length;
	if (e->begun)
		move(e, e->in, in);
	e->in = in;
	e->begun = true;
}

/* Report whether the straight run stays in a function, without entering or leaving inlined code. */
static bool is_whole(const struct step *s)
{
	uint64_t end;

	object_inlined(s->at_start.sym->object, s->at_start.addr, &end);
	return s->at_start.sym == s->at_from.sym && s->at_from.addr < end;
}

/*
 * Return the inlined call from which the branch leads to @target, or NULL. If a jump stays in its
 * function, return the inlined call that contains the jump. If the branch cannot enter an inlined
 * call, return @target, so that step_enter() reports nothing.
 */
static const struct inlined *origin(const struct step *s, const struct inlined *target)
{
	const struct sym *from = s->at_from.sym, *to = s->at_to.sym;
	bool begins = s->at_to.addr == to->addr;

	switch (s->kind) {
	case BRANCH_CALL:
	case BRANCH_CALL_IND:
		if (begins || s->to != s->from + s->length)
			return NULL;
		break;
	case BRANCH_RET:
		/* Look up the call instruction. Its last byte is the byte before s->to. */
		return begins ? NULL : object_inlined(to->object, s->at_to.addr - 1, NULL);
	case BRANCH_UNKNOWN:
	case BRANCH_COND:
	case BRANCH_JUMP:
	case BRANCH_JUMP_IND:
		break;
	default:
		/* A branch into or out of the kernel does not begin an inlined call. */
		return target;
	}
	if (from == to || sym_is_part(from, to) || sym_is_part(to, from))
		return object_inlined(from->object, s->at_from.addr, NULL);
	/* An exception or longjmp() may lead into an inlined call, but the call began earlier. */
	return begins ? NULL : target;
}

void step_enter(const struct pipe *p, const struct step *s, step_enter_fn enter, void *ctx)
{
	struct entries e = { .enter = enter, .ctx = ctx };
	const struct inlined *target;

	if (!is_whole(s))
		step_each(p, s, one_insn, &e);
	if (s->flags & STEP_END)
		return;
	target = object_inlined(s->at_to.sym->object, s->at_to.addr, NULL);
	if (target)
		move(&e, origin(s, target), target);
}
