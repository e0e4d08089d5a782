// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build call trees in which equal subtrees are stored once (hash-consing).
 *
 * Shared subtrees save memory, and allow a comparison of two runs to skip equal nodes. Two subtrees
 * are equal if they begin at the same instruction and take the same branches. Therefore, equal
 * subtrees execute the same instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/inlines.h"
#include "noise.h"
#include "tree.h"

#define SLOTS_MIN	4096

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

static void *grown(void *list, size_t *room, size_t wanted, size_t size)
{
	if (wanted <= *room)
		return list;
	*room = *room + *room / 2 + wanted + 1024;
	return mem_realloc(list, *room, size);
}

/* Return the object's number (1, 2 ...), which is the same for equal names in all runs. */
static uint32_t object_number(struct forest *f, struct object *o)
{
	uint32_t i = 0;

	if (o->priv)
		return (uintptr_t)o->priv;
	while (i < f->nr_objects && strcmp(f->objects[i], o->name))
		i++;
	if (i == f->nr_objects) {
		f->objects = mem_realloc(f->objects, i + 1, sizeof(*f->objects));
		f->objects[f->nr_objects++] = mem_strdup(o->name);
	}
	o->priv = (void *)(uintptr_t)(i + 1);
	return i + 1;
}

/* Return a unique number for two addresses: @from_addr in object @from, @to_addr in object @to. */
static uint32_t place_number(struct forest *f, uint32_t from, uint64_t from_addr, uint32_t to,
			     uint64_t to_addr)
{
	struct tally_key key = {
		.a = (void *)(uintptr_t)from, .a_addr = from_addr,
		.b = (void *)(uintptr_t)to, .b_addr = to_addr,
	};
	struct tally_entry *e = tally_get(&f->places, &key);

	if (!e->kind)
		e->kind = ++f->nr_places;
	return e->kind;
}

uint32_t forest_place(struct forest *f, uint32_t object, uint64_t addr)
{
	return place_number(f, object, addr, object, UINT64_MAX);
}

/* Report whether s->to matters when branches are compared. */
static bool has_target(const struct step *s)
{
	if (s->kind == BRANCH_RET || s->kind == BRANCH_IRET)
		return false;
	return is_kernel(s->from) == is_kernel(s->to);
}

static uint32_t target_number(struct forest *f, const struct token *t)
{
	return place_number(f, t->objects[2], UINT64_MAX, t->objects[2], t->to.addr);
}

static void note_entry(struct forest *f, uint32_t number)
{
	uint32_t nr = f->nr_entries;

	if (number >= nr) {
		f->nr_entries = 2 * number;
		f->entries = mem_realloc(f->entries, f->nr_entries, sizeof(*f->entries));
		memset(f->entries + nr, 0, f->nr_entries - nr);
	}
	f->entries[number] = true;
}

/* Assign a number to the target of a jump within a function, because a loop may begin there. */
static void set_loop(struct forest *f, struct token *t, const struct step *s)
{
	if ((s->kind != BRANCH_COND && s->kind != BRANCH_JUMP) || s->at_to.sym != s->at_from.sym)
		return;
	if (s->to <= s->from) {
		t->header = target_number(f, t);
	} else if (s->kind == BRANCH_JUMP) {
		t->entry = target_number(f, t);
		note_entry(f, t->entry);
	}
}

static void set_token(struct forest *f, struct token *t, const struct step *s)
{
	t->from = s->at_from;
	t->to = s->at_to;
	t->from_addr = s->from;
	t->to_addr = s->to;
	t->objects[1] = object_number(f, s->at_from.sym->object);
	t->objects[2] = object_number(f, s->at_to.sym->object);
	t->kind = s->kind;
	t->same = place_number(f, t->objects[1], t->from.addr, has_target(s) ? t->objects[2] : 0,
			       has_target(s) ? t->to.addr : 0);
	set_loop(f, t, s);
}

