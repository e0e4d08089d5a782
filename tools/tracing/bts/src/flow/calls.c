// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follow calls and returns. The branches change the stack in these ways:
 *
 *	call		Adds a frame, whose return address is the address after the call.
 *	ret		Ends the frame whose return address is the branch target, and all frames
 *			inside that frame.
 *	jump		A jump to another function (a tail call) adds a frame with the return
 *			address of the jumping function. If the other function already has a frame
 *			in the current chain of tail calls, the jump ends all frames inside that
 *			frame. A jump to a split part of the same function (f.cold) changes nothing.
 *	syscall		Adds a frame, which ends when the kernel returns. If a program was mapped
 *			during the system call, the system call was exec(), so all stacks end.
 *	interrupt	Adds a frame, which ends when the kernel returns.
 *	signal		If the kernel returns to the start of a function instead of to the
 *			interrupted code, this function is a signal handler, which gets a frame.
 *	rt_sigreturn	Ends the innermost signal handler. The program may continue at any address,
 *			because the handler may have changed the saved address.
 *
 * An indirect jump, or a ret that matches no frame, may be longjmp(), an exception or a stack
 * switch (see arrive.c). If not, a ret from the outermost function leads to a function that was
 * called before the trace began. This function becomes the outermost function. Any other ret or
 * indirect jump is assumed to lead to the innermost frame of the function at the branch target.
 *
 * If branches are missing (due to a gap, a loss or a filter like --cpu), the function of the next
 * straight run becomes the current function. If this function has a frame, all inner frames are
 * removed. Otherwise, it gets a frame, and the next matching ret corrects the stack. Either way,
 * the stack is a guess. If the branch into the kernel is lost, the branch out of the kernel ends
 * the kernel's frames. The function to which this branch leads becomes the current function. If the
 * branch out of the kernel is lost, the next straight run in user space ends the kernel's frames.
 *
 * If inlined functions are shown, an inlined call has a frame, too. This frame is on top of the
 * frame of the function that contains the inlined code. Each straight run replaces the inlined
 * frames at the top of the stack. The rules above ignore inlined frames.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/code.h"
#include "symbols/inlines.h"
#include "symbols/roles.h"
#include "frames.h"

#define DEPTH_MAX	(1U << 20)

/* Return the index of the innermost system call, interrupt or signal handler, or -1. */
static int64_t last_entry(const struct calls *c)
{
	int64_t i = (int64_t)c->now.depth - 1;

	while (i >= 0 && !is_entry(&c->now.frames[i]) && c->now.frames[i].kind != FRAME_SIGNAL)
		i--;
	return i;
}

static void do_call(struct calls *c, const struct step *s)
{
	struct frame *f;

	/* Ignore the call in "call 1f; 1: pop", by which a function reads its own address. */
	if (s->length && s->to == s->from + s->length)
		return;
	push(c, FRAME_CALL, s->at_to.sym, &s->at_from, s->from + s->length);
	f = calls_top(c);
	f->approx = !s->length;
	if (s->length && sym_role(f->sym) == ROLE_SETJMP)
		note_point(c);
}

/* End the frames inside the innermost kernel entry or handler. Push the function at s->to. */
static void do_root(struct calls *c, const struct step *s)
{
	pop_to(c, last_entry(c) + 1);
	push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
}

/* Replace the frame of a PLT stub with a frame of the function to which the stub jumps. */
static void replace_stub(struct calls *c, struct sym *sym)
{
	struct frame stub = *calls_top(c);

	pop(c);
	push(c, stub.kind, sym, &stub.site, stub.ret);
	calls_top(c)->approx = stub.approx;
	if (stub.kind == FRAME_CALL && !stub.approx && sym_role(sym) == ROLE_SETJMP)
		note_point(c);
}

