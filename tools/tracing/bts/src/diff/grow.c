// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build the call trees of a run while its branches are read.
 *
 * Each frame of a stack has a body, which collects the frame's branches and completed calls. When
 * the frame ends, its body becomes a node in the body of the next outer frame. If a call repeats an
 * earlier call, recall.c finds the earlier call's node, and the new call needs no body.
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

static struct body *top_body(struct calls *c)
{
	return calls_top(c)->node;
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

/* Return the inlined call around the instruction that called the frame's function, or NULL. */
static const struct inlined *caller_of(const struct grown *g, const struct frame *f)
{
	const struct place *site = &f->site;

	/* If the call instruction is unknown, @site is the start of the called function. */
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

/* Starting at @begin, add @nr elements of the forest to a body. Expand each chunk into elements. */
static void add_again(struct grown *g, struct body *b, uint64_t begin, uint32_t nr)
{
	for (uint64_t i = begin; i < begin + nr; i++) {
		uint32_t elem = g->forest->elems[i];
		const struct node *n = is_node(elem) ? node_of(g->forest, elem) : NULL;

		if (n && n->type == NODE_CHUNK)
			add_again(g, b, n->begin, n->nr);
		else
			body_add(g->forest, b, elem);
	}
}

/*
 * Append the call @node to @around. But if filters hide all branches of the called function itself,
 * append only the calls inside @node. So bts does not report a hidden call as a difference.
 */
static void add_call(struct grown *g, struct body *around, const struct body *b, uint32_t node)
{
	const struct node *n = node_of(g->forest, node);

	if (g->filtered && !b->branches) {
		add_again(g, around, n->begin, n->nr);
		return;
	}
	body_add(g->forest, around, node);
	around->pending.node = node;
	around->pending.nodes++;
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
		add_call(g, around, b, node);
		if (fn->syscall && !c->closing)
			t->call = node;
	}
	/* If a stub contains a call, the stub called the dynamic linker to look up a function. */
	if (fn->stub && s->nr) {
		g->resolved++;
		recall_break(&t->recall);
	}
	put_body(g, b);
}

static void broken(struct calls *c)
{
	struct track *t = c->node;

	recall_break(&t->recall);
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .change = broken, .guess = broken,
};

static struct calls *new_calls(struct grown *g, struct task *t)
{
	struct calls *c = calls_of(&g->pipe, t, &ops, g);
	struct track *track;

