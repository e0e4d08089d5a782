// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call a callback for each instruction of a step.
 *
 * The instructions of a step may be in several functions, for example if assembly code runs past a
 * label. So the callback receives the function of each instruction.
 */
#include "symbols/code.h"
#include "symbols/inlines.h"
#include "pipeline.h"

struct walk {
	step_insn_fn	each;
	void		*ctx;
	struct object	*object;
	struct sym	*sym;
	uint32_t	insns;
};

static void one(void *ctx, uint64_t addr, uint32_t length)
{
	struct walk *w = ctx;

	if (addr < w->sym->addr || addr >= w->sym->end || w->sym == &w->object->whole)
		w->sym = object_sym(w->object, addr);
	w->insns++;
	w->each(w->ctx, w->sym, addr, length);
}

/* Return the object with the function's symbol table. For a module, this object is the kernel. */
static struct object *table_of(const struct sym *s)
{
	return s->object->kernel ? s->object->code : s->object;
}

struct sym *code_of(const struct pipe *p, struct sym *sym, uint64_t addr)
{
	const struct inlined *in = p->inlines ? object_inlined(sym->object, addr, NULL) : NULL;

	return in ? in->sym : sym;
}

bool pipe_hides(const struct pipe *p, uint64_t addr)
{
	return is_kernel(addr) ? p->options->user : p->options->kernel;
}

uint64_t step_branches(const struct step *s)
{
	return s->flags & STEP_END ? 0 : s->count;
}

bool step_returns(const struct step *s)
{
	return s->kind == BRANCH_IRET || s->kind == BRANCH_SYSRET || s->kind == BRANCH_EXIT;
}

uint64_t step_calls(const struct pipe *p, const struct step *s)
{
	if ((s->flags & STEP_END) || pipe_hides(p, s->to))
		return 0;
	if (s->kind == BRANCH_CALL || s->kind == BRANCH_CALL_IND)
		return s->count;
	if (s->at_from.sym == s->at_to.sym || s->at_to.addr != s->at_to.sym->addr)
		return 0;
	return step_returns(s) ? s->diverted : s->count;
}

uint32_t step_each(const struct pipe *p, const struct step *s, step_insn_fn each,
		   void *ctx)
{
	struct walk w = { .each = each, .ctx = ctx, .sym = s->at_start.sym };

	w.object = table_of(w.sym);
	if (pipe_hides(p, s->from) || (s->flags & STEP_BLIND))
		return 0;
	code_each(w.object, s->at_start.addr, s->at_from.addr, one, &w);
	if (s->kind != BRANCH_INTERRUPT)
		one(&w, s->at_from.addr, s->length);
	return w.insns;
}
