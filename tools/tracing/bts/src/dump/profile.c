// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles from which compilers optimize a file, as if its CPU had recorded last branches:
 *
 *	profgen	for llvm-profgen --unsymbolized-profile
 *	autofdo	for create_llvm_prof --profiler=text
 *
 * Both have straight runs and branches, with the addresses that the file was linked for:
 *
 *	2			how many runs follow
 *	401000-401016:100	first and last instruction, how often
 *	401018-401020:99
 *	0			autofdo alone: how many addresses follow
 *	1			how many branches follow
 *	401016->401018:99	how often taken
 *
 * Runs and branches of several traces add, if the file is of the same build in all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/tally.h"
#include "lib/msg.h"
#include "dump.h"

/**
 * struct profile - sums of a file
 * @pipe:	the trace that is read now
 * @object:	the file, in it; NULL if it is the kernel
 * @bias:	what is to be subtracted from the addresses of the kernel
 * @build_id:	of the file in the first trace
 * @runs:	key: first and last instruction
 * @branches:	key: from and to
 * @last:	of the run that is walked: the instruction before the last one
 */
struct profile {
	struct dump	*dump;
	struct pipe	*pipe;
	struct object	*object;
	uint64_t	bias;
	uint8_t		build_id[BUILD_ID_MAX];
	uint32_t	build_id_size;
	struct tally	runs;
	struct tally	branches;
	uint64_t	last;
};

static void add(struct tally *t, const struct profile *p, uint64_t a, uint64_t b, uint64_t count)
{
	struct tally_key key = { .a = p, .a_addr = a - p->bias, .b_addr = b - p->bias };

	tally_get(t, &key)->branches += count;
}

/* The file is the first object of its name in the trace. */
static bool is_ours(struct profile *p, const struct place *place)
{
	const struct options *options = p->pipe->options;
	struct object *o = place->sym->object;

	if (!options->dso || !strcmp(options->dso, "[kernel]"))
		return o->kernel;
	if (!p->object && !o->kernel && object_is_named(o, options->dso))
		p->object = o;
	return o == p->object;
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct profile *p = ctx;

	(void)sym;
	(void)length;
	p->last = addr;
}

/* An interrupt ends the run before the instruction from which it comes. */
static void fold(void *ctx, struct step *s)
{
	struct profile *p = ctx;

	if (!s->count || !(s->flags & STEP_SHOWN) || (s->flags & STEP_BLIND) ||
	    !is_ours(p, &s->at_from))
		return;
	if (step_each(p->pipe, s, one_insn, p))
		add(&p->runs, p, s->at_start.addr, p->last, s->count);
	if (s->kind != BRANCH_INTERRUPT && is_ours(p, &s->at_to))
		add(&p->branches, p, s->at_from.addr, s->at_to.addr, s->count);
}

static int by_addr(const void *left, const void *right)
{
	const struct tally_key *l = &((const struct tally_entry *)left)->key;
	const struct tally_key *r = &((const struct tally_entry *)right)->key;

	if (l->a_addr != r->a_addr)
		return l->a_addr < r->a_addr ? -1 : 1;
	return l->b_addr < r->b_addr ? -1 : l->b_addr > r->b_addr;
}

static void print(FILE *out, const struct tally *t, const char *between)
{
	struct tally_entry *list = tally_sorted(t, by_addr);

	fprintf(out, "%zu\n", t->nr);
	for (size_t i = 0; i < t->nr; i++)
		fprintf(out, "%llx%s%llx:%llu\n", (unsigned long long)list[i].key.a_addr, between,
			(unsigned long long)list[i].key.b_addr,
			(unsigned long long)list[i].branches);
	free(list);
}

/* Addresses of another build mean other code. */
static bool same_build(struct profile *p, const char *path)
{
	const struct object *o = p->object;

	if (!o)
		return true;
	if (!p->build_id_size) {
		memcpy(p->build_id, o->build_id, o->build_id_size);
		p->build_id_size = o->build_id_size;
	}
	if (p->build_id_size == o->build_id_size &&
	    !memcmp(p->build_id, o->build_id, o->build_id_size))
		return true;
	msg_error("add", path, "%s is of another build there", o->path);
	return false;
}

static int read_trace(struct profile *p, struct pipe *pipe, const char *path)
{
	int status;

	p->pipe = pipe;
	p->object = NULL;
	p->bias = pipe->objects.kernel->debug_path ? pipe->objects.kernel->debug_bias : 0;
	if (pipe->options->dso && strcmp(pipe->options->dso, "[kernel]"))
		p->bias = 0;
	pipe->consumer = (struct consumer) { .ctx = p, .fold = fold };
	status = pipe_run(pipe);
	return !status && !same_build(p, path) ? STATUS_FAILURE : status;
}

static int read_more(struct profile *p, const char *path)
{
	const struct dump *d = p->dump;
	struct pipe pipe = {};
	int status, closed;

	if (!pipe_open(&pipe, path, d->pipe.options))
		return STATUS_FAILURE;
	status = read_trace(p, &pipe, path);
	pipe_bill(&pipe, d->out == stdout ? stderr : stdout);
	closed = pipe_close(&pipe);
	return status ? status : closed;
}

static int dump_profile(struct dump *d, bool addresses)
{
	struct profile p = { .dump = d };
	int status = read_trace(&p, &d->pipe, d->pipe.options->path);

	for (int i = 0; i < d->nr_more && !status; i++)
		status = read_more(&p, d->more[i]);
	if (!status && !p.runs.nr)
		status = msg_error("dump", d->pipe.options->dso, "no branch of it");
	if (!status) {
		print(d->out, &p.runs, "-");
		if (addresses)
			fputs("0\n", d->out);
		print(d->out, &p.branches, "->");
	}
	tally_free(&p.runs);
	tally_free(&p.branches);
	return status;
}

int dump_profgen(struct dump *d)
{
	return dump_profile(d, false);
}

int dump_autofdo(struct dump *d)
{
	return dump_profile(d, true);
}
