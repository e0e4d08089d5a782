// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change the frames and the stacks of a task.
 *
 * struct calls contains the current stack of a task, and a list of its other stacks.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/inlines.h"
#include "symbols/roles.h"
#include "frames.h"

#define INSN_MAX	15
/* Limit the number of a task's inactive stacks, because no branch shows that a stack was freed. */
#define STACKS_MAX	4096
/* A trace may have thousands of tasks, so allocate only a few frames for each at first. */
#define FRAMES_MIN	16

static struct frame *new_frame(struct calls *c)
{
	if (!c->now.frames || c->now.depth == c->now.room) {
		c->now.room = c->now.room ? 2 * c->now.room : FRAMES_MIN;
		c->now.frames = mem_realloc(c->now.frames, c->now.room, sizeof(*c->now.frames));
	}
	return &c->now.frames[c->now.depth++];
}

void push(struct calls *c, enum frame_kind kind, struct sym *sym, const struct place *site,
	  uint64_t ret)
{
	struct frame *f = new_frame(c);

	/* Set the members one by one: with an initializer, gcc would clear *f slowly. */
	f->sym = sym;
	f->part = NULL;
	f->inlined = NULL;
	f->site = site ? *site : (struct place) { .sym = sym, .addr = sym->addr };
	f->ret = ret;
	f->kind = kind;
	f->approx = false;
	f->user = false;
	f->sigreturn = false;
	c->now.nr_entries += is_entry(f);
	f->serial = ++c->serial;
	f->insns_at = c->insns;
	f->branches_at = c->branches;
	f->insns = 0;
	f->branches = 0;
	f->ts = c->ts;
	f->node = NULL;
	if (c->ops->enter)
		c->ops->enter(c, f);
}

void pop(struct calls *c)
{
	struct frame *f = &c->now.frames[c->now.depth - 1];

	if (c->ops->leave)
		c->ops->leave(c, f);
	c->now.nr_entries -= is_entry(f);
	c->now.depth--;
}

void pop_to(struct calls *c, uint32_t depth)
{
	while (c->now.depth > depth)
		pop(c);
}

/* Add frames for @in and the inlined calls around @in. @depth is the result of calls_depth(). */
static void push_inlined(struct calls *c, const struct inlined *in, uint32_t depth,
			 const struct place *site)
{
	if (in->outer && c->now.depth - depth < in->outer->depth)
		push_inlined(c, in->outer, depth, site);
	push(c, FRAME_INLINED, in->sym, site, 0);
	calls_top(c)->inlined = in;
}

void set_inlined(struct calls *c, const struct inlined *in, const struct place *site)
{
	uint32_t depth = calls_depth(c);
	uint32_t have = c->now.depth - depth;
	const struct inlined *same = in;

	while (same && (same->depth > have ||
			c->now.frames[depth + same->depth - 1].inlined != same))
		same = same->outer;
	pop_to(c, depth + (same ? same->depth : 0));
	if (in != same)
		push_inlined(c, in, depth, site);
}

bool frame_has(struct frame *f, struct sym *sym)
{
	if (sym == f->sym || sym == f->part)
		return true;
	if (!sym_is_part(sym, f->sym))
		return false;
	f->part = sym;
	return true;
}

bool is_entry(const struct frame *f)
{
	return f->kind == FRAME_SYSCALL || f->kind == FRAME_INTERRUPT;
}

bool returns_to(const struct frame *f, uint64_t to)
{
	return f->approx ? to - f->ret - 1 < INSN_MAX : f->ret && to == f->ret;
}

uint32_t chain_begin(const struct calls *c)
{
	uint32_t i = c->now.depth;

	while (i && (c->now.frames[i - 1].kind == FRAME_TAIL ||
		     c->now.frames[i - 1].kind == FRAME_INLINED))
		i--;
	return i ? i - 1 : 0;
}

uint32_t side_begin(const struct calls *c)
{
	uint32_t i = c->now.depth;

	/* If no frame is a kernel entry, skip the search: it is slow if the stack is deep. */
	if (!c->now.nr_entries)
		return 0;
	while (i && !is_entry(&c->now.frames[i - 1]))
		i--;
	return i ? i - 1 : 0;
}

