// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build the trees of bts tui. A task has several stacks if it uses coroutines. For each stack, a
 * tree lists the calls, and the rows between the calls (such as losses), sorted by time. The node
 * of a call contains the index of the first node after the call. So tree_after() can skip a folded
 * call in one step, and nodes need no lists of children.
 *
 * To limit the memory to 64 MiB, only the first million calls and rows of a trace are stored. The
 * user can select another part with --time and --task. However, the sums by function and by line
 * cover the whole trace.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "tui.h"

#define NODES_MAX (1U << 20)
/* First allocate only a few nodes for each task, because a trace may have thousands of tasks. */
#define NODES_MIN 16

static struct tree *tree_of(struct tui *t, const struct calls *c)
{
	struct tally_key key = { .a = c->task, .a_addr = c->now.id };
	struct tally_entry *e = tally_get(&t->by_stack, &key);

	if (!e->calls) {
		t->trees = mem_realloc(t->trees, t->nr_trees + 1, sizeof(*t->trees));
		t->trees[t->nr_trees++] = (struct tree) {
			.task = c->task, .stack = c->now.id,
		};
		e->calls = t->nr_trees;
	}
	return &t->trees[e->calls - 1];
}

/* Add a node inside @parent. Return NULL if there are too many nodes. */
static struct tree_node *add_node(struct tui *t, struct tree *tree, uint32_t parent)
{
	struct tree_node *n;

	if (t->nr_nodes >= NODES_MAX) {
		tree->full = true;
		return NULL;
	}
	t->nr_nodes++;
	if (tree->nr == tree->room) {
		tree->room = tree->room ? 2 * tree->room : NODES_MIN;
		tree->nodes = mem_realloc(tree->nodes, tree->room, sizeof(*n));
	}
	n = &tree->nodes[tree->nr++];
	*n = (struct tree_node) {
		.task = tree->task, .parent = parent, .next = tree->nr, .folded = true,
		.depth = parent == NODE_NONE ? 0 : tree->nodes[parent].depth + 1,
	};
	return n;
}

/*
 * The lower 32 bits of frame.node are the index of the frame's tree node plus 1, or 0 if the frame
 * has no tree node. The upper 32 bits of frame.node are the frame's state (see marks.h).
 */
static uint32_t node_of_frame(const struct frame *f)
{
	return (uint32_t)(uintptr_t)f->node - 1;
}

static uint32_t state_of(const struct calls *c, uint32_t depth)
{
	return depth ? (uintptr_t)c->now.frames[depth - 1].node >> 32 : 0;
}

static uint32_t parent_of(const struct calls *c, uint32_t depth)
{
	return depth ? node_of_frame(&c->now.frames[depth - 1]) : NODE_NONE;
}

static struct marker *marker_of(struct tui *t, struct calls *c)
{
	if (c->node)
		return c->node;
	t->markers = mem_realloc(t->markers, t->nr_markers + 1, sizeof(*t->markers));
	c->node = mem_alloc(sizeof(struct marker));
	*(struct marker *)c->node = marker_begin(t->marks, c->task->pid);
	t->markers[t->nr_markers++] = c->node;
	return c->node;
}

static void add_mark(struct tui *t, struct tree *tree, uint32_t parent, const struct mark *mark)
{
	for (unsigned int i = 0; i < MARK_ROWS && mark->rows[i]; i++) {
		struct tree_node *n = add_node(t, tree, parent);

		if (!n)
			return;
		n->text = mem_strdup(mark->rows[i]);
		n->difference = i ? 0 : mark->number;
		n->mark = true;
	}
}

/* If the two runs differ here, show the differences as children of c->now.frames[@depth - 1]. */
static void add_marks(struct tui *t, struct calls *c, uint32_t depth)
{
	struct marker *marker = marker_of(t, c);
	const struct mark *mark;

	while ((mark = marker_here(marker, state_of(c, depth)))) {
		add_mark(t, tree_of(t, c), parent_of(c, depth), mark);
		marker->next++;
	}
}