/* Handle a jump. @leaves: the jump may have left the innermost function, as longjmp() does. */
static void jump_to(struct calls *c, const struct step *s, bool leaves)
{
	struct frame *top = calls_real(c);
	struct sym *sym = s->at_to.sym;
	bool approx = top->approx;
	int64_t i;

	i = find_sym(c, sym, chain_begin(c));
	if (i >= 0) {
		pop_to(c, i + 1);
		return;
	}
	if (top->sym->stub) {
		replace_stub(c, sym);
		return;
	}
	i = leaves ? find_sym(c, sym, side_begin(c)) : -1;
	if (i >= 0) {
		pop_to(c, i + 1);
	} else {
		push(c, FRAME_TAIL, sym, &s->at_from, top->ret);
		calls_top(c)->approx = approx;
	}
	/* Do not call guess() for nameless code, because it may be part of the jumping function. */
	if (leaves && !is_kernel(s->to) && (i >= 0 || !sym->nameless))
		guess(c);
}

static void do_jump(struct calls *c, const struct step *s)
{
	struct sym *sym = s->at_to.sym;
	bool within = s->at_to.addr != sym->addr;

	if (frame_has(calls_real(c), sym))
		return;
	if (is_kernel(s->to))
		jump_to(c, s, within);
	else if (s->kind == BRANCH_JUMP || s->kind == BRANCH_COND)
		jump_to(c, s, false);
	else if (!arrive(c, s))
		jump_to(c, s, within && sym != &sym->object->whole);
	else if (!frame_has(calls_real(c), sym))
		jump_to(c, s, false);
}

/*
 * Handle a ret from a frame whose return address is unknown. The frame belongs to the outermost
 * function, to a function found after a gap, or to a signal handler, which returns to the code that
 * calls rt_sigreturn().
 */
static bool ret_unknown(struct calls *c, const struct step *s)
{
	uint32_t begin = chain_begin(c);

	switch (c->now.frames[begin].kind) {
	case FRAME_SIGNAL:
		jump_to(c, s, false);
		return true;
	case FRAME_ROOT:
		do_root(c, s);
		return true;
	case FRAME_GUESS:
		pop_to(c, begin);
		if (find_sym(c, s->at_to.sym, side_begin(c)) >= 0)
			pop_to(c, find_sym(c, s->at_to.sym, side_begin(c)) + 1);
		else
			push(c, FRAME_GUESS, s->at_to.sym, NULL, 0);
		return true;
	}
	return false;
}

/* Handle a ret to an address that is not a return address on the stack. */
static void do_odd_ret(struct calls *c, const struct step *s)
{
	bool begins = s->at_to.addr == s->at_to.sym->addr;
	bool user = !is_kernel(s->to);
	int64_t i;

	/* A signal handler returns to the code that calls rt_sigreturn(). */
	if (user && code_ends_handler(s->at_to.sym->object, s->at_to.addr)) {
		jump_to(c, s, false);
		return;
	}
	if (user && arrive(c, s)) {
		if (!frame_has(calls_real(c), s->at_to.sym))
			jump_to(c, s, false);
		return;
	}
	/* The code has pushed the target address, and uses ret as a jump. */
	if (begins && (!user || sym_role(calls_real(c)->sym) == ROLE_THUNK)) {
		do_jump(c, s);
		return;
	}
	if (ret_unknown(c, s))
		return;
	i = find_sym(c, s->at_to.sym, side_begin(c));
	if (i >= 0)
		pop_to(c, i + 1);
	else
		do_root(c, s);
	guess(c);
}

static void do_ret(struct calls *c, const struct step *s)
{
	struct frame *top = calls_real(c);
	int64_t i;

	if (c->nr_others && sym_role(top->sym) == ROLE_SWITCH && arrive(c, s))
		return;
	if (returns_to(top, s->to) && top->kind == FRAME_CALL) {
		pop_to(c, calls_depth(c) - 1);
	} else {
		i = find_ret(c, s->to, side_begin(c));
		if (i < 0) {
			do_odd_ret(c, s);
			return;
		}
		pop_to(c, i);
	}
	top = calls_real(c);
	if (!top)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
	else if (!frame_has(top, s->at_to.sym))
		jump_to(c, s, false);
}