uint32_t forest_token(struct forest *f, const struct step *s, const struct place *start,
		      uint32_t insns)
{
	struct token t = { .start = *start, .insns = insns };
	struct tally_key key;
	struct tally_entry *e;

	set_token(f, &t, s);
	t.objects[0] = object_number(f, start->sym->object);
	key = (struct tally_key) {
		.a = (void *)(uintptr_t)t.same, .a_addr = s->kind,
		.b = (void *)(uintptr_t)t.objects[0], .b_addr = start->addr,
	};
	e = tally_get(&f->steps, &key);
	if (e->self)
		return (uintptr_t)e->self - 1;
	f->tokens = grown(f->tokens, &f->tokens_room, f->nr_tokens + 1, sizeof(*f->tokens));
	f->tokens[f->nr_tokens] = t;
	e->self = (void *)(uintptr_t)(f->nr_tokens + 1);
	return f->nr_tokens++;
}

static uint32_t add_function(struct forest *f, const struct function *function)
{
	f->functions = mem_realloc(f->functions, f->nr_functions + 1, sizeof(*f->functions));
	f->functions[f->nr_functions] = *function;
	noise_classify(&f->functions[f->nr_functions], f->all);
	return f->nr_functions++;
}

uint32_t forest_function(struct forest *f, struct sym *sym, uint64_t addr,
			 const struct inlined *within)
{
	bool whole = sym == &sym->object->whole;
	struct function new = { .sym = sym, .addr = whole ? addr : sym->addr, .within = within };
	struct tally_key key = { .a_addr = new.addr };
	struct tally_entry *e;

	if (!whole && !within && sym->priv)
		return (uintptr_t)sym->priv - 1;
	key.a = (void *)(uintptr_t)object_number(f, sym->object);
	new.base = within ? forest_function(f, sym, addr, NULL) : f->nr_functions;
	if (within) {
		key.b = (void *)(uintptr_t)object_number(f, within->sym->object);
		key.b_addr = within->number;
	}
	e = tally_get(&f->names, &key);
	if (!e->kind)
		e->kind = add_function(f, &new) + 1;
	if (!whole && !within)
		sym->priv = (void *)(uintptr_t)e->kind;
	return e->kind - 1;
}

void elem_sums(const struct forest *f, uint32_t elem, uint64_t *insns, uint64_t *branches)
{
	if (is_node(elem)) {
		*insns += node_of(f, elem)->insns;
		*branches += node_of(f, elem)->branches;
	} else {
		*insns += token_of(f, elem)->insns;
		*branches += 1;
	}
}

static uint32_t add_calls(uint32_t calls, uint64_t more)
{
	return more > UINT32_MAX - calls ? UINT32_MAX : calls + more;
}

static void set_calls(const struct forest *f, struct node *n, const uint32_t *elems)
{
	n->calls = n->type == NODE_CALL && is_counted(f, n->key);
	for (uint32_t i = 0; i < n->nr; i++)
		if (is_node(elems[i]))
			n->calls = add_calls(n->calls, node_of(f, elems[i])->calls);
}

static bool equal_node(const struct forest *f, const struct node *n, const struct node *m,
		       const uint32_t *elems)
{
	if (n->hash != m->hash || n->type != m->type || n->key != m->key || n->nr != m->nr)
		return false;
	if (n->type == NODE_RUN)
		return n->begin == m->begin;
	if (same_elems(f->elems + n->begin, elems, n->nr))
		return true;
	for (uint32_t i = 0; i < n->nr; i++) {
		uint32_t elem = f->elems[n->begin + i];

		if (elem != elems[i] && (!i || elem_key(f, elem) != elem_key(f, elems[i])))
			return false;
	}
	return true;
}

static void more_slots(struct forest *f)
{
	size_t nr = f->nr_slots ? 2 * f->nr_slots : SLOTS_MIN;

	free(f->slots);
	f->slots = mem_zalloc(nr, sizeof(*f->slots));
	f->nr_slots = nr;
	for (size_t i = 0; i < f->nr_nodes; i++) {
		size_t at = f->nodes[i].hash & (nr - 1);

		while (f->slots[at])
			at = (at + 1) & (nr - 1);
		f->slots[at] = i + 1;
	}
}