/* If the compared trees (see marks.c) contain @f, add 1 to marker.calls. Return @f's state. */
static uint64_t count_frame(struct tui *t, struct calls *c, const struct frame *f)
{
	uint32_t depth = c->now.depth - 1, state;
	bool counted;

	if (!t->marks)
		return 0;
	state = marker_enter(t->marks, f, state_of(c, depth), &counted);
	if (counted) {
		add_marks(t, c, depth);
		marker_of(t, c)->calls++;
	}
	return state;
}

/* Add a node for the innermost frame @f. */
static void open_node(struct calls *c, struct frame *f, uint64_t state)
{
	struct tui *t = c->ctx;
	struct tree *tree = tree_of(t, c);
	struct tree_node *n = add_node(t, tree, parent_of(c, c->now.depth - 1));

	f->node = (void *)(uintptr_t)(state << 32);
	if (!n)
		return;
	n->sym = f->sym;
	n->kind = f->kind;
	f->node = (void *)(uintptr_t)(state << 32 | tree->nr);
}

static void enter(struct calls *c, struct frame *f)
{
	open_node(c, f, count_frame(c->ctx, c, f));
}

static void close_node(struct calls *c, struct frame *f)
{
	struct tree *tree = tree_of(c->ctx, c);
	struct tree_node *n;

	if (node_of_frame(f) == NODE_NONE)
		return;
	n = &tree->nodes[node_of_frame(f)];
	n->insns = c->insns - f->insns_at;
	n->branches = c->branches - f->branches_at;
	n->next = tree->nr;
}

static void leave(struct calls *c, struct frame *f)
{
	struct tui *t = c->ctx;

	if (t->marks && marker_counts(state_of(c, c->now.depth)))
		add_marks(t, c, c->now.depth);
	close_node(c, f);
}

/* @f was moved to another stack (see calls_ops). Add a node there, but do not count @f twice. */
static void attach(struct calls *c, struct frame *f)
{
	struct tui *t = c->ctx;
	uint32_t state = 0;
	bool counted;

	if (t->marks)
		state = marker_enter(t->marks, f, state_of(c, c->now.depth - 1), &counted);
	open_node(c, f, state);
}

static void guessed(struct calls *c)
{
	struct tree_node *n;

	n = add_node(c->ctx, tree_of(c->ctx, c), parent_of(c, c->now.depth));
	if (n)
		n->text = mem_strdup("stack guessed");
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .detach = close_node, .attach = attach, .guess = guessed,
};

static void fold_calls(struct tui *t, const struct step *s)
{
	struct tally_key key = { .a = s->at_to.sym };
	uint64_t calls = step_calls(&t->pipe, s);

	if (calls)
		tally_get(&t->by_function, &key)->calls += calls;
}

static int branch(void *ctx, struct task *task, struct step *s, uint64_t ts)
{
	struct tui *t = ctx;

	if (s->flags & STEP_SHOWN)
		calls_step(calls_of(&t->pipe, task, &ops, t), s, ts);
	return 0;
}

static int row(void *ctx, struct task *task, const struct row *row)
{
	struct tui *t = ctx;
	struct tree_node *n;
	struct calls *c;
	struct step s;

	if (!task)
		return 0;
	if (pipe_signal(&t->pipe, task, row, &s))
		fold_calls(t, &s);
	c = calls_of(&t->pipe, task, &ops, t);
	if (row->type != ROW_MAP) {
		n = add_node(t, tree_of(t, c), parent_of(c, c->now.depth));
		if (n) {
			n->text = mem_strdup(row_text(&t->pipe, task, row));
			n->loss = row->type == ROW_LOST || row->type == ROW_GAP;
		}
	}
	calls_row(c, row);
	return 0;
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct tui *t = ctx;
	struct tally_key key = { .a = code_of(&t->pipe, sym, addr) };
	const char *file;
	unsigned int line;

	(void)length;
	tally_get(&t->by_function, &key)->insns += t->count;
	if (!object_line(sym->object, addr, &file, &line))
		return;
	key = (struct tally_key) { .a = sym, .a_addr = line, .b = file };
	tally_get(&t->lines, &key)->insns += t->count;
}

static void add_inlined(void *ctx, struct sym *inlined)
{
	struct tui *t = ctx;
	struct tally_key key = { .a = inlined };

	tally_get(&t->by_function, &key)->calls += t->count;
}

