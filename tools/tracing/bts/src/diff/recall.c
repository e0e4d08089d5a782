// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remember calls, each with all its branches up to the return.
 *
 * Most calls take the same branches as an earlier call, so bts remembers calls. To recall a call
 * means to compare its branches with the remembered calls from the same call instruction. If the
 * new call takes all branches of a remembered call and then returns to its own caller, bts uses the
 * remembered call's tree again. Otherwise, grow.c processes each branch of the new call.
 *
 * For each call instruction, the remembered calls are stored as a tree of states. A state stands
 * for a branch, and its children stand for the branches that have followed this branch. Calls that
 * begin with the same branches share the states of these branches.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/roles.h"
#include "recall.h"

#define STATES_MAX	(1U << 20)
#define SITE_STATES_MAX	2048
/* The maximum number of children of a state. */
#define CHILDREN_MAX	8
/* If most of TRIES calls match no remembered call, skip the comparison for the next REST calls. */
#define TRIES		64
#define REST		4096

/**
 * struct state - a node in the tree of states; each node stands for a branch
 * @child:	the first child, or 0
 * @sibling:	the next child of the same parent, or 0
 * @result:	if the branch ends a remembered call, 1 + index of the call's result; otherwise 0
 */
struct state {
	uint32_t	token;
	uint32_t	child;
	uint32_t	sibling;
	uint32_t	result;
};

/**
 * struct site - a call instruction
 * @root:	the state before the first branch
 * @states:	number of states below @root in this call instruction's tree of states
 * @rest:	how many of the next calls will not be compared
 */
struct site {
	uint32_t	root;
	uint32_t	states;
	uint32_t	tries;
	uint32_t	failures;
	uint32_t	rest;
};

struct memory {
	struct state	*states;
	uint32_t	nr_states;
	size_t		states_room;
	struct site	*sites;
	uint32_t	nr_sites;
	size_t		sites_room;
	struct recalled	*results;
	uint32_t	nr_results;
	size_t		results_room;
};

static void *more(void *list, size_t *room, uint32_t nr, size_t size)
{
	if (nr < *room)
		return list;
	*room = 2 * *room + 256;
	return mem_realloc(list, *room, size);
}

static uint32_t new_state(struct memory *m, uint32_t token)
{
	m->states = more(m->states, &m->states_room, m->nr_states, sizeof(*m->states));
	m->states[m->nr_states] = (struct state) { .token = token };
	return m->nr_states++;
}

static struct memory *memory_of(struct forest *f)
{
	if (!f->memory) {
		f->memory = mem_zalloc(1, sizeof(*f->memory));
		/* Reserve state 0, because 0 means "no state". */
		new_state(f->memory, NONE);
	}
	return f->memory;
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	free(m->states);
	free(m->sites);
	free(m->results);
	free(m);
}

static struct site *site_of(struct forest *f, uint32_t token)
{
	struct memory *m = memory_of(f);
	struct token *t = token_of(f, token);

	if (!t->site) {
		m->sites = more(m->sites, &m->sites_room, m->nr_sites, sizeof(*m->sites));
		m->sites[m->nr_sites++] = (struct site) { .root = new_state(m, token) };
		t->site = m->nr_sites;
	}
	return &m->sites[t->site - 1];
}

static uint32_t find_child(const struct memory *m, uint32_t state, uint32_t token)
{
	uint32_t i = m->states[state].child;

	while (i && m->states[i].token != token)
		i = m->states[i].sibling;
	return i;
}

/* Add a state. Return 0 if there are too many states. */
static uint32_t add_child(struct memory *m, struct site *site, uint32_t state, uint32_t token)
{
	unsigned int nr = 0;
	uint32_t i;

	for (i = m->states[state].child; i; i = m->states[i].sibling)
		nr++;
	if (nr >= CHILDREN_MAX || site->states >= SITE_STATES_MAX || m->nr_states >= STATES_MAX)
		return 0;
	site->states++;
	i = new_state(m, token);
	m->states[i].sibling = m->states[state].child;
	m->states[state].child = i;
	return i;
}

/*
 * Report whether a call that takes this branch may affect frames outside of the call. Such
 * branches are calls to setjmp(), stack switches, and jumps into the middle of another function.
 */
