// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a jump or ret leads that calls and returns do not explain:
 *
 *	longjmp()	to the return address of a call of setjmp(), in the frame that made
 *			the call. If several live frames made it at the same place, the
 *			innermost one to which no longjmp() has led yet is taken, because
 *			handlers of errors are nested. That is a guess. If the call was made
 *			on another stack, the task continues there. It does so, too, if the
 *			call was made on both stacks and the frame calls longjmp() itself,
 *			because coroutines switch that way. That is a guess
 *	exception	to a landing pad. The frame is the innermost one whose call site leads
 *			to this pad by the table of call sites (lsda.c): a frame further in
 *			with the same call site would have caught the exception, too
 *	another stack	to the return address of a frame on a stack that the task has left. If
 *			several stacks have such a frame, the task continues on the stack that
 *			it left first, because schedulers take turns. That is a guess. If a
 *			later ret shows that it was another one, the stacks are exchanged. If a
 *			function that switches stacks (roles.c) leads elsewhere, or a ret to
 *			the beginning of a function, a new stack begins
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/lsda.h"
#include "symbols/roles.h"
#include "frames.h"

/* So many frames of another stack are searched: few lie above the one that switches. */
#define SEARCH_MAX	256

static bool alive(const struct frame *frames, uint32_t depth, const struct point *p)
{
	return p->index < depth && frames[p->index].serial == p->serial;
}

void note_point(struct calls *c)
{
	struct stack *now = &c->now;
	struct point p;

	if (now->depth < 2)
		return;
	p = (struct point) {
		.addr = now->frames[now->depth - 1].ret, .index = now->depth - 2,
		.serial = now->frames[now->depth - 2].serial,
	};
	/* What lies further in than the caller is dead: the points stay sorted. */
	while (now->nr_points && !alive(now->frames, now->depth, &now->points[now->nr_points - 1]))
		now->nr_points--;
	for (uint32_t i = now->nr_points; i && now->points[i - 1].index == p.index; i--)
		if (now->points[i - 1].addr == p.addr) {
			now->points[i - 1].used = false;
			return;
		}
	if (now->nr_points == now->points_room) {
		now->points_room = now->points_room ? 2 * now->points_room : 8;
		now->points = mem_realloc(now->points, now->points_room, sizeof(p));
	}
	now->points[now->nr_points++] = p;
}

/* The point of a stack to which longjmp() leads by @addr, or NULL. Adds to @nr all that fit. */
static struct point *find_point(const struct stack *stack, uint64_t addr, unsigned int *nr)
{
	struct point *best = NULL;

	for (uint32_t i = stack->nr_points; i--;) {
		struct point *p = &stack->points[i];

		if (p->addr != addr || !alive(stack->frames, stack->depth, p))
			continue;
		++*nr;
		if (!best || (best->used && !p->used))
			best = p;
	}
	return best;
}

/* Has the frame that called setjmp() called longjmp() itself? */
static bool calls_longjmp(const struct calls *c, const struct point *p)
{
	const struct stack *now = &c->now;

	return p->index + 1 < now->depth &&
	       strstr(now->frames[p->index + 1].sym->linked, "longjmp");
}

static bool land_at_point(struct calls *c, const struct step *s)
{
	unsigned int nr = 0, nr_others = 0;
	struct point *best = find_point(&c->now, s->to, &nr), *other = NULL;
	uint32_t index = c->nr_others;

	/* The one that was left first, as below. */
	for (uint32_t i = c->nr_others; i--;) {
		struct point *p = find_point(&c->others[i], s->to, &nr_others);

		other = p ? p : other;
		index = p ? i : index;
	}
	if (best && !(nr_others && calls_longjmp(c, best)))
		other = NULL;
	else
		best = other;
	if (!best)
		return false;
	best->used = true;
	if (other)
		change_stack(c, index);
	pop_to(c, best->index + 1);
	if (nr > 1 || (other && nr + nr_others > 1))
		guess(c);
	return true;
}

static bool land_at_pad(struct calls *c, const struct step *s)
{
	struct object *o = s->at_to.sym->object;
	uint32_t begin = side_begin(c);

	for (uint32_t i = c->now.depth; i-- > begin + 1;) {
		const struct frame *f = &c->now.frames[i];

		if ((f->kind != FRAME_CALL && f->kind != FRAME_SIGNAL) ||
		    f->site.sym->object != o || !lsda_leads(o, f->site.addr, s->at_to.addr))
			continue;
		pop_to(c, i);
		return true;
	}
	return false;
}

/* How far from the innermost frame is the one that returns to @to? -1: there is none. */
static int64_t distance(const struct stack *other, uint64_t to)
{
	for (uint32_t i = 0; i < other->depth && i < SEARCH_MAX; i++) {
		const struct frame *f = &other->frames[other->depth - 1 - i];

		if (f->kind != FRAME_ROOT && returns_to(f, to))
			return i;
	}
	return -1;
}

/*
 * The task has continued on the wrong one of several stacks that were left at the same place. Now
 * it is where they differ: what has ended since were frames of the right one, stack @index.
 */
static void correct(struct calls *c, uint32_t index, uint32_t way)
{
	const struct stack *right = &c->others[index];
	uint32_t depth = right->depth - way;

	if (c->now.doubtful && calls_real(c)->sym == right->frames[depth - 1].sym)
		move_frames(c, index, depth);
}

static bool land_on_stack(struct calls *c, const struct step *s, bool is_switch)
{
	int64_t best = -1, way;
	uint32_t index = 0, nr = 0;

	for (uint32_t i = 0; i < c->nr_others; i++) {
		way = distance(&c->others[i], s->to);
		if (way < 0)
			continue;
		nr++;
		if (best < 0 || way < best) {
			best = way;
			index = i;
		}
	}
	if (!nr)
		return false;
	nr += find_ret(c, s->to, side_begin(c)) >= 0;
	if (!is_switch && best)
		correct(c, index, best);
	change_stack(c, index);
	c->now.doubtful = nr > 1;
	pop_to(c, find_ret(c, s->to, 0));
	if (!c->now.depth)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
	if (nr > 1)
		guess(c);
	return true;
}

/* The midst of a function begins no stack: Go's panics end there, in a frame that is alive. */
static bool land_anew(struct calls *c, const struct step *s)
{
	bool within = s->at_to.addr != s->at_to.sym->addr;

	if (find_ret(c, s->to, side_begin(c)) >= 0 ||
	    (within && find_sym(c, s->at_to.sym, side_begin(c)) >= 0))
		return false;
	change_stack(c, c->nr_others);
	push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
	return true;
}

bool arrive(struct calls *c, const struct step *s)
{
	bool within = s->at_to.addr != s->at_to.sym->addr;
	enum sym_role role = sym_role(calls_real(c)->sym);
	bool is_switch = role == ROLE_SWITCH;

	if (is_switch && land_on_stack(c, s, true))
		return true;
	if (within && (land_at_point(c, s) || land_at_pad(c, s)))
		return true;
	if (within && !is_switch && land_on_stack(c, s, false))
		return true;
	/* A ret to where a function begins, or a switch to where no stack was left. */
	if (is_switch)
		return land_anew(c, s);
	return !within && s->kind == BRANCH_RET && role != ROLE_THUNK &&
	       c->now.frames[chain_begin(c)].kind == FRAME_CALL && land_anew(c, s);
}