static void fold(void *ctx, struct step *s)
{
	struct tui *t = ctx;
	struct tally_key key = { .a = code_of(&t->pipe, s->at_from.sym, s->at_from.addr) };

	if (!s->count || !(s->flags & STEP_SHOWN))
		return;
	t->count = s->count;
	fold_calls(t, s);
	if (pipe_hides(&t->pipe, s->from))
		return;
	step_each(&t->pipe, s, one_insn, t);
	tally_get(&t->by_function, &key)->branches += step_branches(s);
	if (t->pipe.inlines)
		step_enter(&t->pipe, s, add_inlined, t);
}

static int by_insns(const void *left, const void *right)
{
	const struct tally_entry *a = left, *b = right;

	if (a->insns != b->insns)
		return a->insns < b->insns ? 1 : -1;
	return a->branches < b->branches ? 1 : a->branches > b->branches ? -1 : 0;
}

/* End the open frames. Then add the remaining differences between the two runs. */
static void end_marks(struct tui *t, struct calls *c)
{
	struct marker *marker = marker_of(t, c);

	calls_end(c);
	for (; marker->next < marker->end; marker->next++)
		add_mark(t, tree_of(t, c), NODE_NONE, marker->next);
}

int tui_read(struct tui *t, const char *path, const struct options *options)
{
	int status;

	t->pipe.consumer = (struct consumer) {
		.ctx = t, .branch = branch, .row = row, .fold = fold,
	};
	if (!pipe_open(&t->pipe, path, options))
		return STATUS_FAILURE;
	status = pipe_run(&t->pipe);
	for (struct task *task = t->pipe.tasks; task; task = task->list_next) {
		if (task->priv && t->marks)
			end_marks(t, task->priv);
		calls_free(task);
	}
	/* Unfold the outermost calls of each task, and fold all other calls. */
	for (size_t i = 0; i < t->nr_trees; i++)
		for (uint32_t n = 0; n < t->trees[i].nr; n++)
			t->trees[i].nodes[n].folded = t->trees[i].nodes[n].depth > 0;
	t->functions = tally_sorted(&t->by_function, by_insns);
	t->nr_functions = t->by_function.nr;
	return status;
}

void tui_free(struct tui *t)
{
	for (size_t i = 0; i < t->nr_trees; i++) {
		for (uint32_t n = 0; n < t->trees[i].nr; n++)
			free(t->trees[i].nodes[n].text);
		free(t->trees[i].nodes);
	}
	free(t->trees);
	free(t->functions);
	tally_free(&t->by_stack);
	for (size_t i = 0; i < t->nr_markers; i++)
		free(t->markers[i]);
	free(t->markers);
	tally_free(&t->by_function);
	tally_free(&t->lines);
}

uint32_t tree_after(const struct tree *tree, uint32_t node)
{
	uint32_t next = tree->nodes[node].folded ? tree->nodes[node].next : node + 1;

	return next < tree->nr ? next : NODE_NONE;
}

uint32_t tree_before(const struct tree *tree, uint32_t node)
{
	uint32_t before = node - 1;

	if (!node)
		return NODE_NONE;
	/* If the preceding node is inside folded calls, return the outermost of these calls. */
	for (uint32_t n = tree->nodes[before].parent; n != NODE_NONE; n = tree->nodes[n].parent)
		if (tree->nodes[n].folded)
			before = n;
	return before;
}

void tree_show(struct tree *tree, uint32_t node)
{
	for (uint32_t n = tree->nodes[node].parent; n != NODE_NONE; n = tree->nodes[n].parent)
		tree->nodes[n].folded = false;
}

uint32_t tree_search(const struct tree *tree, uint32_t from, const char *text)
{
	for (uint32_t i = 1; i <= tree->nr; i++) {
		uint32_t node = (from + i) % tree->nr;
		const struct tree_node *n = &tree->nodes[node];

		if (text ? n->sym && strstr(n->sym->name, text) : n->loss)
			return node;
	}
	return NODE_NONE;
}

uint32_t tree_difference(const struct tree *tree, uint32_t from, bool back)
{
	uint32_t node = from;

	/* NODE_NONE is UINT32_MAX. So if @from is NODE_NONE, the first ++node sets node to 0. */
	while (back ? node-- > 0 : ++node < tree->nr)
		if (tree->nodes[node].difference)
			return node;
	return NODE_NONE;
}
