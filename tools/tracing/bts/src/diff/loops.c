// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collect the elements (tree.h) that a function executes, and fold its loops.
 *
 *	for (...) f();		token  CALL  jump back  LOOP { RUN(CALL, jump back) x 8 }  CALL ...
 *
 * A loop begins at a backward jump to an instruction that the current call has already executed. An
 * inner loop begins at a backward jump to an instruction that the current iteration of the outer
 * loop has already executed. The first and the last iteration stay outside the node LOOP. So their
 * elements can be matched with the elements of a loop that another run executes only once.
 *
 * Many compiled loops begin with a forward jump to the condition at their end. After an iteration,
 * a straight run reaches the condition. Therefore, a loop also begins when a straight run reaches
 * the target of an earlier forward jump. Code that the compiler moved out of line may end with a
 * backward jump to code that has not run before. Such a jump does not begin a loop.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "loops.h"

/* The minimum and maximum number of elements in a chunk. The average is CHUNK_MIN + 64. */
#define CHUNK_MIN	64
#define CHUNK_MAX	1024
#define CHUNK_MASK	63
/* Search only the last SEARCH_MAX elements for a loop's first instruction. */
#define SEARCH_MAX	512
/* When a body is emptied, free each sequence that has room for more than ROOM_KEPT elements. */
#define ROOM_KEPT	64

static void more_room(struct seq *s)
{
	s->room = s->room ? 2 * s->room : 8;
	s->elems = mem_realloc(s->elems, s->room, sizeof(*s->elems));
}

static bool ends_chunk(const struct forest *f, const struct seq *s, uint32_t elem)
{
	uint64_t h;

	if (s->nr - s->cut >= CHUNK_MAX)
		return true;
	h = is_node(elem) ? node_of(f, elem)->hash : token_of(f, elem)->from.addr;
	h *= 0x9e3779b97f4a7c15ULL;
	return !((h >> 40) & CHUNK_MASK);
}

static void end_chunk(struct forest *f, struct seq *s)
{
	s->elems[s->cut] = forest_node(f, NODE_CHUNK, 0, s->elems + s->cut, s->nr - s->cut);
	s->nr = ++s->cut;
}

static inline void seq_add(struct forest *f, struct seq *s, uint32_t elem)
{
	if (s->nr == s->room)
		more_room(s);
	s->elems[s->nr++] = elem;
	if (s->nr - s->cut >= CHUNK_MIN && ends_chunk(f, s, elem))
		end_chunk(f, s);
}

static struct level *top_level(struct body *b)
{
	return &b->levels[b->depth - 1];
}

static void open_level(struct body *b, uint32_t header, uint32_t object, uint64_t addr)
{
	struct level *l;

	if (b->depth == b->room) {
		b->levels = mem_realloc(b->levels, b->room + 2, sizeof(*b->levels));
		memset(b->levels + b->room, 0, 2 * sizeof(*b->levels));
		b->room += 2;
	}
	l = &b->levels[b->depth++];
	l->header = header;
	l->object = object;
	l->addr = addr;
	l->low = addr;
	l->nr_entries = 0;
	l->list.nr = 0;
	l->list.cut = 0;
	l->now.nr = 0;
	l->now.cut = 0;
	l->times = 0;
}

/* Add l->times repetitions of l->iter to the list of iterations. */
static void end_run(struct forest *f, struct level *l)
{
	if (l->times)
		seq_add(f, &l->list, l->times == 1 ? l->iter : forest_run(f, l->iter, l->times));
	l->times = 0;
}

static bool same_iteration(const struct forest *f, const struct level *l)
{
	const struct node *n = node_of(f, l->iter);

	return n->nr == l->now.nr && same_elems(f->elems + n->begin, l->now.elems, n->nr);
}

static void end_iteration(struct forest *f, struct level *l)
{
	uint32_t iter;

	if (!l->times || !same_iteration(f, l)) {
		iter = forest_node(f, NODE_ITER, l->header, l->now.elems, l->now.nr);
		if (!l->times || iter != l->iter)
			end_run(f, l);
		l->iter = iter;
	}
	l->times++;
	l->nr_entries = 0;
	l->now.nr = 0;
	l->now.cut = 0;
}

static void close_level(struct forest *f, struct body *b)
{
	struct level *l = top_level(b), *out = l - 1;

	end_run(f, l);
	if (l->list.nr)
		seq_add(f, &out->now, forest_node(f, NODE_LOOP, l->header, l->list.elems,
						  l->list.nr));
	for (uint32_t i = 0; i < l->now.nr; i++)
		seq_add(f, &out->now, l->now.elems[i]);
	b->depth--;
}

static bool covers(const struct token *t, uint32_t object, uint64_t addr)
{
	return t->objects[0] == object && t->objects[1] == object && t->start.addr <= addr &&
	       addr <= t->from.addr;
}

/*
 * Report whether one of the last SEARCH_MAX elements contains the instruction at @addr. Set *@low
 * to the lowest address that was executed after this instruction.
 */
