// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build the call trees of a run while its branches are read.
 *
 * Each frame of a stack has a body, which collects the frame's branches and completed calls. When
 * the frame ends, its body becomes a node in the body of the outer frame.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "symbols/inlines.h"
#include "grow.h"

static struct body *get_body(struct grown *g)
{
	struct body *b = g->free;

	if (b)
		g->free = b->next;
	else
		b = mem_zalloc(1, sizeof(*b));
	body_reset(b);
	return b;
}

static void put_body(struct grown *g, struct body *b)
{
	b->next = g->free;
	g->free = b;
}

static struct body *body_around(struct calls *c)
{
	struct track *t = c->node;

	return c->now.depth > 1 ? c->now.frames[c->now.depth - 2].node : t->body;
}

/* Return the address at which code without a symbol was entered. */
static uint64_t entry_of(const struct grown *g, const struct frame *f)
{
	const struct step *s = g->step;

	if (s && s->at_to.sym == f->sym)
		return s->at_to.addr;
	return s && s->at_start.sym == f->sym ? s->at_start.addr : 0;
}

/* Return the inlined call whose code calls the frame's function, or NULL. */
static const struct inlined *caller_of(const struct grown *g, const struct frame *f)
{
	const struct place *site = &f->site;

	/* If the place of the call is unknown, it is the function's own start. */
	if (!g->forest->inlines || (site->sym == f->sym && site->addr == f->sym->addr))
		return NULL;
	return object_inlined(site->sym->object, site->addr, NULL);
}

static void enter(struct calls *c, struct frame *f)
{
	struct grown *g = c->ctx;
	struct body *b = get_body(g), *around = body_around(c);
	const struct function *fn;

	b->function = forest_function(g->forest, f->sym, entry_of(g, f), caller_of(g, f));
	fn = &g->forest->functions[b->function];
	b->hidden = fn->stub || (!g->forest->all && (f->kind == FRAME_SYSCALL ||
						    f->kind == FRAME_INTERRUPT));
	b->silent = around->silent || fn->noise ||
		    (g->forest->kernel && f->kind == FRAME_INTERRUPT);
	f->node = b;
}

static void leave(struct calls *c, struct frame *f)
{
	struct grown *g = c->ctx;
	struct body *b = f->node, *around = body_around(c);
	const struct function *fn = &g->forest->functions[b->function];
	const struct seq *s = &b->levels[0].now;
	struct track *t = c->node;
	uint32_t node;

	body_end(g->forest, b);
	if (!around->silent && !b->hidden) {
		g->noise[fn->noise]++;
		node = forest_node(g->forest, NODE_CALL, b->function, s->elems, s->nr);
		body_add(g->forest, around, node);
		if (fn->syscall && !c->closing)
			t->call = node;
	}
	/* A stub calls functions only if the dynamic linker looks up its target. */
	g->resolved += fn->stub && s->nr;
	put_body(g, b);
}

static const struct calls_ops ops = { .enter = enter, .leave = leave };

static struct calls *calls_get(struct grown *g, struct task *t)
{
	struct calls *c = calls_of(&g->pipe, t, &ops, g);
	struct track *track;

	if (c->node)
		return c;
	track = mem_zalloc(1, sizeof(*track));
	track->pid = t->pid;
	track->body = get_body(g);
	g->tracks = mem_realloc(g->tracks, g->nr_tracks + 1, sizeof(*g->tracks));
	g->tracks[g->nr_tracks++] = track;
	c->node = track;
	return c;
}

/* Note that an interrupt cut a straight run, which continues after the interrupt. */
static void cut_run(struct track *t, const struct step *s)
{
	if (!t->cut || t->resume != s->start) {
		t->start = s->at_start;
		t->insns = 0;
	}
	t->cut = true;
	t->resume = s->from;
	t->insns += s->insns;
}

static uint32_t token_of_step(struct grown *g, struct track *t, struct step *s)
{
	bool joined = t->cut && t->resume == s->start;

	t->cut = false;
	if (joined)
		return forest_token(g->forest, s, &t->start, t->insns + s->insns);
	if (!s->priv)
		s->priv = (void *)(uintptr_t)(forest_token(g->forest, s, &s->at_start,
							   s->insns) + 1);
	return (uintptr_t)s->priv - 1;
}

