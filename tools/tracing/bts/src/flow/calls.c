// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows calls and returns. The stack is what the branches say it is:
 *
 *	call		a frame, with the address after the call as its return address
 *	ret		back to the frame that has this return address: the innermost one,
 *			or, after longjmp() or an exception, one further out
 *	jump		into another function: a frame that returns where the one before it
 *			does (tail call); into one that such jumps have come through: back
 *			to it; into the midst of one further out: back to that (longjmp())
 *	syscall, interrupt	a frame that ends on the way back. If that leads elsewhere,
 *			it is a signal's handler, which gets a frame of its own; or another
 *			program, if one was mapped meanwhile: then the stack is new
 *
 * A ret to where no frame returns leads to a function that was there before the trace
 * began: that is the outermost one then. After a gap or a loss the stack stays as it
 * was; if the next function is on it, that is the innermost one, otherwise a guess is
 * put on top, and the next ret that fits puts things right.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "calls.h"

#define DEPTH_MAX	(1U << 20)
#define INSN_MAX	15

static void push(struct calls *c, enum frame_kind kind, struct sym *sym,
		 const struct place *site, uint64_t ret)
{
	struct frame *f;

	if (!c->stack || c->depth == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		c->stack = mem_realloc(c->stack, c->room, sizeof(*c->stack));
	}
	f = &c->stack[c->depth++];
	*f = (struct frame) {
		.sym = sym, .ret = ret, .kind = kind, .insns_at = c->insns,
		.branches_at = c->branches, .ts = c->ts,
	};
	if (site)
		f->site = *site;
	else
		f->site = (struct place) { .sym = sym, .addr = sym->addr };
	if (c->ops->enter)
		c->ops->enter(c, f);
}

static void pop(struct calls *c)
{
	if (c->ops->leave)
		c->ops->leave(c, &c->stack[c->depth - 1]);
	c->depth--;
}

static void pop_to(struct calls *c, uint32_t depth)
{
	while (c->depth > depth)
		pop(c);
}

static bool is_entry(const struct frame *f)
{
	return f->kind == FRAME_SYSCALL || f->kind == FRAME_INTERRUPT;
}

static bool returns_to(const struct frame *f, uint64_t to)
{
	return f->approx ? to - f->ret - 1 < INSN_MAX : f->ret && to == f->ret;
}

/* Frames from @c->depth - 1 on that the innermost one has come through by jumps. */
static uint32_t chain_begin(const struct calls *c)
{
	uint32_t i = c->depth;

	while (i && c->stack[i - 1].kind == FRAME_TAIL)
		i--;
	return i ? i - 1 : 0;
}

/*
 * Below this one are the frames of the other side. A signal's handler may be left by
 * siglongjmp(), so what it has interrupted belongs to its side.
 */
static uint32_t side_begin(const struct calls *c)
{
	uint32_t i = c->depth;

	while (i && !is_entry(&c->stack[i - 1]))
		i--;
	return i ? i - 1 : 0;
}

/* The innermost way in: of a system call, an interrupt or a handler; -1 if there is none. */
static int64_t last_entry(const struct calls *c)
{
	int64_t i = (int64_t)c->depth - 1;

	while (i >= 0 && !is_entry(&c->stack[i]) && c->stack[i].kind != FRAME_SIGNAL)
		i--;
	return i;
}

/* The innermost frame of the function, from @begin on; -1 if there is none. */
static int64_t find_sym(const struct calls *c, const struct sym *sym, uint32_t begin)
{
	for (int64_t i = (int64_t)c->depth - 1; i >= begin; i--)
		if (c->stack[i].sym == sym)
			return i;
	return -1;
}

/* The innermost frame that returns to @to, tail calls with it; -1 if there is none. */
static int64_t find_ret(const struct calls *c, uint64_t to, uint32_t begin)
{
	int64_t i = (int64_t)c->depth - 1;

	for (; i >= begin; i--)
		if (returns_to(&c->stack[i], to))
			break;
	if (i < (int64_t)begin)
		return -1;
	while (i > begin && c->stack[i].kind == FRAME_TAIL)
		i--;
	return i;
}

static void do_call(struct calls *c, const struct step *s)
{
	struct frame *f;

	/* call 1f; 1: pop -- the function wants to know where it is. */
	if (s->length && s->to == s->from + s->length)
		return;
	push(c, FRAME_CALL, s->at_to.sym, &s->at_from, s->from + s->length);
	f = calls_top(c);
	f->approx = !s->length;
}

/* The outermost function of this side was there before the trace. */
static void do_root(struct calls *c, const struct step *s)
{
	pop_to(c, last_entry(c) + 1);
	push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
}