static bool executed(const struct forest *f, const uint32_t *elems, uint32_t nr,
		     uint32_t object, uint64_t addr, uint64_t *low)
{
	uint32_t end = nr > SEARCH_MAX ? nr - SEARCH_MAX : 0;

	for (uint32_t i = nr; i > end; i--) {
		const struct node *n;
		const struct token *t;

		if (is_node(elems[i - 1])) {
			n = node_of(f, elems[i - 1]);
			if (n->type != NODE_CHUNK)
				continue;
			return executed(f, f->elems + n->begin, n->nr, object, addr, low);
		}
		t = token_of(f, elems[i - 1]);
		if (covers(t, object, addr))
			return true;
		if (t->objects[0] == object && t->start.addr < *low)
			*low = t->start.addr;
	}
	return false;
}

/* If the current iteration of @level has already executed @place, begin a loop inside @level. */
static void begin_loop(struct forest *f, struct body *b, uint32_t level, uint32_t header,
		       const struct place *place, uint32_t object)
{
	const struct seq *now = &b->levels[level].now;
	uint64_t low = place->addr;

	if (!executed(f, now->elems, now->nr, object, place->addr, &low))
		return;
	while (b->depth - 1 > level)
		close_level(f, b);
	open_level(b, header, object, place->addr);
	top_level(b)->low = low;
}

/* End all loops inside the loop at @level, and then this loop's current iteration. */
static void next_iteration(struct forest *f, struct body *b, uint32_t level)
{
	while (b->depth - 1 > level)
		close_level(f, b);
	end_iteration(f, top_level(b));
}

/* Process a backward jump, whose token has already been added to the sequence. */
static void go_back(struct forest *f, struct body *b, const struct token *t)
{
	uint32_t level = b->depth - 1;

	while (level && b->levels[level].header != t->header)
		level--;
	if (level) {
		next_iteration(f, b, level);
		return;
	}
	/* If the target is below a loop's lowest address, the jump belongs to an outer loop. */
	for (level = b->depth - 1; level && t->to.addr < b->levels[level].low; )
		level--;
	begin_loop(f, b, level, t->header, &t->to, t->objects[2]);
}

static bool passes(const struct token *t, uint32_t object, uint64_t addr)
{
	return t->start.addr < addr && addr <= t->from.addr && t->objects[0] == object &&
	       t->objects[1] == object;
}

/*
 * If a straight run reaches the first instruction of a loop that is being executed, begin the
 * loop's next iteration. If the straight run reaches the target of an earlier forward jump, begin
 * a loop, because many loops are entered by a forward jump to their condition.
 */
static void fall_through(struct forest *f, struct body *b, const struct token *t)
{
	for (uint32_t i = 0; i < b->depth; i++) {
		const struct level *l = &b->levels[i];
		uint32_t nr = l->nr_entries < ENTRIES_MAX ? l->nr_entries : ENTRIES_MAX;

		if (i && passes(t, l->object, l->addr)) {
			next_iteration(f, b, i);
			return;
		}
		for (uint32_t j = 0; j < nr; j++) {
			const struct entry e = l->entries[j];

			if (!passes(t, e.object, e.place.addr))
				continue;
			begin_loop(f, b, i, e.header, &e.place, e.object);
			return;
		}
	}
}

static void note_entry(struct level *l, const struct token *t)
{
	l->entries[l->nr_entries++ % ENTRIES_MAX] = (struct entry) {
		.place = t->to, .object = t->objects[2], .header = t->entry,
	};
}

void body_add(struct forest *f, struct body *b, uint32_t elem)
{
	const struct token *t;

	if (is_node(elem)) {
		seq_add(f, &top_level(b)->now, elem);
		return;
	}
	t = token_of(f, elem);
	if (b->depth > 1 || b->levels[0].nr_entries)
		fall_through(f, b, t);
	seq_add(f, &top_level(b)->now, elem);
	if (t->header)
		go_back(f, b, t);
	else if (t->entry)
		note_entry(top_level(b), t);
}

void body_end(struct forest *f, struct body *b)
{
	while (b->depth > 1)
		close_level(f, b);
}

/* Free the array of a long sequence, because bts may keep thousands of unused sequences. */
static void trim(struct seq *s)
{
	if (s->room <= ROOM_KEPT)
		return;
	free(s->elems);
	*s = (struct seq) {};
}

void body_reset(struct body *b)
{
	struct level *l;

	for (uint32_t i = 0; i < b->room; i++) {
		trim(&b->levels[i].list);
		trim(&b->levels[i].now);
	}
	b->silent = false;
	b->hidden = false;
	b->branches = false;
	b->pending.token = NONE;
	if (!b->room) {
		open_level(b, 0, 0, 0);
		return;
	}
	b->depth = 1;
	l = &b->levels[0];
	l->nr_entries = 0;
	l->now.nr = 0;
	l->now.cut = 0;
}

void body_free(struct body *b)
{
	for (uint32_t i = 0; i < b->room; i++) {
		free(b->levels[i].list.elems);
		free(b->levels[i].now.elems);
	}
	free(b->levels);
	free(b);
}
