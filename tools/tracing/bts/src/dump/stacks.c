// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build a tree of the stacks of all tasks.
 *
 * Each frame of a task's stack points to a node, so enter() searches only the children of the
 * caller's node. The functions here are not recursive, because a traced program may recurse a
 * million times.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/calls.h"
#include "lib/mem.h"
#include "stacks.h"

struct stacks {
	struct dump		*dump;
	struct stacks_node	*root;
};

static struct stacks_node *add_child(struct stacks_node *parent)
{
	struct stacks_node *n = mem_zalloc(1, sizeof(*n));

	n->parent = parent;
	n->sibling = parent->child;
	parent->child = n;
	return n;
}

static struct stacks_node *node_of_task(struct stacks *f, const struct task *t)
{
	struct stacks_node *n;

	for (n = f->root->child; n; n = n->sibling)
		if (!strcmp(n->comm, t->comm))
			return n;
	n = add_child(f->root);
	n->comm = mem_strdup(t->comm);
	return n;
}

static void enter(struct calls *c, struct frame *f)
{
	struct stacks_node *parent, **at, *n;

	parent = c->now.depth > 1 ? c->now.frames[c->now.depth - 2].node :
				    node_of_task(c->ctx, c->task);
	for (at = &parent->child; (n = *at); at = &n->sibling)
		if (n->sym == f->sym)
			break;
	if (!n) {
		n = add_child(parent);
		n->sym = f->sym;
	} else if (n != parent->child) {
		/* Move the callee to the front, because it is likely to be called again. */
		*at = n->sibling;
		n->sibling = parent->child;
		parent->child = n;
	}
	f->node = n;
}

static void leave(struct calls *c, struct frame *f)
{
	struct stacks_node *n = f->node;

	(void)c;
	n->insns += f->insns;
	n->branches += f->branches;
}

/* Before a frame moves to another stack, add the frame's counts to the node on the old stack. */
static void detach(struct calls *c, struct frame *f)
{
	leave(c, f);
	f->insns = 0;
	f->branches = 0;
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .detach = detach, .attach = enter,
};

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct stacks *f = ctx;

	if (s->flags & STEP_SHOWN)
		calls_step(calls_of(&f->dump->pipe, t, &ops, f), s, ts);
	return 0;
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct stacks *f = ctx;

	if (t)
		calls_row(calls_of(&f->dump->pipe, t, &ops, f), row);
	return 0;
}

static int by_name(const void *left, const void *right)
{
	const struct stacks_node *a = *(const struct stacks_node *const *)left;
	const struct stacks_node *b = *(const struct stacks_node *const *)right;

	return strcmp(a->comm ? a->comm : a->sym->name, b->comm ? b->comm : b->sym->name);
}

uint64_t stacks_count(const struct dump *d, const struct stacks_node *n)
{
	return d->by_branches ? n->branches : n->insns;
}

struct stacks_node **stacks_children(const struct stacks_node *n, size_t *nr)
{
	struct stacks_node **children;
	size_t i = 0;

	*nr = 0;
	for (const struct stacks_node *c = n->child; c; c = c->sibling)
		++*nr;
	children = *nr ? mem_alloc(*nr * sizeof(*children)) : NULL;
	for (struct stacks_node *c = n->child; c; c = c->sibling)
		children[i++] = c;
	if (*nr)
		qsort(children, *nr, sizeof(*children), by_name);
	return children;
}

static struct stacks_node *first_leaf(struct stacks_node *n)
{
	while (n->child)
		n = n->child;
	return n;
}

/* Compute the totals of all nodes. A node's total is complete when all its children are added. */
static void sum(const struct dump *d, struct stacks_node *root)
{
	struct stacks_node *n = first_leaf(root);

	for (;;) {
		n->total += stacks_count(d, n);
		if (!n->parent)
			return;
		n->parent->total += n->total;
		n = n->sibling ? first_leaf(n->sibling) : n->parent;
	}
}

int stacks_read(struct dump *d, struct stacks_node *root)
{
	struct stacks f = { .dump = d, .root = root };
	int status;

	*root = (struct stacks_node) {};
	d->pipe.consumer = (struct consumer) { .ctx = &f, .branch = branch, .row = row };
	status = pipe_run(&d->pipe);
	for (struct task *t = d->pipe.tasks; t; t = t->list_next)
		calls_free(t);
	sum(d, root);
	return status;
}

void stacks_free(struct stacks_node *root)
{
	struct stacks_node *n = root->child, *next;

	while (n) {
		if (n->child) {
			next = n->child;
			n->child = NULL;
			n = next;
			continue;
		}
		next = n->sibling ? n->sibling : n->parent != root ? n->parent : NULL;
		free(n->comm);
		free(n);
		n = next;
	}
}