/* What procedure linkage jumps to was called by its caller. */
static void replace_stub(struct calls *c, struct sym *sym)
{
	struct frame stub = *calls_top(c);

	pop(c);
	push(c, stub.kind, sym, &stub.site, stub.ret);
	calls_top(c)->approx = stub.approx;
}

static void do_jump(struct calls *c, const struct step *s)
{
	struct frame *top = calls_top(c);
	struct sym *sym = s->at_to.sym;
	bool approx = top->approx;
	int64_t i;

	if (sym == top->sym)
		return;
	i = find_sym(c, sym, chain_begin(c));
	if (i < 0 && s->at_to.addr != sym->addr)
		i = find_sym(c, sym, side_begin(c));
	if (i >= 0) {
		pop_to(c, i + 1);
		return;
	}
	if (top->sym->stub) {
		replace_stub(c, sym);
		return;
	}
	push(c, FRAME_TAIL, sym, &s->at_from, top->ret);
	calls_top(c)->approx = approx;
}

/* No frame returns there. */
static void do_odd_ret(struct calls *c, const struct step *s)
{
	int64_t i;

	/* A ret that stands for a jump: its target was pushed. */
	if (s->at_to.addr == s->at_to.sym->addr) {
		do_jump(c, s);
		return;
	}
	/* An exception's handler, in a function that is still there. */
	i = find_sym(c, s->at_to.sym, side_begin(c));
	if (i >= 0)
		pop_to(c, i + 1);
	else
		do_root(c, s);
}

static void do_ret(struct calls *c, const struct step *s)
{
	struct frame *top = calls_top(c);
	int64_t i;

	if (returns_to(top, s->to) && top->kind == FRAME_CALL) {
		pop(c);
	} else {
		i = find_ret(c, s->to, side_begin(c));
		if (i >= 0) {
			pop_to(c, i);
		} else {
			do_odd_ret(c, s);
			return;
		}
	}
	top = calls_top(c);
	if (!top)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
	else if (top->sym != s->at_to.sym)
		do_jump(c, s);
}

static void do_entry(struct calls *c, const struct step *s, enum frame_kind kind)
{
	struct frame *f;

	push(c, kind, s->at_to.sym, &s->at_from,
	     kind == FRAME_SYSCALL ? s->from + s->length : s->from);
	f = calls_top(c);
	f->approx = kind == FRAME_SYSCALL && !s->length;
	f->user = !is_kernel(s->from);
	if (f->user)
		c->exec = false;
}

/* Of a system call that was interrupted, two bytes back: it is made again. */
static bool resumes_at(const struct frame *f, uint64_t to)
{
	return returns_to(f, to) || (f->kind == FRAME_SYSCALL && to == f->ret - 2) ||
	       (f->approx && to == f->ret);
}

/* To another place than where the program was: back from a handler, or into one. */
static void do_signal(struct calls *c, const struct step *s, const struct frame *entry)
{
	int64_t i;

	for (i = (int64_t)c->depth - 1; i >= 0; i--)
		if (c->stack[i].kind == FRAME_SIGNAL && resumes_at(&c->stack[i], s->to))
			break;
	if (i >= 0)
		pop_to(c, i);
	else
		push(c, FRAME_SIGNAL, s->at_to.sym, &entry->site, entry->ret);
}

/* Back to user space: to where it was, to a signal's handler, or into a new program. */
static void do_exit(struct calls *c, const struct step *s)
{
	struct frame entry = {};
	uint32_t i = c->depth;

	while (i && !(is_entry(&c->stack[i - 1]) && c->stack[i - 1].user))
		i--;
	if (i)
		entry = c->stack[i - 1];
	pop_to(c, i && !c->exec ? i - 1 : 0);
	c->exec = false;
	if (c->depth && !resumes_at(&entry, s->to))
		do_signal(c, s, &entry);
	if (!c->depth)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
}

/* Back from an interrupt of the kernel. */
static void do_iret(struct calls *c, const struct step *s)
{
	int64_t i;

	for (i = (int64_t)c->depth - 1; i >= 0; i--)
		if (c->stack[i].kind == FRAME_INTERRUPT && c->stack[i].ret == s->to)
			break;
	if (i < 0) {
		do_jump(c, s);
		return;
	}
	pop_to(c, i);
	if (!c->depth)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
}

/* The run does not begin in the innermost function. */
static void resync(struct calls *c, const struct step *s)
{
	struct sym *sym = s->at_start.sym;
	struct frame *top = calls_top(c);
	uint64_t ret = top ? top->ret : 0;
	int64_t i;

	if (!top) {
		push(c, FRAME_ROOT, sym, NULL, 0);
		return;
	}
	i = find_sym(c, sym, c->lost ? 0 : side_begin(c));
	if (i >= 0)
		pop_to(c, i + 1);
	else if (c->lost)
		push(c, FRAME_GUESS, sym, NULL, 0);
	else
		push(c, FRAME_TAIL, sym, NULL, ret);
}

