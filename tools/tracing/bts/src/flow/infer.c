// SPDX-License-Identifier: GPL-2.0-only
/*
 * Infer events in a trace that has no branches from or to the kernel (perf's branches:u).
 *
 * Without these branches, a straight run continues across system calls, and across faults that the
 * kernel resolves. In three cases, the code does not lead from one branch to the next:
 *
 *	a signal	A bts_arrives row (written when the task gets a CPU) may contain the
 *			handler's address. Otherwise, if a straight run leads from the start of a
 *			function to the next branch, this function is the handler.
 *	rt_sigreturn	The run that the signal interrupted continues, unless the handler has
 *			changed the saved address.
 *	exec()		A bts_arrives row may contain the start address of the program.
 *			Otherwise, the address is unknown.
 *
 * For each signal and each rt_sigreturn, a row states whether the event was inferred. If none of
 * the three cases explains a branch, a gap is reported before the branch. The last straight run
 * before exec(), before rt_sigreturn() or before the end of the task does not end with a branch. To
 * count the instructions of this straight run, add a step with STEP_END.
 */
#include <stdint.h>

#include "symbols/code.h"
#include "private.h"

/* The instructions syscall, sysenter and int n have the same length. */
#define SYSCALL_SIZE	2
/* An unknown address in the kernel. */
#define NOWHERE		UINT64_MAX

static int row(struct pipe_private *v, struct task *t, enum row_type type, uint64_t to,
	       uint64_t ts, bool inferred)
{
	struct row row = {
		.type = type, .cpu = t->cpu, .ts = ts, .from = t->at, .to = to,
		.inferred = inferred,
	};

	return pipe_row(v, t, &row);
}

/* Count the straight run from t->at to @addr if t->at is known and the code can lead to @addr. */
static void end_run(struct pipe_private *v, struct task *t, uint64_t addr)
{
	const struct branch b = { .from = addr, .to = NOWHERE };
	struct step *s;

	if (!t->known || !t->chosen || addr < t->at)
		return;
	s = step_from(v, t, t->at, &b);
	s->flags |= STEP_END;
	s->count += !(s->flags & STEP_GAP);
}

static void end_run_somewhere(struct pipe_private *v, struct task *t)
{
	struct place at = place_find(v->pipe, t, t->at);
	uint64_t call = code_system_call(at.sym->object, at.addr);

	if (call)
		end_run(v, t, call + t->at - at.addr);
}

void infer_end(struct pipe_private *v, struct task *t, uint64_t user_ip)
{
	struct place at = place_find(v->pipe, t, user_ip);
	enum branch_kind kind;

	/* If a system call ended the task, @user_ip is the address after the system call. */
	branch_kind_at(at.sym->object, at.addr - SYSCALL_SIZE, &kind);
	end_run(v, t, kind == BRANCH_SYSCALL ? user_ip - SYSCALL_SIZE : user_ip);
}

/* Report whether the task has left a signal handler and is about to call rt_sigreturn(). */
static bool at_sigreturn(struct pipe_private *v, struct task *t)
{
	struct place at = place_find(v->pipe, t, t->at);

	return code_ends_handler(at.sym->object, at.addr);
}

/* The handler ends. If the signal is older than the trace, the interrupted code is unknown. */
static int end_handler(struct pipe_private *v, struct task *t, uint64_t ts)
{
	int ret = row(v, t, ROW_SIGRETURN, 0, ts, true);

	end_run_somewhere(v, t);
	t->known = t->nr_interrupted;
	if (t->known)
		t->at = t->interrupted[--t->nr_interrupted];
	return ret;
}

int infer_start(struct pipe_private *v, struct task *t, const struct row *arrives)
{
	int ret = 0;

	if (t->executes) {
		end_run_somewhere(v, t);
	} else if (t->known && t->chosen) {
		/* A signal handler ends, and the next handler begins immediately. */
		if (at_sigreturn(v, t))
			ret = end_handler(v, t, arrives->ts);
		task_interrupt(t, t->at);
		ret = ret ? ret : row(v, t, ROW_SIGNAL, arrives->user_ip, arrives->ts, false);
	}
	t->at = arrives->user_ip;
	t->executes = false;
	t->known = true;
	t->step = NULL;
	return ret;
}

void infer_exec(struct task *t)
{
	t->executes = t->known;
	t->nr_interrupted = 0;
}

static struct step *way_to_handler(struct pipe_private *v, struct task *t, const struct branch *b,
				   uint64_t ts, int *ret)
{
	struct place from = place_find(v->pipe, t, b->from);
	uint64_t handler = b->from - (from.addr - from.sym->addr);
	struct step *s;

	if (from.sym == &from.sym->object->whole)
		return NULL;
	s = step_from(v, t, handler, b);
	if (s->flags & (STEP_GAP | STEP_BLIND))
		return NULL;
	*ret = row(v, t, ROW_SIGNAL, handler, ts, true);
	task_interrupt(t, t->at);
	return s;
}

/* A signal handler ends. The kernel may immediately start another handler. */
static struct step *way_back(struct pipe_private *v, struct task *t, const struct branch *b,
			     uint64_t ts, int *ret)
{
	struct step *s = NULL;

	*ret = end_handler(v, t, ts);
	if (t->known)
		s = step_from(v, t, t->at, b);
	if (!*ret && (!s || (s->flags & STEP_GAP)))
		s = way_to_handler(v, t, b, ts, ret);
	/*
	 * It is unknown where the task continues if the signal came before the trace began, or if
	 * the handler has changed the address that the kernel saved for rt_sigreturn().
	 */
	return s ? s : step_from(v, t, b->from, b);
}

struct step *infer_way(struct pipe_private *v, struct task *t, const struct branch *b, uint64_t ts,
		       int *ret)
{
	if (t->executes) {
		t->executes = false;
		return step_from(v, t, b->from, b);
	}
	return at_sigreturn(v, t) ? way_back(v, t, b, ts, ret) :
				    way_to_handler(v, t, b, ts, ret);
}