static void do_entry(struct calls *c, const struct step *s, enum frame_kind kind)
{
	struct frame *f;

	push(c, kind, s->at_to.sym, &s->at_from,
	     kind == FRAME_SYSCALL ? s->from + s->length : s->from);
	f = calls_top(c);
	f->approx = kind == FRAME_SYSCALL && !s->length;
	f->user = !is_kernel(s->from);
	f->sigreturn = f->user && (s->flags & STEP_SIGRETURN);
	if (f->user)
		c->exec = false;
}

/* To restart a system call, the kernel returns to the system call instruction, at f->ret - 2. */
static bool resumes_at(const struct frame *f, uint64_t to)
{
	return returns_to(f, to) || (f->kind == FRAME_SYSCALL && to == f->ret - 2) ||
	       (f->approx && to == f->ret);
}

/* Return the innermost handler's index, or -1. If @to is set, the handler must return to @to. */
static int64_t find_handler(const struct calls *c, uint64_t to)
{
	int64_t i = (int64_t)c->now.depth - 1;

	for (; i >= 0; i--)
		if (c->now.frames[i].kind == FRAME_SIGNAL &&
		    (!to || resumes_at(&c->now.frames[i], to)))
			break;
	return i;
}

/*
 * The kernel returns to s->to, but @entry interrupted the task at another address. If a signal
 * handler on the stack interrupted the task at s->to, the handler ends. If a function may start at
 * s->to, a handler begins. Otherwise, a debugger or the kernel (for uprobes or rseq) chose s->to.
 */
static void do_elsewhere(struct calls *c, const struct step *s, const struct frame *entry)
{
	struct sym *sym = s->at_to.sym;
	int64_t i = find_handler(c, s->to);

	if (i >= 0)
		pop_to(c, i);
	else if (s->at_to.addr == sym->addr || (sym == &sym->object->whole &&
						strcmp(sym->object->name, "[uprobes]")))
		push(c, FRAME_SIGNAL, sym, &entry->site, entry->ret);
	else
		do_jump(c, s);
}

/* End a signal handler. It has no frame, because the branch into the handler is missing. */
static void end_unknown_handler(struct calls *c, const struct step *s)
{
	int64_t i = find_sym(c, s->at_to.sym, 0);

	if (i < 0 && !c->guessed) {
		pop_to(c, 0);
		return;
	}
	pop_to(c, i < 0 ? chain_begin(c) : i + 1);
	if (i < 0)
		push(c, FRAME_GUESS, s->at_to.sym, NULL, 0);
	guess(c);
}

/* End the innermost handler. The kernel may immediately start another handler. */
static void do_sigreturn(struct calls *c, const struct step *s)
{
	int64_t i = find_handler(c, 0);
	struct frame handler;

	if (i < 0) {
		end_unknown_handler(c, s);
		return;
	}
	handler = c->now.frames[i];
	pop_to(c, i);
	if (c->now.depth && !resumes_at(&handler, s->to))
		do_elsewhere(c, s, &handler);
}

/* Return the depth of the stack without the kernel's frames. */
static uint32_t user_depth(const struct calls *c)
{
	uint32_t i = c->now.depth;

	while (i && (is_entry(&c->now.frames[i - 1]) || c->now.frames[i - 1].sym->object->kernel))
		i--;
	return i;
}

/* Find the innermost system call or interrupt from user space. Return its frame index + 1, or 0. */
static uint32_t entry_depth(const struct calls *c)
{
	uint32_t i = c->now.depth;

	if (!c->now.nr_entries)
		return 0;
	while (i && !(is_entry(&c->now.frames[i - 1]) && c->now.frames[i - 1].user))
		i--;
	return i;
}

