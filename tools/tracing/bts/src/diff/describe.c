// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describe the place of a difference, what each run executed there, and where the runs meet again.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "describe.h"

#define CALLS_MAX	6
/* The maximum number of nodes to search when computing the depth of a recursion. */
#define NEST_MAX	1000000

void path_push(struct find *s, uint32_t function)
{
	if (s->nr_path == s->path_room) {
		s->path_room = 2 * s->path_room + 64;
		s->path = mem_realloc(s->path, s->path_room, sizeof(*s->path));
	}
	s->path[s->nr_path++] = function;
}

void function_text(char *buffer, size_t size, const struct function *fn)
{
	struct place place = { .sym = fn->sym, .addr = fn->addr };

	if (fn->sym != &fn->sym->object->whole)
		snprintf(buffer, size, "%s", fn->sym->name);
	else
		place_text(buffer, size, &place, fn->addr);
}

static struct rest rest_of(const struct range *r, unsigned int side)
{
	return (struct rest) { r->items[side], r->nr[side], r->after[side] };
}

uint64_t range_parts(const struct forest *f, const struct range *r, uint32_t tokens[2])
{
	struct cursor c[2];
	uint64_t same;

	for (unsigned int side = 0; side < 2; side++) {
		struct rest rest = rest_of(r, side);

		cursor_init(&c[side], f, &rest);
	}
	cursors_part(&c[0], &c[1], &tokens[0], &tokens[1], &same);
	cursor_free(&c[0]);
	cursor_free(&c[1]);
	return same;
}

bool range_meets(const struct forest *f, const struct range *r, uint32_t tokens[2])
{
	for (unsigned int side = 0; side < 2; side++) {
		struct rest rest = { .up = r->after[side] };
		struct cursor c;

		cursor_init(&c, f, &rest);
		tokens[side] = cursor_next(&c);
		cursor_free(&c);
	}
	return tokens[0] != NONE && tokens[1] != NONE &&
	       elem_key(f, tokens[0]) == elem_key(f, tokens[1]);
}

/* Set d->place. Return the run (0 or 1) that branched first, or 2 if both branched at d->place. */
static unsigned int set_place(struct find *s, struct difference *d)
{
	const struct token *t[2] = {};
	unsigned int side;

	for (side = 0; side < 2; side++)
		if (d->side[side].token != NONE)
			t[side] = token_of(s->f, d->side[side].token);
	/* No branch follows in either run, because the filters hide the rest of both runs. */
	if (!t[0] && !t[1])
		return 0;
	if (t[0] && t[1])
		side = t[1]->from.addr < t[0]->from.addr;
	else
		side = !t[0];
	d->place = t[side]->from;
	d->place_addr = t[side]->from_addr;
	if (t[0] && t[1] && t[0]->objects[1] == t[1]->objects[1] &&
	    t[0]->from.addr == t[1]->from.addr)
		return 2;
	/* If the runs continue at different places, set d->place to where run A continues. */
	if (t[0] && t[1] && (t[0]->objects[0] != t[1]->objects[0] ||
			     t[0]->start.addr != t[1]->start.addr)) {
		d->place = t[0]->start;
		d->place_addr = t[0]->from_addr - t[0]->from.addr + t[0]->start.addr;
	}
	return side;
}

static void add_sums(struct find *s, const struct range *r, struct difference *d)
{
	for (unsigned int side = 0; side < 2; side++) {
		for (size_t i = 0; i < r->nr[side]; i++) {
			uint64_t insns = 0, branches = 0;

			elem_sums(s->f, r->items[side][i].elem, &insns, &branches);
			d->side[side].insns += insns * r->items[side][i].count;
			d->side[side].branches += branches * r->items[side][i].count;
		}
	}
}

/* Count only the instructions from the branch that differs until the runs meet again. */
static void trim_sums(struct find *s, struct difference *d, unsigned int parted,
		      const uint32_t meets[2])
{
	const struct token *m[2] = { token_of(s->f, meets[0]), token_of(s->f, meets[1]) };
	const struct token *last = m[m[1]->start.addr > m[0]->start.addr];

	if (d->side[0].token == NONE || d->side[1].token == NONE)
		return;
	for (unsigned int side = 0; side < 2; side++) {
		struct side *x = &d->side[side];
		const struct token *first = token_of(s->f, parted == 2 ? x->token :
							   d->side[parted].token);
		uint64_t all = x->insns + m[side]->insns, less = first->insns + last->insns;

		x->insns = all > less ? all - less : 0;
	}
}

