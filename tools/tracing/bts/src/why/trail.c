// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collect the conditions that a system call tested.
 *
 * The kernel loads the error number either after it tests a condition, or before the test:
 *
 *	if (flags & ~ALLOWED)			test; jne 1f ... 1: mov $-EINVAL, %eax
 *		return -EINVAL;
 *
 *	error = -EINVAL;			mov $-EINVAL, %eax; test; jne out
 *	if (flags & ~ALLOWED)
 *		goto out;
 *
 * The trace contains neither jumps that were not taken, nor loads of the error number. To find
 * them, decode the executed code.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/code.h"
#include "trail.h"

/* Process at most this many consecutive equal iterations of a loop. */
#define RUN_MAX		2
/* Ignore nodes that are nested deeper than this, because each level of recursion uses stack. */
#define DEPTH_MAX	100000
/* The initial size of the list of conditions. */
#define ROOM_MIN	256

struct run_walk {
	struct trail		*trail;
	uint32_t		activation;
	struct sym		*sym;
};

static bool ends_in_panic(struct object *o, uint64_t addr)
{
	enum insn_kind kind;
	uint64_t target;

	code_insn(o->code, addr, &kind, &target);
	return kind == INSN_CALL && !strcmp(object_sym(o, target)->name, "__stack_chk_fail");
}

/* Report whether @place is in @activation's function. Code may run on into the next function. */
static bool is_own(const struct trail *t, uint32_t activation, const struct place *place)
{
	const struct sym *own = t->forest->functions[t->activations[activation].function].sym;
	size_t size = strlen(own->name);

	/* Compare the names, because each trace has its own symbols. */
	if (strncmp(place->sym->name, own->name, size))
		return false;
	return !place->sym->name[size] || !strcmp(place->sym->name + size, ".cold");
}

static void add_condition(struct trail *t, uint32_t activation, const struct condition *c)
{
	struct activation *a = &t->activations[activation];

	if (!is_own(t, activation, &c->place))
		return;
	if (t->nr == t->room) {
		t->room *= 2;
		t->list = mem_realloc(t->list, t->room, sizeof(*t->list));
	}
	t->list[t->nr] = *c;
	t->list[t->nr].activation = activation;
	t->list[t->nr].index = a->conditions++;
	t->list[t->nr].before = a->loaded;
	a->last = ++t->nr;
}

static void add_load(struct trail *t, uint32_t activation, uint64_t addr)
{
	struct activation *a = &t->activations[activation];

	if (a->last)
		t->list[a->last - 1].load = addr;
	a->last = 0;
	a->loaded = true;
}

/* Add an untaken conditional jump, or an instruction that loads the error number, to the trail. */
static void one_insn(void *ctx, uint64_t addr, uint32_t length)
{
	struct run_walk *w = ctx;
	struct object *o = w->sym->object;
	struct condition c = { .place = { object_sym(o, addr), addr } };
	enum insn_kind kind;
	uint64_t target;

	code_insn(o->code, addr, &kind, &target);
	if (kind == INSN_COND && !ends_in_panic(o, target)) {
		c.to = (struct place) { object_sym(o, addr + length), addr + length };
		add_condition(w->trail, w->activation, &c);
	} else if (code_loads(o, addr, -w->trail->error)) {
		add_load(w->trail, w->activation, addr);
	}
}

static void add_token(struct trail *t, uint32_t activation, const struct token *token)
{
	struct run_walk w = { .trail = t, .activation = activation, .sym = token->start.sym };
	struct condition c = { .place = token->from, .to = token->to, .same = token->same };

	code_each(w.sym->object, token->start.addr, token->from.addr, one_insn, &w);
	if (token->kind == BRANCH_COND || token->kind == BRANCH_JUMP_IND)
		add_condition(t, activation, &c);
}

static uint32_t add_activation(struct trail *t, uint32_t parent, uint32_t function)
{
	/* Double the size of the list when the number of calls is a power of two. */
	if (!(t->nr_activations & (t->nr_activations - 1)))
		t->activations = mem_realloc(t->activations, 2 * t->nr_activations + 1,
					     sizeof(*t->activations));
	t->activations[t->nr_activations] = (struct activation) {
		.function = function, .parent = parent,
	};
	return t->nr_activations++;
}

static void add_elem(struct trail *t, uint32_t activation, uint32_t elem, uint32_t depth)
{
	const struct node *n;

	if (!is_node(elem)) {
		add_token(t, activation, token_of(t->forest, elem));
		return;
	}
	if (depth == DEPTH_MAX) {
		t->too_deep = true;
		return;
	}
	n = node_of(t->forest, elem);
	if (n->type == NODE_CALL)
		activation = add_activation(t, activation, n->key);
	if (n->type == NODE_RUN)
		for (uint64_t i = 0; i < n->begin && i < RUN_MAX; i++)
			add_elem(t, activation, n->key, depth + 1);
	else
		for (uint32_t i = 0; i < n->nr; i++)
			add_elem(t, activation, t->forest->elems[n->begin + i], depth + 1);
}

void trail_walk(struct trail *t, struct forest *f, const struct system_call *call, int error)
{
	*t = (struct trail) { .forest = f, .error = error, .room = ROOM_MIN };
	/* qsort() and bsearch() need a list that is not NULL, even if it is empty. */
	t->list = mem_alloc(t->room * sizeof(*t->list));
	add_elem(t, 0, call->node, 0);
}

unsigned int trail_weight(const struct trail *t, const struct condition *c)
{
	uint32_t after = t->activations[c->activation].conditions - 1 - c->index;
	unsigned int some = after < 5 ? after : 5;

	if (c->load)
		return after ? 70 - 5 * some : 100;
	if (c->before)
		return after ? 60 - 10 * some : 85;
	return after ? 0 : 20;
}

void trail_free(struct trail *t)
{
	free(t->activations);
	free(t->list);
}