static void resync(struct calls *c, struct sym *sym);

/* The kernel returns to the interrupted instruction, to a signal handler, or to a new program. */
static void do_exit(struct calls *c, const struct step *s)
{
	struct frame entry = {};
	uint32_t i = entry_depth(c);

	if (i)
		entry = c->now.frames[i - 1];
	if (c->exec)
		end_stacks(c);
	c->exec = false;
	if (c->now.depth)
		pop_to(c, i ? i - 1 : user_depth(c));
	if (c->now.depth && !i) {
		/* The branch into the kernel is lost. */
		c->lost = true;
		resync(c, s->at_to.sym);
		c->lost = false;
	} else if (c->now.depth && entry.sigreturn) {
		do_sigreturn(c, s);
	} else if (c->now.depth && !resumes_at(&entry, s->to)) {
		do_elsewhere(c, s, &entry);
	}
	if (!c->now.depth)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
}

/* Handle an iret to the interrupted kernel code or, after an exception, to fixup code. */
static void do_iret(struct calls *c, const struct step *s)
{
	int64_t i = side_begin(c), exact;

	for (exact = (int64_t)c->now.depth - 1; exact >= 0; exact--)
		if (c->now.frames[exact].kind == FRAME_INTERRUPT &&
		    c->now.frames[exact].ret == s->to)
			break;
	if (exact >= 0)
		pop_to(c, exact);
	else if (c->now.frames[i].kind == FRAME_INTERRUPT && !c->now.frames[i].user)
		pop_to(c, i);
	if (!c->now.depth)
		push(c, FRAME_ROOT, s->at_to.sym, NULL, 0);
	else if (exact < 0)
		do_jump(c, s);
}

/* The task executes @sym, so add or remove frames until @sym is the innermost function. */
static void resync(struct calls *c, struct sym *sym)
{
	struct frame *top = calls_real(c);
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
	if (c->lost)
		guess(c);
}

struct part {
	struct calls	*c;
	struct sym	*sym;
};

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct part *p = ctx;
	struct frame *top = calls_real(p->c);
	struct place place = { .sym = sym, .addr = addr };

	(void)length;
	if (!frame_has(top, sym))
		push(p->c, FRAME_TAIL, sym, &place, top->ret);
	if (p->c->pipe->inlines)
		set_inlined(p->c, object_inlined(sym->object, addr, NULL), &place);
	calls_top(p->c)->insns++;
	p->c->insns++;
}

/*
 * If the straight run enters another function, or enters or leaves an inlined call, return true.
 * Otherwise, make the innermost inlined frames match the code of the run, and return false.
 */
static bool is_divided(struct calls *c, const struct step *s)
{
	const struct inlined *in;
	uint64_t end;

	if (s->at_from.sym != s->at_start.sym)
		return true;
	if (!c->pipe->inlines)
		return false;
	in = object_inlined(s->at_start.sym->object, s->at_start.addr, &end);
	if (s->at_from.addr >= end)
		return true;
	set_inlined(c, in, &s->at_start);
	return false;
}

