// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the calls for each pair of caller and callee, and sum up the cost of these calls.
 *
 * When a frame ends, count its call, instructions and branches. If a function calls itself, count
 * instructions and branches only when its outermost frame ends. To recognize the outermost frame,
 * count each function's live frames on each stack of a task. The table of a task's counts is kept
 * small, because a trace may have thousands of tasks.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "arcs.h"

#define LIVE_MIN	16

/**
 * struct live - a function on a stack
 * @sym:	the function; NULL if the slot is free
 * @nr:		number of the function's live frames; resize() frees slots without live frames
 */
struct live {
	const struct sym	*sym;
	uint32_t		stack;
	uint32_t		nr;
};

/**
 * struct lives - the functions on the stacks of a task
 * @slots:	a hash table with linear probing; at most half of the slots are used
 * @used:	number of slots that are not free
 */
struct lives {
	struct live	*slots;
	size_t		room;
	size_t		used;
};

static struct live *slot_of(const struct lives *l, const struct sym *sym, uint32_t stack)
{
	uint64_t h = ((uintptr_t)sym ^ (uint64_t)stack << 48) * 0x9e3779b97f4a7c15ULL;
	size_t i = (h >> 32) & (l->room - 1);

	while (l->slots[i].sym && (l->slots[i].sym != sym || l->slots[i].stack != stack))
		i = (i + 1) & (l->room - 1);
	return &l->slots[i];
}

/* Rebuild the table: drop functions without live frames, and make room for one more function. */
static void resize(struct lives *l)
{
	struct lives old = *l;
	size_t live = 0;

	for (size_t i = 0; i < old.room; i++)
		live += !!old.slots[i].nr;
	*l = (struct lives) { .room = LIVE_MIN };
	while (l->room < 4 * live)
		l->room *= 2;
	l->slots = mem_zalloc(l->room, sizeof(*l->slots));
	for (size_t i = 0; i < old.room; i++) {
		if (!old.slots[i].nr)
			continue;
		*slot_of(l, old.slots[i].sym, old.slots[i].stack) = old.slots[i];
		l->used++;
	}
	free(old.slots);
}

static struct live *live_of(struct calls *c, const struct sym *sym)
{
	struct live *live;
	struct lives *l;

	if (!c->node)
		c->node = mem_zalloc(1, sizeof(*l));
	l = c->node;
	if (2 * l->used >= l->room)
		resize(l);
	live = slot_of(l, sym, c->now.id);
	l->used += !live->sym;
	live->sym = sym;
	live->stack = c->now.id;
	return live;
}

/* Report whether the function has the wanted name. Cache the result in sym->priv: 1 yes, 2 no. */
static bool wanted(const struct arcs *a, struct sym *sym)
{
	if (!a->wanted)
		return true;
	if (!sym->priv)
		sym->priv = (void *)(uintptr_t)(sym_is(sym, a->wanted) ? 1 : 2);
	return sym->priv == (void *)1;
}

static struct sym *caller_of(const struct calls *c)
{
	return c->now.depth > 1 ? c->now.frames[c->now.depth - 2].sym : NULL;
}

static bool is_counted(const struct calls *c, const struct frame *f)
{
	struct sym *caller = caller_of(c);

	return wanted(c->ctx, f->sym) || (caller && wanted(c->ctx, caller));
}

static void enter(struct calls *c, struct frame *f)
{
	if (is_counted(c, f))
		live_of(c, f->sym)->nr++;
}

/* Decrease the number of the function's live frames, and return the new number. */
static uint32_t remove_live(struct calls *c, const struct frame *f)
{
	struct live *live = live_of(c, f->sym);

	if (live->nr)
		live->nr--;
	return live->nr;
}

static void detach(struct calls *c, struct frame *f)
{
	if (is_counted(c, f))
		remove_live(c, f);
}

static void leave(struct calls *c, struct frame *f)
{
	struct arcs *a = c->ctx;
	struct tally_key key = { .a = f->sym, .b = caller_of(c) };
	struct tally_entry *e;
	bool nested;

	if (!is_counted(c, f))
		return;
	nested = remove_live(c, f);
	if (a->sites)
		key.b_addr = f->site.addr;
	e = tally_get(&a->tally, &key);
	e->calls++;
	e->kind = f->kind;
	if (!nested) {
		e->insns += c->insns - f->insns_at;
		e->branches += c->branches - f->branches_at;
	}
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .detach = detach, .attach = enter,
};

void arcs_step(struct arcs *a, struct task *t, const struct step *s, uint64_t ts)
{
	if (s->flags & STEP_SHOWN)
		calls_step(calls_of(a->pipe, t, &ops, a), s, ts);
}

void arcs_row(struct arcs *a, struct task *t, const struct row *row)
{
	if (t)
		calls_row(calls_of(a->pipe, t, &ops, a), row);
}

void arcs_end(struct arcs *a)
{
	for (struct task *t = a->pipe->tasks; t; t = t->list_next) {
		struct calls *c = t->priv;
		struct lives *l;

		if (!c)
			continue;
		calls_end(c);
		l = c->node;
		if (l)
			free(l->slots);
		free(l);
		calls_free(t);
	}
}