/* Add the branch to the innermost function, which takes the branch. */
static void add_branch(struct grown *g, struct calls *c, struct step *s)
{
	struct body *b = c->now.depth ? calls_top(c)->node : NULL;

	if (!b || b->silent || b->hidden)
		return;
	body_add(g->forest, b, token_of_step(g, c->node, s));
}

static bool is_noise(struct grown *g, struct calls *c, const struct step *s)
{
	struct track *t = c->node;

	if (!(s->flags & STEP_SHOWN))
		return true;
	if (g->forest->all || (g->forest->kernel ? s->kind != BRANCH_INTERRUPT : !noise_step(s)))
		return false;
	if (is_kernel(s->from) && !g->forest->kernel) {
		g->kernel++;
		return true;
	}
	g->interrupts++;
	/* An interrupt inside an interrupt handler does not cut the interrupted run again. */
	if (!c->now.depth || !((struct body *)calls_top(c)->node)->silent)
		cut_run(t, s);
	return true;
}

static int branch(void *ctx, struct task *task, struct step *s, uint64_t ts)
{
	struct grown *g = ctx;
	struct calls *c = calls_get(g, task);
	struct track *t = c->node;
	bool noise = is_noise(g, c, s);

	t->branches++;
	/* Branches within the kernel do not change the program's stack. */
	if (noise && !g->forest->all && !g->forest->kernel && is_kernel(s->from) &&
	    is_kernel(s->to))
		return 0;
	g->step = s;
	if (!c->now.depth || c->lost || calls_top(c)->sym != s->at_start.sym) {
		calls_step(c, s, ts);
		if (!noise)
			add_branch(g, c, s);
		return 0;
	}
	if (!noise)
		add_branch(g, c, s);
	calls_step(c, s, ts);
	return 0;
}

static int row(void *ctx, struct task *task, const struct row *row)
{
	struct grown *g = ctx;
	struct calls *c;
	struct track *t;

	if (!task)
		return 0;
	c = calls_get(g, task);
	t = c->node;
	t->lost += row->type == ROW_LOST || row->type == ROW_GAP;
	calls_row(c, row);
	if (row->type == ROW_EVENT && g->event)
		g->event(g, t, task, row->text);
	return 0;
}

static void end_track(struct grown *g, struct task *task)
{
	struct calls *c = task->priv;
	struct track *t;

	if (!c)
		return;
	t = c->node;
	calls_free(task);
	t->tgid = task->tgid;
	memcpy(t->comm, task->comm, sizeof(t->comm));
	body_end(g->forest, t->body);
	t->node = forest_node(g->forest, NODE_TASK, 0, t->body->levels[0].now.elems,
			      t->body->levels[0].now.nr);
	put_body(g, t->body);
	t->body = NULL;
}

static void drop_empty(struct grown *g)
{
	size_t nr = 0;

	for (size_t i = 0; i < g->nr_tracks; i++) {
		if (node_of(g->forest, g->tracks[i]->node)->nr)
			g->tracks[nr++] = g->tracks[i];
		else
			free(g->tracks[i]);
	}
	g->nr_tracks = nr;
}

int grow(struct grown *g, const struct options *options)
{
	struct body *next;
	int status;

	g->pipe.consumer = (struct consumer) { .ctx = g, .branch = branch, .row = row };
	if (!pipe_open(&g->pipe, g->path, options))
		return STATUS_FAILURE;
	g->open = true;
	/* Inlined functions are shown in the paths, but have no nodes in the trees. */
	g->forest->inlines = options->inlines;
	g->pipe.inlines = false;
	status = pipe_run(&g->pipe);
	g->step = NULL;
	for (struct task *t = g->pipe.tasks; t; t = t->list_next)
		end_track(g, t);
	drop_empty(g);
	for (struct body *b = g->free; b; b = next) {
		next = b->next;
		body_free(b);
	}
	g->free = NULL;
	return status;
}

int grown_free(struct grown *g)
{
	for (size_t i = 0; i < g->nr_tracks; i++) {
		free(g->tracks[i]->role);
		free(g->tracks[i]);
	}
	free(g->tracks);
	return g->open ? pipe_close(&g->pipe) : STATUS_OK;
}