static void count_run(struct calls *c, const struct step *s)
{
	struct part p = { .c = c };

	if (is_divided(c, s)) {
		step_each(c->pipe, s, one_insn, &p);
		return;
	}
	calls_top(c)->insns += s->insns;
	c->insns += s->insns;
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
		/* If the branch leaves the function and leads to a return address, assume a ret. */
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

/*
 * The straight run is in user space, so end any remaining kernel frames. Usually, the branch out of
 * the kernel has ended them. But with bts-cpl-filter, a trace of user space may lack this branch.
 */
static void leave_kernel(struct calls *c)
{
	uint32_t i = entry_depth(c);

	if (!i)
		return;
	if (c->exec)
		end_stacks(c);
	else
		pop_to(c, i - 1);
	c->exec = false;
}

/* Add or remove frames until the function at s->at_start is innermost. Return its frame. */
static struct frame *frame_of_run(struct calls *c, const struct step *s, bool exit)
{
	struct frame *top;

	if (!is_kernel(s->from))
		leave_kernel(c);
	top = calls_real(c);
	c->lost |= s->flags & STEP_GAP;
	if (!top || (!frame_has(top, s->at_start.sym) && !(exit && is_entry(top))))
		resync(c, s->at_start.sym);
	else if (c->lost)
		guess(c);
	c->lost = false;
	return calls_real(c);
}

/*
 * With --kernel, each entry into the kernel begins a new stack. Return true if this function has
 * handled @s.
 */
static bool kernel_only(struct calls *c, const struct step *s)
{
	struct frame *f;

	if (!c->pipe->options->kernel || (is_kernel(s->from) && is_kernel(s->to)))
		return false;
	if (is_kernel(s->from)) {
		f = frame_of_run(c, s, true);
		f->insns += s->insns;
		f->branches++;
		c->insns += s->insns;
		c->branches++;
	}
	pop_to(c, 0);
	if (is_kernel(s->to))
		do_entry(c, s, s->kind == BRANCH_SYSCALL ? FRAME_SYSCALL : FRAME_INTERRUPT);
	return true;
}

void calls_step(struct calls *c, const struct step *s, uint64_t ts)
{
	bool exit = is_kernel(s->from) && !is_kernel(s->to);
	struct frame *top = calls_real(c);

	c->ts = ts;
	if (c->hidden != c->task->hidden) {
		c->hidden = c->task->hidden;
		c->lost = true;
	}
	if (kernel_only(c, s))
		return;
	if (c->now.depth >= DEPTH_MAX) {
		pop_to(c, 0);
		guess(c);
	}
	if (!c->now.depth || c->lost || s->at_start.sym != top->sym)
		top = frame_of_run(c, s, exit);
	if (s->at_from.sym != s->at_start.sym || !exit || !c->pipe->options->user)
		count_run(c, s);
	top = calls_real(c);
	if (!pipe_hides(c->pipe, s->from)) {
		calls_top(c)->branches++;
		c->branches++;
	}
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

/* Without branches into the kernel, only a SIGNAL row shows that a handler begins. */
static void enter_handler(struct calls *c, const struct row *row)
{
	struct place site = place_find(c->pipe, c->task, row->from);
	struct place handler = place_find(c->pipe, c->task, row->to);

	if (!c->now.depth)
		push(c, FRAME_ROOT, site.sym, NULL, 0);
	push(c, FRAME_SIGNAL, handler.sym, &site, pipe_step_addr(c->pipe, c->task, row->from));
}

static void leave_handler(struct calls *c)
{
	int64_t i = find_handler(c, 0);

	if (i >= 0)
		pop_to(c, i);
}

void calls_row(struct calls *c, const struct row *row)
{
	switch (row->type) {
	case ROW_LOST:
	case ROW_GAP:
		c->lost = true;
		break;
	case ROW_SIGNAL:
		enter_handler(c, row);
		break;
	case ROW_SIGRETURN:
		leave_handler(c);
		break;
	case ROW_ARRIVES:
		/* If the trace has no crossings, the bts_arrives row shows the end of exec(). */
		if (c->pipe->user_only && row->user_ip && c->exec) {
			end_stacks(c);
			c->exec = false;
		}
		break;
	case ROW_MAP:
		c->exec |= !!strstr(row->text, "[vdso]");
		break;
	case ROW_DEPARTS:
		if (!row->dead)
			break;
		c->closing = true;
		free_stacks(c);
		c->closing = false;
		break;
	default:
		break;
	}
}

void calls_end(struct calls *c)
{
	c->closing = true;
	end_stacks(c);
}

void calls_free(struct task *task)
{
	struct calls *c = task->priv;

	if (!c)
		return;
	c->closing = true;
	free_stacks(c);
	free(c);
	task->priv = NULL;
}