static void set_meet(struct find *s, const struct range *r, struct difference *d,
		     unsigned int parted, uint64_t same)
{
	uint32_t tokens[2];
	const struct token *a, *b;

	d->meets = range_meets(s->f, r, tokens);
	if (!d->meets)
		return;
	a = token_of(s->f, tokens[0]);
	b = token_of(s->f, tokens[1]);
	d->meet = b->objects[0] == a->objects[0] && b->start.addr > a->start.addr ? b->start :
										    a->start;
	if (!same)
		trim_sums(s, d, parted, tokens);
}

struct list_of_calls {
	struct called	list[CALLS_MAX];
	size_t		nr;
	bool		more;
};

static void list_call(struct list_of_calls *calls, uint32_t function, uint64_t times)
{
	for (size_t i = 0; i < calls->nr; i++) {
		if (calls->list[i].function == function) {
			calls->list[i].times += times;
			return;
		}
	}
	calls->more |= calls->nr == CALLS_MAX;
	if (calls->nr < CALLS_MAX)
		calls->list[calls->nr++] = (struct called) { function, times };
}

static void list_calls(const struct forest *f, struct list_of_calls *calls, uint32_t elem,
		       uint64_t times)
{
	const struct node *n;

	if (!is_node(elem))
		return;
	n = node_of(f, elem);
	if (n->type == NODE_CALL)
		list_call(calls, f->functions[n->key].base, times);
	else if (n->type == NODE_RUN)
		list_calls(f, calls, n->key, times * n->begin);
	else
		for (uint32_t i = 0; i < n->nr; i++)
			list_calls(f, calls, f->elems[n->begin + i], times);
}

static char *calls_text(struct find *s, const struct range *r, unsigned int side)
{
	struct list_of_calls calls = {};
	char name[1024], *text = NULL;
	size_t size;
	FILE *out;

	for (size_t i = 0; i < r->nr[side]; i++)
		list_calls(s->f, &calls, r->items[side][i].elem, r->items[side][i].count);
	out = calls.nr ? open_memstream(&text, &size) : NULL;
	if (!out)
		return NULL;
	for (size_t i = 0; i < calls.nr; i++) {
		function_text(name, sizeof(name),
			      &s->f->functions[calls.list[i].function]);
		fprintf(out, "%s%s", i ? ", " : "", name);
		if (calls.list[i].times > 1)
			fprintf(out, " x %llu", (unsigned long long)calls.list[i].times);
	}
	fputs(calls.more ? ", ..." : "", out);
	fclose(out);
	return text;
}

static uint64_t iterations(const struct forest *f, uint32_t elem)
{
	const struct node *n = node_of(f, elem);
	uint64_t nr = 0;

	if (n->type == NODE_ITER)
		return 1;
	if (n->type == NODE_RUN)
		return n->begin;
	for (uint32_t i = 0; i < n->nr; i++)
		nr += iterations(f, f->elems[n->begin + i]);
	return nr;
}

/*
 * The loop's node lacks the first and the last iteration (see loops.c), so add 2. If a forward jump
 * enters the loop at its condition, the last iteration does not execute the body, so add only 1.
 */
uint64_t loop_times(const struct forest *f, uint32_t elem)
{
	return iterations(f, elem) + 2 - is_entered(f, node_of(f, elem)->key);
}

static bool is_type(const struct forest *f, const struct item *item, enum node_type type)
{
	return is_node(item->elem) && node_of(f, item->elem)->type == type;
}

/* Count iterations. Without a NODE_LOOP, a backward jump in @token means two iterations. */
static uint64_t times_in_range(const struct forest *f, const struct range *r, unsigned int side,
			       uint32_t token)
{
	for (size_t i = 0; i < r->nr[side]; i++)
		if (is_type(f, &r->items[side][i], NODE_LOOP))
			return loop_times(f, r->items[side][i].elem);
	return token != NONE && token_of(f, token)->header ? 2 : 1;
}

static bool is_loop(struct find *s, const struct range *r, struct difference *d)
{
	unsigned int side = !r->nr[0];

	if (r->nr[0] && r->nr[1])
		return false;
	if (r->type == NODE_LOOP) {
		for (unsigned int i = 0; i < 2; i++)
			d->side[i].times = loop_times(s->f, r->nodes[i]);
		return true;
	}
	d->side[side].times = times_in_range(s->f, r, side, d->side[side].token);
	d->side[!side].times = 1;
	return d->side[side].times > 1;
}