static bool is_odd(const struct token *t)
{
	enum sym_role role = sym_role(t->to.sym);

	if (role == ROLE_SETJMP || role == ROLE_SWITCH)
		return true;
	return t->kind == BRANCH_JUMP_IND && t->to.sym != t->from.sym &&
	       t->to.addr != t->to.sym->addr;
}

static void count_noise(const struct forest *f, uint32_t elem, uint32_t times, uint32_t *noise)
{
	const struct node *n;

	if (!is_node(elem))
		return;
	n = node_of(f, elem);
	if (n->type == NODE_CALL)
		noise[f->functions[n->key].noise] += times;
	if (n->type == NODE_RUN)
		count_noise(f, n->key, times * n->begin, noise);
	else
		for (uint32_t i = 0; i < n->nr; i++)
			count_noise(f, f->elems[n->begin + i], times, noise);
}

static uint32_t new_result(struct forest *f, uint32_t node)
{
	struct memory *m = f->memory;
	struct recalled *result;

	m->results = more(m->results, &m->results_room, m->nr_results, sizeof(*m->results));
	result = &m->results[m->nr_results++];
	*result = (struct recalled) { .node = node };
	count_noise(f, node, 1, result->noise);
	return m->nr_results;
}

void recall_learn(struct forest *f, struct recall *r, const struct pending *p)
{
	uint64_t nr = r->nr_log - p->begin;
	struct site *site;
	uint32_t state;

	if (p->nodes != 1 || p->begin < r->broken || p->begin < r->base || nr > RECALL_MAX ||
	    is_odd(token_of(f, p->token)))
		return;
	site = site_of(f, p->token);
	if (site->rest)
		return;
	state = site->root;
	for (uint64_t i = p->begin - r->base; i < r->nr_log - r->base; i++) {
		uint32_t next = find_child(f->memory, state, r->log[i]);

		if (!next && is_odd(token_of(f, r->log[i])))
			return;
		if (!next)
			next = add_child(f->memory, site, state, r->log[i]);
		if (!next)
			return;
		state = next;
	}
	if (!f->memory->states[state].result)
		f->memory->states[state].result = new_result(f, p->node);
}

void recall_more_log(struct recall *r)
{
	if (r->log_room == RECALL_LOG) {
		r->base = r->nr_log;
		return;
	}
	r->log_room = r->log_room ? 2 * r->log_room : 64;
	r->log = mem_realloc(r->log, r->log_room, sizeof(*r->log));
}

static void add_step(struct recall *r, struct step *s)
{
	if (r->nr == r->steps_room) {
		r->steps_room = r->steps_room ? 2 * r->steps_room : 16;
		r->steps = mem_realloc(r->steps, r->steps_room, sizeof(*r->steps));
	}
	r->steps[r->nr++] = s;
}

bool recall_begin(struct forest *f, struct recall *r, struct step *call)
{
	uint32_t nr = token_of(f, (uintptr_t)call->priv - 1)->site;
	struct site *site;

	if (!nr)
		return false;
	site = &f->memory->sites[nr - 1];
	if (site->rest) {
		site->rest--;
		return false;
	}
	if (++site->tries == TRIES) {
		site->rest = site->failures > TRIES / 2 ? REST : 0;
		site->tries = 0;
		site->failures = 0;
	}
	r->site = nr;
	r->state = site->root;
	r->ret = call->from + call->length;
	r->begin = r->nr_log;
	r->nr = 0;
	add_step(r, call);
	return true;
}

bool recall_step(struct forest *f, struct recall *r, struct step *s,
		 const struct recalled **done)
{
	struct memory *m = f->memory;
	uint32_t state = s->priv ? find_child(m, r->state, (uintptr_t)s->priv - 1) : 0;

	*done = NULL;
	if (!state || (m->states[state].result && s->to != r->ret)) {
		m->sites[r->site - 1].failures++;
		return false;
	}
	recall_log(r, (uintptr_t)s->priv - 1);
	if (m->states[state].result) {
		*done = &m->results[m->states[state].result - 1];
		r->site = 0;
		return true;
	}
	r->state = state;
	add_step(r, s);
	return true;
}

void recall_fail(struct recall *r)
{
	r->site = 0;
	r->nr_log = r->begin;
	/* If the log was emptied during the call, r->base is too large, so lower r->base. */
	if (r->base > r->begin)
		r->base = r->begin;
}

void recall_free(struct recall *r)
{
	free(r->log);
	free(r->steps);
	*r = (struct recall) {};
}