int64_t find_sym(const struct calls *c, const struct sym *sym, uint32_t begin)
{
	for (int64_t i = (int64_t)c->now.depth - 1; i >= begin; i--)
		if (c->now.frames[i].sym == sym || c->now.frames[i].part == sym)
			return i;
	return -1;
}

int64_t find_ret(const struct calls *c, uint64_t to, uint32_t begin)
{
	int64_t i = (int64_t)c->now.depth - 1;

	for (; i >= begin; i--)
		if (returns_to(&c->now.frames[i], to))
			break;
	if (i < (int64_t)begin)
		return -1;
	while (i > begin && (c->now.frames[i].kind == FRAME_TAIL ||
			     c->now.frames[i].kind == FRAME_INLINED))
		i--;
	return i;
}

void guess(struct calls *c)
{
	c->pipe->bill.guessed++;
	c->guessed = true;
	if (c->ops->guess)
		c->ops->guess(c);
}

/* Do not count what the task has executed on other stacks since it left the stack @s. */
static void skip_counts(struct calls *c, const struct stack *s)
{
	for (uint32_t i = 0; i < c->now.depth; i++) {
		c->now.frames[i].insns_at += c->insns - s->insns;
		c->now.frames[i].branches_at += c->branches - s->branches;
	}
}

/* Remove c->others[i] from the list, and return the stack. */
static struct stack take_stack(struct calls *c, uint32_t i)
{
	struct stack taken = c->others[i];

	c->nr_others--;
	memmove(&c->others[i], &c->others[i + 1], (c->nr_others - i) * sizeof(taken));
	return taken;
}

/* Detach the frames at index @depth and above from c->others[i], innermost frame first. */
static void detach_frames(struct calls *c, uint32_t i, uint32_t depth)
{
	struct stack current = c->now;

	c->now = c->others[i];
	skip_counts(c, &c->others[i]);
	c->now.insns = c->insns;
	c->now.branches = c->branches;
	for (; c->now.depth > depth; c->now.depth--) {
		if (c->ops->detach)
			c->ops->detach(c, calls_top(c));
		c->now.nr_entries -= is_entry(calls_top(c));
	}
	c->others[i] = c->now;
	c->now = current;
}

void move_frames(struct calls *c, uint32_t i, uint32_t depth)
{
	uint32_t end = c->others[i].depth;

	detach_frames(c, i, depth);
	for (uint32_t at = depth; at < end; at++) {
		struct frame *f = new_frame(c);

		*f = c->others[i].frames[at];
		c->now.nr_entries += is_entry(f);
		if (c->ops->attach)
			c->ops->attach(c, f);
	}
}

static void leave_stack(struct calls *c)
{
	if (c->nr_others == c->others_room) {
		c->others_room = c->others_room ? 2 * c->others_room : 8;
		c->others = mem_realloc(c->others, c->others_room, sizeof(*c->others));
	}
	c->now.insns = c->insns;
	c->now.branches = c->branches;
	c->others[c->nr_others++] = c->now;
}

static void enter_stack(struct calls *c, const struct stack *s)
{
	c->now = *s;
	skip_counts(c, s);
	if (c->ops->change)
		c->ops->change(c);
}

void change_stack(struct calls *c, uint32_t i)
{
	struct stack next = { .id = c->nr_others + 1 };

	if (i < c->nr_others) {
		next = take_stack(c, i);
	} else if (c->nr_others >= STACKS_MAX) {
		struct stack current = c->now;

		/* End the stack that the task left longest ago. */
		next = take_stack(c, 0);
		enter_stack(c, &next);
		pop_to(c, 0);
		next = c->now;
		c->now = current;
	}
	leave_stack(c);
	enter_stack(c, &next);
}

void end_stacks(struct calls *c)
{
	pop_to(c, 0);
	for (uint32_t i = 0; i < c->nr_others; i++) {
		struct stack first = c->now;

		enter_stack(c, &c->others[i]);
		pop_to(c, 0);
		free(c->now.frames);
		free(c->now.points);
		c->now = first;
	}
	c->nr_others = 0;
	/* Number new stacks from 1 again. */
	c->now.id = 0;
	c->guessed = false;
}

void free_stacks(struct calls *c)
{
	end_stacks(c);
	free(c->now.frames);
	free(c->now.points);
	free(c->others);
	c->now = (struct stack) { .id = c->now.id };
	c->others = NULL;
	c->others_room = 0;
}
