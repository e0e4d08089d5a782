// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks: "task;main;fib;fib 1234", a line for each stack that instructions were
 * executed in. flamegraph.pl, speedscope and inferno draw flame graphs of it.
 *
 * The stacks are a tree; a frame of a task's stack points to its node, so that a call
 * costs a look at the children of one node. Functions of the kernel end in _[k], which
 * flamegraph.pl colours.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "dump.h"

struct node {
	struct sym	*sym;
	char		*comm;
	struct node	*parent;
	struct node	*child;
	struct node	*sibling;
	uint64_t	insns;
	uint64_t	branches;
};

struct folded {
	struct dump	*dump;
	struct node	root;
};

static struct node *add_child(struct node *parent)
{
	struct node *n = bts_zalloc(1, sizeof(*n));

	n->parent = parent;
	n->sibling = parent->child;
	parent->child = n;
	return n;
}

static struct node *node_of_task(struct folded *f, const struct bts_task *t)
{
	struct node *n;

	for (n = f->root.child; n; n = n->sibling)
		if (!strcmp(n->comm, t->comm))
			return n;
	n = add_child(&f->root);
	n->comm = bts_strdup(t->comm);
	return n;
}

static void enter(struct calls *c, struct frame *f)
{
	struct node *parent, **at, *n;

	parent = c->depth > 1 ? c->stack[c->depth - 2].node : node_of_task(c->ctx, c->task);
	for (at = &parent->child; (n = *at); at = &n->sibling)
		if (n->sym == f->sym)
			break;
	if (!n) {
		n = add_child(parent);
		n->sym = f->sym;
	} else if (n != parent->child) {
		/* What was called last is called next. */
		*at = n->sibling;
		n->sibling = parent->child;
		parent->child = n;
	}
	f->node = n;
}

static void leave(struct calls *c, struct frame *f)
{
	struct node *n = f->node;

	(void)c;
	n->insns += f->insns;
	n->branches += f->branches;
}

static const struct calls_ops ops = { .enter = enter, .leave = leave };

static int branch(void *ctx, struct bts_task *t, struct bts_step *s, uint64_t ts)
{
	struct folded *f = ctx;

	if (s->flags & BTS_STEP_SHOWN)
		calls_step(calls_of(&f->dump->pipe, t, &ops, f), s, ts);
	return 0;
}

static int row(void *ctx, struct bts_task *t, const struct bts_row *row)
{
	struct folded *f = ctx;

	if (t)
		calls_row(calls_of(&f->dump->pipe, t, &ops, f), row);
	return 0;
}

static int by_name(const void *left, const void *right)
{
	const struct node *a = *(const struct node *const *)left;
	const struct node *b = *(const struct node *const *)right;

	return strcmp(a->comm ? a->comm : a->sym->name, b->comm ? b->comm : b->sym->name);
}

/* A name must not have what separates names, or ends them. */
static size_t append(char **stack, size_t *room, size_t used, const struct node *n)
{
	const char *name = n->comm ? n->comm : n->sym->name;
	bool kernel = !n->comm && n->sym->object->kernel;
	size_t length = strlen(name);

	if (used + length + 8 > *room) {
		*room = 2 * (used + length + 8);
		*stack = bts_realloc(*stack, *room, 1);
	}
	if (used)
		(*stack)[used++] = ';';
	for (size_t i = 0; i < length; i++)
		(*stack)[used++] = name[i] == ';' || name[i] == '\n' ? ':' : name[i];
	if (kernel) {
		memcpy(*stack + used, "_[k]", 4);
		used += 4;
	}
	(*stack)[used] = 0;
	return used;
}

static size_t count_children(const struct node *n)
{
	size_t nr = 0;

	for (const struct node *c = n->child; c; c = c->sibling)
		nr++;
	return nr;
}

struct walk {
	struct node	**children;
	size_t		nr;
	size_t		next;
	size_t		used;
};

static void open_walk(struct walk *w, struct node *n, size_t used)
{
	size_t i = 0;

	w->nr = count_children(n);
	w->children = bts_alloc(w->nr * sizeof(*w->children));
	for (struct node *c = n->child; c; c = c->sibling)
		w->children[i++] = c;
	if (w->nr)
		qsort(w->children, w->nr, sizeof(*w->children), by_name);
	w->next = 0;
	w->used = used;
}

/* Not by recursion: a program may recurse a million times. */
static void print(struct folded *f)
{
	size_t depth = 1, walks_room = 64, room = 0;
	struct walk *walks = bts_alloc(walks_room * sizeof(*walks));
	char *stack = NULL;

	open_walk(&walks[0], &f->root, 0);
	while (depth) {
		struct walk *w = &walks[depth - 1];
		struct node *n;
		uint64_t count;
		size_t used;

		if (w->next == w->nr) {
			free(w->children);
			depth--;
			continue;
		}
		n = w->children[w->next++];
		used = append(&stack, &room, w->used, n);
		count = f->dump->by_branches ? n->branches : n->insns;
		if (count)
			fprintf(f->dump->out, "%s %llu\n", stack, (unsigned long long)count);
		if (depth == walks_room) {
			walks_room *= 2;
			walks = bts_realloc(walks, walks_room, sizeof(*walks));
		}
		open_walk(&walks[depth++], n, used);
	}
	free(walks);
	free(stack);
}

static void free_nodes(struct node *root)
{
	struct node *n = root->child, *next;

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

int dump_folded(struct dump *d)
{
	struct folded f = { .dump = d };
	int status;

	d->pipe.consumer = (struct bts_consumer) { .ctx = &f, .branch = branch, .row = row };
	status = bts_pipe_run(&d->pipe);
	for (struct bts_task *t = d->pipe.tasks; t; t = t->list_next)
		calls_free(t);
	print(&f);
	free_nodes(&f.root);
	return status;
}