static uint32_t add_node(struct forest *f, struct node *n, const uint32_t *elems)
{
	size_t at;

	if (3 * f->nr_nodes >= 2 * f->nr_slots)
		more_slots(f);
	at = n->hash & (f->nr_slots - 1);
	for (; f->slots[at]; at = (at + 1) & (f->nr_slots - 1))
		if (equal_node(f, &f->nodes[f->slots[at] - 1], n, elems))
			return (f->slots[at] - 1) | NODE_BIT;
	f->nodes = grown(f->nodes, &f->nodes_room, f->nr_nodes + 1, sizeof(*f->nodes));
	if (n->type != NODE_RUN) {
		f->elems = grown(f->elems, &f->elems_room, f->nr_elems + n->nr,
				 sizeof(*f->elems));
		n->begin = f->nr_elems;
		if (n->nr)
			memcpy(f->elems + n->begin, elems, n->nr * sizeof(*elems));
		f->nr_elems += n->nr;
		for (uint32_t i = 0; i < n->nr; i++)
			elem_sums(f, elems[i], &n->insns, &n->branches);
		set_calls(f, n, elems);
	}
	f->nodes[f->nr_nodes] = *n;
	f->slots[at] = f->nr_nodes + 1;
	return f->nr_nodes++ | NODE_BIT;
}

static uint32_t *recent_slot(struct forest *f, const struct node *n, const uint32_t *elems)
{
	uint64_t h = n->key * 0xc2b2ae3d27d4eb4fULL + n->nr;

	if (n->nr)
		h += elems[0] * 0x9e3779b97f4a7c15ULL +
		     elems[n->nr / 2] * 0xbf58476d1ce4e5b9ULL +
		     elems[n->nr - 1] * 0x94d049bb133111ebULL;
	return &f->recent[(h >> 40) & (RECENT_NR - 1)];
}

static bool is_recent(const struct forest *f, uint32_t elem, const struct node *n,
		      const uint32_t *elems)
{
	const struct node *m = elem ? node_of(f, elem) : NULL;

	return m && m->type == n->type && m->key == n->key && m->nr == n->nr &&
	       same_elems(f->elems + m->begin, elems, n->nr);
}

uint32_t forest_node(struct forest *f, enum node_type type, uint32_t key,
		     const uint32_t *elems, uint32_t nr)
{
	struct node n = { .type = type, .key = key, .nr = nr };
	uint32_t *recent = recent_slot(f, &n, elems);
	uint64_t h = mix(mix(type + 1, key), nr);

	if (is_recent(f, *recent, &n, elems))
		return *recent;
	for (uint32_t i = 0; i < nr; i++)
		h = mix(h, i ? elem_key(f, elems[i]) : elems[i]);
	n.hash = h;
	*recent = add_node(f, &n, elems);
	return *recent;
}

uint32_t forest_run(struct forest *f, uint32_t iter, uint64_t count)
{
	struct node n = { .type = NODE_RUN, .key = iter, .begin = count };

	n.hash = mix(mix(NODE_RUN + 1, iter), count);
	n.insns = count * node_of(f, iter)->insns;
	n.branches = count * node_of(f, iter)->branches;
	n.calls = add_calls(0, count * node_of(f, iter)->calls);
	return add_node(f, &n, NULL);
}

void forest_free(struct forest *f)
{
	for (uint32_t i = 0; i < f->nr_objects; i++)
		free(f->objects[i]);
	free(f->objects);
	free(f->tokens);
	free(f->nodes);
	free(f->elems);
	free(f->slots);
	free(f->entries);
	free(f->functions);
	tally_free(&f->places);
	tally_free(&f->steps);
	tally_free(&f->names);
	memory_free(f->memory);
}
