// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the calls from function to function, and their cost.
 *
 * When a frame ends, count its call, instructions and branches. If a function calls itself, count
 * instructions and branches only when its outermost frame ends. To find that frame, keep the
 * number of live frames of each function on each stack of a task.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "arcs.h"

/* Return the table with the number of live frames of each function on each stack of the task. */
static struct tally *active_of(struct calls *c)
{
	if (!c->node)
		c->node = mem_zalloc(1, sizeof(struct tally));
	return c->node;
}

static struct tally_entry *active(struct calls *c, const struct sym *sym)
{
	struct tally_key key = { .a = sym, .a_addr = c->now.id };

	return tally_get(active_of(c), &key);
}

/* Cache the result in sym->priv: 1 if the function has the wanted name, 2 if not. */
static bool wanted(const struct arcs *a, struct sym *sym)
{
	if (!a->wanted)
		return true;
	if (!sym->priv)
		sym->priv = (void *)(uintptr_t)(sym_is(sym, a->wanted) ? 1 : 2);
	return sym->priv == (void *)1;
}

static void enter(struct calls *c, struct frame *f)
{
	struct arcs *a = c->ctx;

	if (wanted(a, f->sym) ||
	    (c->now.depth > 1 && wanted(a, c->now.frames[c->now.depth - 2].sym)))
		active(c, f->sym)->calls++;
}

static void leave(struct calls *c, struct frame *f)
{
	struct sym *caller = c->now.depth > 1 ? c->now.frames[c->now.depth - 2].sym : NULL;
	struct arcs *a = c->ctx;
	struct tally_key key = { .a = f->sym, .b = caller };
	struct tally_entry *e;
	bool nested;

	if (!wanted(a, f->sym) && (!caller || !wanted(a, caller)))
		return;
	e = active(c, f->sym);
	if (e->calls)
		e->calls--;
	nested = e->calls;
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

static const struct calls_ops ops = { .enter = enter, .leave = leave };

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
		struct tally *active = NULL;

		if (!c)
			continue;
		calls_end(c);
		active = c->node;
		if (active)
			tally_free(active);
		free(active);
		calls_free(t);
	}
}
