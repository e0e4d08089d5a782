// SPDX-License-Identifier: GPL-2.0-only
/*
 * One pass of bts diff over one trace.
 *
 * A branch is a number made of its ends as their files count addresses, so that it is
 * the same wherever the file was loaded. What depends on chance is left out: interrupts,
 * exceptions and the ways back from them; and, unless asked for, the kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "diff.h"

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

static uint64_t mix_place(uint64_t h, const struct place *place)
{
	const char *name = place->sym->object->name;

	for (; *name; name++)
		h = mix(h, (unsigned char)*name);
	return mix(h, place->addr);
}

/* Of a way into the kernel, where from; of one within user space, both ends. */
static uint64_t step_number(const struct step *s)
{
	uint64_t h = mix_place(1, &s->at_from);

	if (!is_kernel(s->from) && is_kernel(s->to))
		return h;
	return mix_place(h, &s->at_to);
}

static bool counts(const struct diff_trace *r, const struct step *s)
{
	if (!(s->flags & STEP_SHOWN))
		return false;
	if (r->all)
		return true;
	if (is_kernel(s->from))
		return false;
	return !is_kernel(s->to) || s->kind == BRANCH_SYSCALL;
}

static const struct calls_ops no_ops;

/* Of a task: its track, by the order in which tasks appear. */
static struct track *track_of(struct diff_trace *r, struct task *t)
{
	struct calls *c = calls_of(&r->pipe, t, &no_ops, r);
	struct track *track = c->node;

	if (track)
		return track;
	if (r->seen == r->nr_tracks) {
		r->tracks = mem_realloc(r->tracks, r->nr_tracks + 1, sizeof(*r->tracks));
		track = mem_zalloc(1, sizeof(*track));
		track->parts_at = UINT64_MAX;
		r->tracks[r->nr_tracks++] = track;
	}
	track = r->tracks[r->seen++];
	track->pid = t->pid;
	track->nr = 0;
	c->node = track;
	return track;
}

static void add_mark(struct track *t)
{
	size_t nr = t->nr_marks;

	if (!(nr & (nr - 1)))
		t->marks = mem_realloc(t->marks, nr ? 2 * nr : 1, sizeof(*t->marks));
	t->marks[t->nr_marks++] = t->hash;
}

static void describe(struct track *t, struct calls *c, const struct step *s)
{
	char from[1024], to[1024];
	size_t size;
	FILE *out;

	place_text(from, sizeof(from), &s->at_from, s->from);
	place_text(to, sizeof(to), &s->at_to, s->to);
	t->where = mem_format("%s -> %s  %s", from, to, branch_kind_names[s->kind]);
	out = open_memstream(&t->stack, &size);
	if (!out)
		return;
	for (uint32_t i = 0; i < c->now.depth; i++)
		fprintf(out, "%s%s", i ? " > " : "", c->now.frames[i].sym->name);
	if (c->guessed)
		fputs(" (stack guessed)", out);
	fclose(out);
}

static int branch(void *ctx, struct task *task, struct step *s, uint64_t ts)
{
	struct diff_trace *r = ctx;
	struct track *t;
	uint64_t at;

	if (r->pass == PASS_STACK)
		calls_step(calls_of(&r->pipe, task, &no_ops, r), s, ts);
	if (!counts(r, s))
		return 0;
	t = track_of(r, task);
	if (!s->priv)
		s->priv = (void *)step_number(s);
	at = t->nr++;
	memcpy(t->comm, task->comm, sizeof(t->comm));
	switch (r->pass) {
	case PASS_MARKS:
		t->hash = mix(t->hash, (uint64_t)s->priv);
		if (t->nr % DIFF_WINDOW == 0)
			add_mark(t);
		break;
	case PASS_WINDOW:
		if (at >= t->window_at && at - t->window_at < DIFF_WINDOW)
			t->window[at - t->window_at] = (uint64_t)s->priv;
		break;
	case PASS_STACK:
		if (at == t->parts_at)
			describe(t, calls_of(&r->pipe, task, &no_ops, r), s);
		break;
	}
	return 0;
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct diff_trace *r = ctx;

	if (t && r->pass == PASS_STACK)
		calls_row(calls_of(&r->pipe, t, &no_ops, r), row);
	return 0;
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct tally_entry *total = ctx;
	struct tally_key key = { .a = sym };
	struct diff_trace *r = total->self;

	(void)addr;
	(void)length;
	tally_get(&r->tally, &key)->insns += total->insns;
}

static void fold(void *ctx, struct step *s)
{
	struct diff_trace *r = ctx;
	struct tally_key key = { .a = s->at_to.sym };
	struct tally_entry total = { .insns = s->count, .self = r };

	if (!s->count || !(s->flags & STEP_SHOWN) || r->pass != PASS_MARKS ||
	    (is_kernel(s->from) && !r->all))
		return;
	step_each(&r->pipe, s, one_insn, &total);
	if (s->kind == BRANCH_CALL || s->kind == BRANCH_CALL_IND)
		tally_get(&r->tally, &key)->calls += s->count;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct function *)left)->name,
		      ((const struct function *)right)->name);
}

/* The names outlive the pipe. Functions of the same name in a file are one. */
static void keep_functions(struct diff_trace *r)
{
	size_t nr = 0;

	r->functions = mem_zalloc(r->tally.nr, sizeof(*r->functions));
	for (size_t i = 0; i < r->tally.room; i++) {
		const struct tally_entry *e = &r->tally.slots[i];
		const struct sym *sym = e->key.a;

		if (!sym)
			continue;
		r->functions[nr].name = mem_format("%s  (%s)", sym->name, sym->object->name);
		r->functions[nr].insns = e->insns;
		r->functions[nr++].calls = e->calls;
	}
	if (nr)
		qsort(r->functions, nr, sizeof(*r->functions), by_name);
	for (size_t i = 0; i < nr; i++) {
		struct function *f = &r->functions[i], *last = f;

		if (r->nr_functions)
			last = &r->functions[r->nr_functions - 1];
		if (r->nr_functions && !strcmp(last->name, f->name)) {
			last->insns += f->insns;
			last->calls += f->calls;
			free(f->name);
		} else {
			r->functions[r->nr_functions++] = *f;
		}
	}
	tally_free(&r->tally);
}

int diff_pass(struct diff_trace *r, enum diff_pass pass, const struct options *options)
{
	int status, closed;

	r->pass = pass;
	r->seen = 0;
	r->pipe = (struct pipe) {
		.consumer = { .ctx = r, .branch = branch, .row = row, .fold = fold },
	};
	if (!pipe_open(&r->pipe, r->path, options))
		return STATUS_FAILURE;
	r->opened = true;
	status = pipe_run(&r->pipe);
	for (struct task *t = r->pipe.tasks; t; t = t->list_next)
		calls_free(t);
	if (pass == PASS_MARKS) {
		keep_functions(r);
		for (size_t i = 0; i < r->nr_tracks; i++)
			r->tracks[i]->total = r->tracks[i]->nr;
		pipe_bill(&r->pipe, stdout);
	}
	closed = pipe_close(&r->pipe);
	return status ? status : closed;
}

void diff_free(struct diff_trace *r)
{
	for (size_t i = 0; i < r->nr_tracks; i++) {
		free(r->tracks[i]->marks);
		free(r->tracks[i]->window);
		free(r->tracks[i]->where);
		free(r->tracks[i]->stack);
		free(r->tracks[i]);
	}
	for (size_t i = 0; i < r->nr_functions; i++)
		free(r->functions[i].name);
	free(r->functions);
	free(r->tracks);
}
