// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the frame in which a task continues after an indirect jump, after a ret that matches no
 * call, or after a stack switch:
 *
 *	longjmp()	leads to the return address of a setjmp() call, in the frame that called
 *			setjmp(). If several frames have called setjmp() with this return address,
 *			guess the innermost frame that no longjmp() has reached yet. (Error handlers
 *			are nested, so each longjmp() leads further out.) If these frames are on
 *			several stacks, guess the current stack. But if the guessed frame is the
 *			caller of longjmp(), the caller probably switches to another coroutine, so
 *			guess another stack.
 *	An exception	leads to a landing pad. The table of call sites (lsda.c) shows which calls
 *			have this pad. Choose the innermost frame that is in such a call.
 *	A stack switch	leads to a return address on a stack that the task has left. If several
 *			stacks contain this address, guess the stack on which this address is
 *			nearest to the innermost frame. If several stacks tie, guess the stack that
 *			the task left longest ago, because schedulers are often fair. If a later ret
 *			disproves the guess, correct() replaces the wrongly removed frames. If a
 *			function that switches stacks (roles.c) branches to no known frame, a new
 *			stack begins. A new stack also begins if a ret leads to a function's start.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/lsda.h"
#include "symbols/roles.h"
#include "frames.h"

/* Search only the SEARCH_MAX innermost frames of a stack, because most switches lead to these. */
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
	/* Drop points (setjmp() calls) of ended frames, so that all points stay sorted by index. */
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

/* Find setjmp() calls that return to @addr. Count them in *@nr. Return the likeliest, or NULL. */
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

/* Report whether the function that called setjmp() is now calling longjmp() itself. */
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

	/* If several other stacks match, choose the stack that the task left longest ago. */
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

/*
 * Search the SEARCH_MAX innermost frames for a frame that returns to @to. Return the distance of
 * the found frame from the innermost frame (0 for the innermost frame itself), or -1.
 */
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
 * Several stacks contained the same return address, and bts guessed on which stack the task
 * continued. A ret now shows that the task was on stack @index instead, and that the @way innermost
 * calls of this stack have ended. bts has removed frames from the guessed stack for these returns.
 * So move the @way frames from stack @index to the guessed stack, which is the current stack.
 */
static void correct(struct calls *c, uint32_t index, uint32_t way)
{
	const struct stack *right = &c->others[index];
	uint32_t depth = right->depth - way;

	if (!c->now.doubtful || calls_real(c)->sym != right->frames[depth - 1].sym)
		return;
	/* Remove the current stack's inlined frames, because their code ran on stack @index. */
	pop_to(c, calls_depth(c));
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

/* Begin a new stack. But return false if the branch leads to a live frame, as after a Go panic. */
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
	if (is_switch)
		return land_anew(c, s);
	return !within && s->kind == BRANCH_RET && role != ROLE_THUNK &&
	       c->now.frames[chain_begin(c)].kind == FRAME_CALL && land_anew(c, s);
}
