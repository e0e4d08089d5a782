// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write profiles of one file: a program, a library or the kernel. Other tools create such profiles
 * from LBR samples. A profile contains all executed branches and straight runs (instructions up to
 * a taken branch) of the file, and how often each of them was executed.
 *
 *	-f profgen	unsymbolized profile for llvm-profgen; addresses as linked
 *	-f autofdo	text profile for create_llvm_prof; offsets in the file
 *	-f bolt-pa	pre-aggregated profile for perf2bolt -pa; addresses as linked
 *
 *	2		2		B 401136 401150 7 0
 *	401136-40114a:9	1136-114a:9	F 401136 40114a 9
 *	40114c-40114f:2	114c-114f:2	...
 *	1		0
 *	40114a->401136:7 1
 *			114a->1136:7
 *
 * A straight run ends with a taken branch, or with the last instruction before an interrupt.
 * Interrupts, system calls and the returns from them are not counted as branches.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/tally.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "dump.h"

/* This number stands for all addresses outside the profiled file. */
#define OUTSIDE	UINT64_MAX

/**
 * struct profile - counts, summed over all traces
 * @dump:	the format, and the current trace
 * @segments:	the segments of the file that contain code; @nr_segments is their number
 * @object:	the object that describes the profiled file in the current trace
 * @runs:	counts of straight runs of instructions, by first and last instruction
 * @branches:	counts of branches, by start and target address
 * @last:	the address of the last instruction in the straight run that fold() adds to @runs
 * @failed:	the current trace cannot be added, and a message was printed
 */
struct profile {
	struct dump	*dump;
	struct segment	*segments;
	size_t		nr_segments;
	struct object	*object;
	struct tally	runs;
	struct tally	branches;
	uint64_t	last;
	bool		failed;
};

/* Copy the segments only once, because the profiled file has the same build in all traces. */
static void set_segments(struct profile *p)
{
	const struct object *o = p->object;

	if (p->segments)
		return;
	if (o->kernel) {
		p->nr_segments = elf_code(o->debug_path, &p->segments);
		return;
	}
	p->segments = mem_alloc(o->nr_segments * sizeof(*p->segments));
	memcpy(p->segments, o->segments, o->nr_segments * sizeof(*p->segments));
	p->nr_segments = o->nr_segments;
}

/* Report whether the current trace can be added to the profile. If not, print a message. */
static bool usable(struct profile *p)
{
	const struct object *o = p->object;

	if (o->kernel && !o->debug_path) {
		msg_error("dump", o->path,
			  "this format needs the kernel's file; use --vmlinux FILE");
		return false;
	}
	if (!dump_same_build(p->dump, o))
		return false;
	set_segments(p);
	return true;
}

static bool wanted(struct profile *p, struct object *o)
{
	const struct options *options = p->dump->pipe.options;
	bool named = options->dso && object_is_named(o, options->dso);

	if (o == p->dump->pipe.objects.kernel ? !options->kernel && !named :
	    options->kernel || !named || !o->is_file)
		return false;
	if (!p->object) {
		p->object = o;
		p->failed = !usable(p);
	} else if (o != p->object && !p->failed) {
		msg_error("dump", options->dso, "these files have the same name: %s, %s",
			  p->object->path, o->path);
		p->failed = true;
	}
	return !p->failed;
}

static void add(struct profile *p, struct tally *t, uint64_t from, uint64_t to, uint64_t count)
{
	/* Member a of the key must not be NULL (tally.h), so set it to an arbitrary pointer. */
	struct tally_key key = { .a = p, .a_addr = from, .b_addr = to };
	uint64_t bias = p->object->kernel ? p->object->debug_bias : 0;

	key.a_addr -= from == OUTSIDE ? 0 : bias;
	key.b_addr -= to == OUTSIDE ? 0 : bias;
	tally_get(t, &key)->branches += count;
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct profile *p = ctx;

	(void)sym;
	(void)length;
	p->last = addr;
}

static bool by_code(const struct step *s)
{
	switch (s->kind) {
	case BRANCH_COND:
	case BRANCH_JUMP:
	case BRANCH_JUMP_IND:
	case BRANCH_CALL:
	case BRANCH_CALL_IND:
	case BRANCH_RET:
		return true;
	default:
		return false;
	}
}

static void fold(void *ctx, struct step *s)
{
	struct profile *p = ctx;
	bool from, to;

	if (!s->count || !(s->flags & STEP_SHOWN))
		return;
	from = wanted(p, s->at_from.sym->object);
	to = wanted(p, s->at_to.sym->object);
	if (from && !(s->flags & (STEP_GAP | STEP_HEAD | STEP_BLIND)) &&
	    wanted(p, s->at_start.sym->object) && step_each(&p->dump->pipe, s, one_insn, p))
		add(p, &p->runs, s->at_start.addr, p->last, s->count);
	if ((from || to) && by_code(s))
		add(p, &p->branches, from ? s->at_from.addr : OUTSIDE,
		    to ? s->at_to.addr : OUTSIDE, s->count);
}