struct part {
	struct calls	*c;
	struct sym	*sym;
};

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct part *p = ctx;
	struct frame *top = calls_top(p->c);
	struct place place = { .sym = sym, .addr = addr };

	(void)length;
	if (top->sym != sym) {
		push(p->c, FRAME_TAIL, sym, &place, top->ret);
		top = calls_top(p->c);
	}
	top->insns++;
	p->c->insns++;
}

/* A run that goes on into the next function. */
static void two_functions(struct calls *c, const struct step *s)
{
	struct part p = { .c = c };

	step_each(c->pipe, s, one_insn, &p);
}

static void transition(struct calls *c, const struct step *s)
{
	int64_t i;

	switch (s->kind) {
	case BRANCH_CALL:
	case BRANCH_CALL_IND:
		do_call(c, s);
		break;
	case BRANCH_RET:
		do_ret(c, s);
		break;
	case BRANCH_SYSCALL:
		do_entry(c, s, FRAME_SYSCALL);
		break;
	case BRANCH_INTERRUPT:
		do_entry(c, s, FRAME_INTERRUPT);
		break;
	case BRANCH_IRET:
		do_iret(c, s);
		break;
	case BRANCH_UNKNOWN:
		/* No code: by its target it may be a return. */
		i = s->at_to.sym != s->at_from.sym ? find_ret(c, s->to, side_begin(c)) : -1;
		if (i >= 0)
			do_ret(c, s);
		else
			do_jump(c, s);
		break;
	default:
		do_jump(c, s);
	}
}

/* The innermost frame, which is that of the run's function. */
static struct frame *frame_of_run(struct calls *c, const struct step *s, bool exit)
{
	struct frame *top = calls_top(c);

	c->lost |= s->flags & STEP_GAP;
	if (!top || (s->at_start.sym != top->sym && !(exit && is_entry(top))))
		resync(c, s);
	c->lost = false;
	return calls_top(c);
}

/* Only the kernel is wanted: each way into it is a stack of its own. */
static bool kernel_only(struct calls *c, const struct step *s)
{
	if (!c->pipe->options->kernel || (is_kernel(s->from) && is_kernel(s->to)))
		return false;
	if (is_kernel(s->from)) {
		frame_of_run(c, s, true)->insns += s->insns;
		c->insns += s->insns;
	}
	pop_to(c, 0);
	if (is_kernel(s->to))
		do_entry(c, s, s->kind == BRANCH_SYSCALL ? FRAME_SYSCALL : FRAME_INTERRUPT);
	c->branches++;
	return true;
}

void calls_step(struct calls *c, const struct step *s, uint64_t ts)
{
	bool exit = is_kernel(s->from) && !is_kernel(s->to);
	struct frame *top = calls_top(c);

	c->ts = ts;
	if (kernel_only(c, s))
		return;
	if (c->depth >= DEPTH_MAX)
		pop_to(c, 0);
	if (!c->depth || c->lost || s->at_start.sym != top->sym)
		top = frame_of_run(c, s, exit);
	if (s->at_from.sym != s->at_start.sym) {
		two_functions(c, s);
		top = calls_top(c);
	} else if (!exit || !c->pipe->options->user) {
		top->insns += s->insns;
		c->insns += s->insns;
	}
	top->branches++;
	c->branches++;
	if (exit)
		do_exit(c, s);
	else if (s->at_to.sym != top->sym || s->kind > BRANCH_JUMP_IND)
		transition(c, s);
}

struct calls *calls_of(struct pipe *pipe, struct task *task, const struct calls_ops *ops,
		       void *ctx)
{
	struct calls *c = task->priv;

	if (c)
		return c;
	c = mem_zalloc(1, sizeof(*c));
	c->pipe = pipe;
	c->task = task;
	c->ops = ops;
	c->ctx = ctx;
	task->priv = c;
	return c;
}

void calls_row(struct calls *c, const struct row *row)
{
	switch (row->type) {
	case ROW_LOST:
	case ROW_GAP:
		c->lost = true;
		break;
	case ROW_MAP:
		c->exec |= !!strstr(row->text, "[vdso]");
		break;
	case ROW_DEPARTS:
		if (!row->dead)
			break;
		c->closing = true;
		pop_to(c, 0);
		c->closing = false;
		break;
	default:
		break;
	}
}

void calls_end(struct calls *c)
{
	c->closing = true;
	pop_to(c, 0);
}

void calls_free(struct task *task)
{
	struct calls *c = task->priv;

	if (!c)
		return;
	calls_end(c);
	free(c->stack);
	free(c);
	task->priv = NULL;
}