/* Return the maximum number of calls to @function in @elem that are nested in each other. */
static uint64_t nesting(const struct forest *f, uint32_t elem, uint32_t function,
			unsigned int *left)
{
	const struct node *n;
	uint64_t most = 0;

	if (!is_node(elem) || !*left)
		return 0;
	--*left;
	n = node_of(f, elem);
	if (n->type == NODE_RUN)
		return nesting(f, n->key, function, left);
	for (uint32_t i = 0; i < n->nr; i++) {
		uint64_t depth = nesting(f, f->elems[n->begin + i], function, left);

		most = depth > most ? depth : most;
	}
	return most + (n->type == NODE_CALL && f->functions[n->key].base == function);
}

static bool is_recursion(struct find *s, const struct range *r, struct difference *d)
{
	unsigned int left = NEST_MAX;
	uint64_t around = 0;

	for (size_t i = 0; i < s->nr_path; i++)
		around += s->f->functions[s->path[i]].base == d->function;
	for (unsigned int side = 0; side < 2; side++) {
		uint64_t most = 0;

		for (size_t i = 0; i < r->nr[side]; i++) {
			uint64_t depth = nesting(s->f, r->items[side][i].elem, d->function,
						 &left);

			most = depth > most ? depth : most;
		}
		d->side[side].times = around + most;
	}
	return d->side[0].times != d->side[1].times;
}

/*
 * Return the branch that the run took at d->place. If the run did not branch there, return 0. If
 * the run took no further branch, return NONE.
 */
static uint32_t way_of(const struct find *s, const struct difference *d, unsigned int side)
{
	const struct token *t;

	if (d->side[side].token == NONE)
		return NONE;
	t = token_of(s->f, d->side[side].token);
	return t->from.addr == d->place.addr ? t->same : 0;
}

/* Return a pointer to the entry of @d in s->groups. If @d is a new difference, the entry is 0. */
static uint32_t *group_of(struct find *s, const struct difference *d)
{
	struct tally_key key = {
		.a = s, .a_addr = d->place.addr,
		.b = (void *)(uintptr_t)(d->kind + ((uint64_t)d->function << 8)),
		.b_addr = (uint64_t)way_of(s, d, 0) << 32 | way_of(s, d, 1),
	};

	return &tally_get(&s->groups, &key)->kind;
}

static void set_path(struct find *s, struct difference *d)
{
	struct called *last = NULL;
	size_t i;

	for (i = s->nr_path; i; i--) {
		if (last && last->function == s->path[i - 1]) {
			last->times++;
			continue;
		}
		if (d->nr_path == PATH_MAX_NR)
			break;
		last = &d->path[d->nr_path++];
		*last = (struct called) { s->path[i - 1], 1 };
	}
	d->path_cut = i;
	for (i = 0; i < s->nr_path; i++)
		d->depth += is_counted(s->f, s->path[i]);
}

/* If the runs do not meet after the difference, set s->unmet to the difference's number plus 1. */
static void set_end(struct find *s, const struct range *r, uint32_t difference)
{
	uint32_t tokens[2];
	bool met = range_meets(s->f, r, tokens);

	s->unmet = met || tokens[0] == NONE || tokens[1] == NONE ? 0 : difference + 1;
}

void describe_more(struct find *s, const struct range *r)
{
	uint32_t nr = s->unmet - 1;
	struct difference *d = &s->out->list[nr];

	if (!d->meets) {
		add_sums(s, r, d);
		set_meet(s, r, d, 0, 1);
	}
	set_end(s, r, nr);
}

uint32_t describe(struct find *s, const struct range *r)
{
	struct differences *out = s->out;
	struct difference d = {
		.function = NONE,
		.calls = { s->calls[0], s->calls[1] },
	};
	uint32_t tokens[2], *group;
	unsigned int parted;
	uint64_t same;

	if (s->nr_path)
		d.function = s->f->functions[s->path[s->nr_path - 1]].base;
	same = range_parts(s->f, r, tokens);
	d.side[0].token = tokens[0];
	d.side[1].token = tokens[1];
	d.kind = is_loop(s, r, &d) ? DIFF_LOOP : is_recursion(s, r, &d) ? DIFF_RECURSION :
		 DIFF_BRANCH;
	parted = set_place(s, &d);
	group = group_of(s, &d);
	if (*group) {
		set_end(s, r, *group - 1);
		return *group - 1;
	}
	add_sums(s, r, &d);
	set_meet(s, r, &d, parted, same);
	set_path(s, &d);
	d.side[0].calls = calls_text(s, r, 0);
	d.side[1].calls = calls_text(s, r, 1);
	if (out->nr == out->room) {
		out->room = 2 * out->room + 16;
		out->list = mem_realloc(out->list, out->room, sizeof(*out->list));
	}
	out->list[out->nr++] = d;
	*group = out->nr;
	set_end(s, r, out->nr - 1);
	return out->nr - 1;
}
