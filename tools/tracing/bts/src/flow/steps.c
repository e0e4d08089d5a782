// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep the steps in a table. Decode the code to find the kind and the instructions of a step.
 *
 * A step is a run of consecutive instructions, with a taken branch at its end. Loops repeat the
 * same steps, sometimes millions of times. So each step points to the step that followed it last
 * time, and the pipeline tries this follower first. If the follower does not match the next branch,
 * the pipeline searches the table. Symbols and code are read only for a new step.
 *
 * Steps are allocated in slabs, so pointers to steps stay valid. To limit the memory, the
 * pipeline passes all steps of a full table to the consumer's fold() and empties the table.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "symbols/code.h"
#include "steps.h"

#define SLOTS_MIN	4096

static size_t hash(uint32_t space, uint64_t start, uint64_t from, uint64_t to)
{
	uint64_t h = (start + space) * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 29) ^ from) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 32) ^ to) * 0x94d049bb133111ebULL;
	return h ^ (h >> 31);
}

static size_t slot(const struct steps *all, uint32_t space, uint64_t start, uint64_t from,
		   uint64_t to)
{
	size_t i = hash(space, start, from, to) & (all->room - 1);

	for (; all->slots[i]; i = (i + 1) & (all->room - 1)) {
		const struct step *s = all->slots[i];

		if (s->from == from && s->to == to && s->start == start && s->space == space)
			break;
	}
	return i;
}

struct step *steps_find(struct steps *all, uint32_t space, uint64_t start, uint64_t from,
			uint64_t to)
{
	return all->room ? all->slots[slot(all, space, start, from, to)] : NULL;
}

static void more_slots(struct steps *all)
{
	struct step **old = all->slots;
	size_t room = all->room;

	all->room = room ? 2 * room : SLOTS_MIN;
	all->slots = mem_zalloc(all->room, sizeof(*all->slots));
	for (size_t i = 0; i < room; i++) {
		struct step *s = old[i];

		if (s)
			all->slots[slot(all, s->space, s->start, s->from, s->to)] = s;
	}
	free(old);
}

struct step *steps_add(struct steps *all, uint32_t space, uint64_t start, uint64_t from,
		       uint64_t to)
{
	struct step *s;

	if (2 * all->nr >= all->room)
		more_slots(all);
	if (all->nr == all->nr_slabs * STEP_SLAB) {
		all->slabs = mem_realloc(all->slabs, all->nr_slabs + 1, sizeof(*all->slabs));
		all->slabs[all->nr_slabs] = mem_alloc(STEP_SLAB * sizeof(*s));
		all->nr_slabs++;
	}
	s = &all->slabs[all->nr / STEP_SLAB][all->nr % STEP_SLAB];
	all->nr++;
	*s = (struct step) { .start = start, .from = from, .to = to, .space = space };
	all->slots[slot(all, space, start, from, to)] = s;
	return s;
}

void steps_clear(struct steps *all, void (*fold)(void *ctx, struct step *step), void *ctx)
{
	for (size_t i = 0; fold && i < all->nr; i++)
		fold(ctx, &all->slabs[i / STEP_SLAB][i % STEP_SLAB]);
	for (size_t i = 0; i < all->nr_slabs; i++)
		free(all->slabs[i]);
	free(all->slabs);
	free(all->slots);
	*all = (struct steps) {};
}

static const enum branch_kind kinds[] = {
	[INSN_NONE]	= BRANCH_UNKNOWN,
	[INSN_OTHER]	= BRANCH_INTERRUPT,
	[INSN_COND]	= BRANCH_COND,
	[INSN_JUMP]	= BRANCH_JUMP,
	[INSN_JUMP_IND]	= BRANCH_JUMP_IND,
	[INSN_CALL]	= BRANCH_CALL,
	[INSN_CALL_IND]	= BRANCH_CALL_IND,
	[INSN_RET]	= BRANCH_RET,
	[INSN_SYSCALL]	= BRANCH_SYSCALL,
	[INSN_SYSRET]	= BRANCH_SYSRET,
	[INSN_INT]	= BRANCH_SYSCALL,
	[INSN_IRET]	= BRANCH_IRET,
	[INSN_FAR]	= BRANCH_FAR,
};

uint32_t branch_kind_at(struct object *o, uint64_t addr, enum branch_kind *kind)
{
	enum insn_kind found;
	uint64_t target;
	uint32_t length = code_insn(o->code, addr, &found, &target);

	*kind = length && found != INSN_OTHER ? kinds[found] : BRANCH_UNKNOWN;
	return length;
}