int dump_profile(struct dump *d)
{
	struct profile *p = d->sums;
	int status;

	if (!p) {
		p = mem_zalloc(1, sizeof(*p));
		d->sums = p;
	}
	p->dump = d;
	p->object = NULL;
	p->failed = false;
	d->pipe.consumer = (struct consumer) { .ctx = p, .fold = fold };
	status = pipe_run(&d->pipe);
	return status || p->failed;
}

static int by_place(const void *left, const void *right)
{
	const struct tally_key *l = left, *r = right;

	if (l->a_addr != r->a_addr)
		return l->a_addr < r->a_addr ? -1 : 1;
	return l->b_addr < r->b_addr ? -1 : l->b_addr > r->b_addr;
}

typedef void (*print_fn)(const struct profile *p, uint64_t from, uint64_t to, uint64_t count);

static void print_all(const struct profile *p, const struct tally *t, print_fn print)
{
	struct tally_entry *list = tally_sorted(t, by_place);

	for (size_t i = 0; i < t->nr; i++)
		print(p, list[i].key.a_addr, list[i].key.b_addr, list[i].branches);
	free(list);
}

/* Print how many branches start and end in the profiled file. Then print these branches. */
static void print_branches(const struct profile *p, print_fn print)
{
	size_t outside = 0;

	for (size_t i = 0; i < p->branches.room; i++) {
		const struct tally_key *key = &p->branches.slots[i].key;

		outside += key->a && (key->a_addr == OUTSIDE || key->b_addr == OUTSIDE);
	}
	fprintf(p->dump->out, "%zu\n", p->branches.nr - outside);
	print_all(p, &p->branches, print);
}

static void end(struct profile *p)
{
	if (!p)
		return;
	tally_free(&p->runs);
	tally_free(&p->branches);
	free(p->segments);
	free(p);
}

static void print_pair(const struct profile *p, const char *between, uint64_t from, uint64_t to,
		       uint64_t count)
{
	if (from != OUTSIDE && to != OUTSIDE)
		fprintf(p->dump->out, "%llx%s%llx:%llu\n", (unsigned long long)from, between,
			(unsigned long long)to, (unsigned long long)count);
}

static void print_run(const struct profile *p, uint64_t from, uint64_t to, uint64_t count)
{
	print_pair(p, "-", from, to, count);
}

static void print_branch(const struct profile *p, uint64_t from, uint64_t to, uint64_t count)
{
	print_pair(p, "->", from, to, count);
}

void dump_profgen_end(struct dump *d)
{
	struct profile *p = d->sums;

	if (p) {
		fprintf(d->out, "%zu\n", p->runs.nr);
		print_all(p, &p->runs, print_run);
		print_branches(p, print_branch);
	}
	end(p);
}

static uint64_t offset_of(const struct profile *p, uint64_t addr)
{
	for (size_t i = 0; i < p->nr_segments; i++) {
		const struct segment *s = &p->segments[i];

		if (addr >= s->vaddr && addr - s->vaddr < s->size)
			return addr - s->vaddr + s->offset;
	}
	return addr;
}

static void print_run_offset(const struct profile *p, uint64_t from, uint64_t to, uint64_t count)
{
	print_run(p, offset_of(p, from), offset_of(p, to), count);
}

static void print_branch_offset(const struct profile *p, uint64_t from, uint64_t to,
				uint64_t count)
{
	print_branch(p, offset_of(p, from), offset_of(p, to), count);
}

/* The 0 after the straight runs means that no counts of single addresses follow. */
void dump_autofdo_end(struct dump *d)
{
	struct profile *p = d->sums;

	if (p) {
		fprintf(d->out, "%zu\n", p->runs.nr);
		print_all(p, &p->runs, print_run_offset);
		fputs("0\n", d->out);
		print_branches(p, print_branch_offset);
	}
	end(p);
}

static void print_place(FILE *out, uint64_t addr)
{
	if (addr == OUTSIDE)
		fputs("X:0 ", out);
	else
		fprintf(out, "%llx ", (unsigned long long)addr);
}

static void print_bolt_branch(const struct profile *p, uint64_t from, uint64_t to, uint64_t count)
{
	FILE *out = p->dump->out;

	fputs("B ", out);
	print_place(out, from);
	print_place(out, to);
	fprintf(out, "%llu 0\n", (unsigned long long)count);
}

static void print_bolt_run(const struct profile *p, uint64_t from, uint64_t to, uint64_t count)
{
	fprintf(p->dump->out, "F %llx %llx %llu\n", (unsigned long long)from,
		(unsigned long long)to, (unsigned long long)count);
}

void dump_bolt_pa_end(struct dump *d)
{
	struct profile *p = d->sums;

	if (p) {
		print_all(p, &p->branches, print_bolt_branch);
		print_all(p, &p->runs, print_bolt_run);
	}
	end(p);
}