	track = mem_zalloc(1, sizeof(*track));
	track->pid = t->pid;
	track->body = get_body(g);
	track->calls = c;
	g->tracks = mem_realloc(g->tracks, g->nr_tracks + 1, sizeof(*g->tracks));
	g->tracks[g->nr_tracks++] = track;
	c->node = track;
	return c;
}

static struct calls *calls_get(struct grown *g, struct task *t)
{
	return t->priv ? t->priv : new_calls(g, t);
}

/* An interrupt cuts a straight run into two parts. Store the part before the interrupt. */
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

static uint32_t whole_token(struct grown *g, struct step *s)
{
	if (!s->priv)
		s->priv = (void *)(uintptr_t)(forest_token(g->forest, s, &s->at_start,
							   s->insns) + 1);
	return (uintptr_t)s->priv - 1;
}

static uint32_t token_of_step(struct grown *g, struct track *t, struct step *s)
{
	bool joined = t->cut && t->resume == s->start;

	t->cut = false;
	if (!joined)
		return whole_token(g, s);
	recall_break(&t->recall);
	return forest_token(g->forest, s, &t->start, t->insns + s->insns);
}

/* Add the branch to the body of the innermost function. */
static void add_branch(struct grown *g, struct calls *c, struct step *s)
{
	struct body *b = c->now.depth ? top_body(c) : NULL;
	struct track *t = c->node;

	if (b && !b->silent && !b->hidden) {
		b->branches = true;
		body_add(g->forest, b, token_of_step(g, t, s));
	}
	if (g->remembers)
		recall_log(&t->recall, whole_token(g, s));
}

static bool is_noise(struct grown *g, struct calls *c, const struct step *s)
{
	struct track *t = c->node;

	if (!(s->flags & STEP_SHOWN))
		return true;
	if (!is_kernel(s->from | s->to))
		return false;
	if (g->forest->all || (g->forest->kernel ? s->kind != BRANCH_INTERRUPT : !noise_step(s)))
		return false;
	if (is_kernel(s->from) && !g->forest->kernel) {
		g->kernel++;
		return true;
	}
	g->interrupts++;
	/* A nested interrupt must not overwrite what cut_run() stored for the outer interrupt. */
	if (!c->now.depth || !top_body(c)->silent)
		cut_run(t, s);
	return true;
}

/* Follow a call. Note the call in its caller's body, so that take_return() can remember it. */
static void take_call(struct calls *c, struct step *s)
{
	struct track *t = c->node;
	uint32_t depth = c->now.depth;
	struct body *b;

	calls_step(c, s, 0);
	if (!s->priv || c->now.depth != depth + 1)
		return;
	b = c->now.frames[depth - 1].node;
	if (b->silent || b->hidden)
		return;
	b->pending = (struct pending) {
		.token = (uintptr_t)s->priv - 1, .begin = t->recall.nr_log,
		.ret = s->from + s->length,
	};
}

static void take_return(struct grown *g, struct calls *c, struct step *s)
{
	struct track *t = c->node;
	struct body *b;

	calls_step(c, s, 0);
	b = c->now.depth ? top_body(c) : NULL;
	if (!b)
		return;
	if (b->pending.token != NONE && b->pending.ret == s->to)
		recall_learn(g->forest, &t->recall, &b->pending);
	b->pending.token = NONE;
}

static bool can_recall(struct grown *g, struct calls *c, const struct step *s)
{
	const struct body *b = top_body(c);

	return g->remembers && s->priv && !b->silent && !b->hidden;
}

/* Process a branch that leaves the function in which the step's straight run began. */
static void leave_function(struct grown *g, struct calls *c, struct step *s)
{
	struct track *t = c->node;

	if (s->kind == BRANCH_CALL || s->kind == BRANCH_CALL_IND) {
		if (can_recall(g, c, s) && recall_begin(g->forest, &t->recall, s))
			g->recalling++;
		else
			take_call(c, s);
	} else if (s->kind == BRANCH_RET) {
		take_return(g, c, s);
	} else {
		calls_step(c, s, 0);
	}
}

static void take(struct grown *g, struct calls *c, struct step *s)
{
	bool noise = is_noise(g, c, s);
	struct track *t = c->node;

	g->step = s;
	if (noise)
		recall_break(&t->recall);
	/* Branches within the kernel do not change the program's stack. */
	if (noise && !g->forest->all && !g->forest->kernel && is_kernel(s->from) &&
	    is_kernel(s->to))
		return;
	if (calls_stays(c, s)) {
		if (!noise)
			add_branch(g, c, s);
	} else if (!c->now.depth || c->lost || calls_top(c)->sym != s->at_start.sym) {
		recall_break(&t->recall);
		calls_step(c, s, 0);
		if (!noise)
			add_branch(g, c, s);
	} else if (noise) {
		calls_step(c, s, 0);
	} else {
		add_branch(g, c, s);
		leave_function(g, c, s);
	}
}

static void feed(struct grown *g, struct calls *c, struct step *s);

/* Stop comparing the call with remembered calls (recall.c). Process its branches one by one. */
static void take_again(struct grown *g, struct calls *c)
{
	struct track *t = c->node;
	uint32_t nr = t->recall.nr;
	struct step *steps[RECALL_MAX];

	memcpy(steps, t->recall.steps, nr * sizeof(struct step *));
	recall_fail(&t->recall);
	g->recalling--;
	g->step = steps[0];
	take_call(c, steps[0]);
	for (uint32_t i = 1; i < nr; i++)
		feed(g, c, steps[i]);
}

/* The task has repeated the remembered call @call. Add the tree of @call to the caller's body. */
static void add_recalled(struct grown *g, struct calls *c, const struct recalled *call)
{
	struct body *b = top_body(c);

	g->recalling--;
	body_add(g->forest, b, call->node);
	b->pending.node = call->node;
	b->pending.nodes++;
	for (unsigned int i = 0; i < NOISE_KINDS; i++)
		g->noise[i] += call->noise[i];
}

static void feed(struct grown *g, struct calls *c, struct step *s)
{
	struct track *t = c->node;
	const struct recalled *done;

	if (t->recall.site && recall_step(g->forest, &t->recall, s, &done)) {
		if (done)
			add_recalled(g, c, done);
		return;
	}
	if (t->recall.site)
		take_again(g, c);
	if (t->recall.site)
		feed(g, c, s);
	else
		take(g, c, s);
}

static int branch(void *ctx, struct task *task, struct step *s, uint64_t ts)
{
	struct grown *g = ctx;
	struct calls *c = calls_get(g, task);
	struct track *t = c->node;

	(void)ts;
	t->branches++;
	feed(g, c, s);
	return 0;
}

/* Stop comparing the task's current call, and calls inside it, with remembered calls (recall.c). */
static void end_recall(struct grown *g, struct calls *c)
{
	struct track *t = c->node;

	while (t->recall.site)
		take_again(g, c);
	recall_break(&t->recall);
}

/* Stop comparing calls in all tasks, because the pipeline is about to free these calls' steps. */
static void fold(void *ctx, struct step *s)
{
	struct grown *g = ctx;

	(void)s;
	for (size_t i = 0; g->recalling && i < g->nr_tracks; i++)
		end_recall(g, g->tracks[i]->calls);
	g->step = NULL;
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
	end_recall(g, c);
	if (row->type == ROW_LOST || row->type == ROW_GAP) {
		t->lost++;
		/* The next event may belong to a system call whose beginning is lost. */
		t->call = 0;
	}
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
	end_recall(g, c);
	calls_free(task);
	t->tgid = task->tgid;
	memcpy(t->comm, task->comm, sizeof(t->comm));
	body_end(g->forest, t->body);
	t->node = forest_node(g->forest, NODE_TASK, 0, t->body->levels[0].now.elems,
			      t->body->levels[0].now.nr);
	put_body(g, t->body);
	t->body = NULL;
	recall_free(&t->recall);
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

	g->pipe.consumer = (struct consumer) {
		.ctx = g, .branch = branch, .row = row, .fold = fold,
	};
	if (!pipe_open(&g->pipe, g->path, options))
		return STATUS_FAILURE;
	g->open = true;
	/* Show inlined functions in printed paths, but do not add these functions to the trees. */
	g->forest->inlines = options->inlines;
	g->pipe.inlines = false;
	g->filtered = options->dso || options->from || options->to;
	g->remembers = !g->forest->all && !g->forest->kernel && !g->filtered;
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