static bool begins_with(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * Report whether @to is an address at which interrupts or exceptions can enter the kernel: the
 * start of a function, or of a stub in a table of stubs.
 */
static bool is_gate(const struct place *to)
{
	static const char *const names[] = {
		"asm_exc_", "asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
		"asm_fred_", "xen_asm_exc_",
	};
	static const char *const tables[] = {
		"irq_entries_start", "spurious_entries_start", "early_idt_handler_array",
	};
	uint64_t offset = to->addr - to->sym->addr;

	if (!offset)
		return begins_with(to->sym->name, names, ARRAY_SIZE(names)) ||
		       begins_with(to->sym->name, tables, ARRAY_SIZE(tables));
	return offset % 8 == 0 && begins_with(to->sym->name, tables, ARRAY_SIZE(tables));
}

/*
 * With FRED, system calls, interrupts and exceptions enter the kernel at the same address. If a
 * branch to this address comes from a system call instruction, assume a system call.
 */
static bool is_fred_entry(const struct place *to)
{
	return !strcmp(to->sym->name, "asm_fred_entrypoint_user") && to->addr == to->sym->addr;
}

static enum branch_kind kind_without_code(const struct step *s)
{
	if (!is_kernel(s->from) && is_kernel(s->to))
		return is_gate(&s->at_to) ? BRANCH_INTERRUPT : BRANCH_SYSCALL;
	if (is_kernel(s->from) && !is_kernel(s->to))
		return BRANCH_EXIT;
	if (is_kernel(s->from) && is_gate(&s->at_to) && s->at_from.sym != s->at_to.sym)
		return BRANCH_INTERRUPT;
	/* Assume that a branch to the start of another function is a call. */
	if (s->at_to.sym != s->at_from.sym && s->at_to.sym->object->nr_syms &&
	    s->at_to.addr == s->at_to.sym->addr)
		return BRANCH_CALL;
	return BRANCH_UNKNOWN;
}

/* Guess the kind of an instruction that the kernel has patched since the branch was taken. */
static enum branch_kind kind_patched(struct step *s)
{
	s->length = 5;
	return s->at_to.addr == s->at_to.sym->addr ? BRANCH_CALL : BRANCH_JUMP;
}

/* Return true if the instruction at s->from cannot lead to s->to. */
static bool leads_elsewhere(const struct step *s, const struct run *run)
{
	int64_t bias = s->from - s->at_from.addr;

	if (run->target)
		return run->target + bias != s->to;
	return run->kind == INSN_OTHER;
}

/* Find the kind of the step from its branch instruction and its target address. */
static enum branch_kind kind_with_code(struct step *s, const struct run *run)
{
	enum branch_kind kind = kinds[run->kind];
	bool gate;

	s->length = run->length;
	if (!is_kernel(s->to) || (run->target && !leads_elsewhere(s, run)))
		return kind;
	gate = is_gate(&s->at_to);
	if (!is_kernel(s->from))
		return kind == BRANCH_SYSCALL && (!gate || is_fred_entry(&s->at_to)) ?
		       kind : BRANCH_INTERRUPT;
	if (gate)
		return BRANCH_INTERRUPT;
	if (!leads_elsewhere(s, run))
		return kind;
	return s->at_to.sym->object->nr_syms ? kind_patched(s) : BRANCH_INTERRUPT;
}

/* Report whether the step ends with a static call, for example in a tracepoint. */
static bool is_static_call(const struct step *s, const struct run *run)
{
	const char *name;

	if (run->kind != INSN_CALL && run->kind != INSN_JUMP)
		return false;
	name = object_sym(s->at_from.sym->object, run->target)->name;
	return s->at_to.addr == s->at_to.sym->addr &&
	       (!strncmp(name, "__traceiter_", 12) || !strncmp(name, "__SCT__", 7));
}

/*
 * Report whether the branch contradicts the instruction at its source. If so, the code that ran was
 * not the decoded code, or the record is wrong. Return false if the kernel may have patched the
 * instruction: what is a nop now may have been a jump or a call when the branch was taken.
 */
static bool contradicts(const struct step *s, const struct run *run)
{
	struct object *o = s->at_from.sym->object;

	if (!is_kernel(s->to))
		return leads_elsewhere(s, run);
	if (!is_kernel(s->from) || s->kind == BRANCH_INTERRUPT)
		return false;
	return leads_elsewhere(s, run) && !code_patchable(o, s->at_from.addr) &&
	       !is_static_call(s, run) &&
	       !object_changed(o, s->at_from.addr, run->length);
}

/* Decode the instructions from s->start to s->from. */
static enum run_verdict find_run(struct step *s, bool near, struct run *run)
{
	struct object *o = s->at_from.sym->object;
	enum run_verdict verdict = RUN_IMPOSSIBLE;

	if (s->at_start.sym->object->code == o->code &&
	    s->start - s->at_start.addr == s->from - s->at_from.addr)
		verdict = code_run(o, s->at_start.addr, s->at_from.addr, run);
	if (verdict != RUN_IMPOSSIBLE)
		return verdict;
	/* No path leads from s->start to s->from. Decode only the branch, to find its kind. */
	if (code_run(o, s->at_from.addr, s->at_from.addr, run) == RUN_UNKNOWN && near)
		return RUN_UNKNOWN;
	return RUN_IMPOSSIBLE;
}

void step_resolve(struct step *s, bool near)
{
	struct run run = {};

	switch (find_run(s, near, &run)) {
	case RUN_UNKNOWN:
		s->kind = kind_without_code(s);
		s->flags |= STEP_BLIND;
		return;
	case RUN_IMPOSSIBLE:
		s->flags |= STEP_GAP;
		s->at_start = s->at_from;
		break;
	case RUN_DONE:
		break;
	}
	if (run.kind == INSN_NONE) {
		s->kind = kind_without_code(s);
		s->flags |= STEP_BLIND;
		return;
	}
	s->kind = kind_with_code(s, &run);
	if (contradicts(s, &run)) {
		s->flags |= STEP_GAP;
		s->at_start = s->at_from;
		run.insns = 0;
	}
	s->insns = run.insns + (s->kind != BRANCH_INTERRUPT);
}
