// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pipeline merges the streams of the CPUs, follows each task, and counts its steps.
 *
 *	stream of CPU 0 --.  by time   batches of one task   steps
 *	stream of CPU 1 ---+--------> tasks --------------> table --> consumer
 *	stream of CPU 2 --'
 *
 * A task runs on one CPU at a time, and its branches are written to the CPU's stream before the
 * task moves to another CPU. So merging the streams by time puts the branches of each task in
 * order. (The idle tasks of all CPUs have PID 0, but are different tasks; see task_get().) The
 * pipeline handles each branch of a batch after all older branches and rows of the other streams.
 *
 * Each step points to the step that followed it last time, as a guess of what follows next time.
 * If the next branch does not match this guess, next_step() looks up the step of the branch.
 *
 * After a loss, the position of a task is unknown, so its next straight run has an unknown start.
 * The lost branches may belong to several tasks. So a loss on a CPU affects each task whose last
 * branch before the loss, or first branch after the loss, is on this CPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/mem.h"
#include "lib/sorted.h"
#include "symbols/code.h"
#include "private.h"

/* The maximum number of steps. When the table is full, all its steps are passed to fold(). */
#define STEPS_MAX	(1U << 20)

/* If the code is unknown, assume that a straight run has fewer bytes than this. */
#define NEAR		0x10000

/* @guess is a mapping that probably contains the address, or NULL. */
static void find_spot(const struct pipe_private *v, struct space *space, uint64_t addr,
		      const struct map *guess, struct spot *spot)
{
	if (!is_kernel(addr) && !v->by_address) {
		space_spot(&v->spaces, space, addr, guess, spot);
		return;
	}
	spot->addr = addr;
	spot->file = FILE_NONE;
	spot->map = is_kernel(addr) || !space ? NULL : space_find(space, addr);
}

static struct place place_of(const struct pipe_private *v, const struct spot *spot, uint64_t addr)
{
	const struct objects *objects = &v->pipe->objects;
	struct place place = { .addr = addr, .sym = &objects->nowhere->whole };

	if (is_kernel(addr)) {
		place.sym = object_sym(objects->kernel, addr);
	} else if (spot->map) {
		place.addr = addr - spot->map->bias;
		place.sym = object_sym(spot->map->object, place.addr);
	}
	return place;
}

struct place place_find(struct pipe *p, struct task *task, uint64_t addr)
{
	struct spot spot;

	find_spot(p->private, task->space, addr, NULL, &spot);
	return place_of(p->private, &spot, addr);
}

uint64_t pipe_addr(const struct pipe *p, const struct task *task, uint64_t addr)
{
	if (is_kernel(addr))
		return addr;
	return space_addr(&p->private->spaces, task ? task->space : NULL, addr);
}

uint64_t pipe_step_addr(const struct pipe *p, const struct task *task, uint64_t addr)
{
	struct spot spot;

	find_spot(p->private, task->space, addr, NULL, &spot);
	return spot.addr;
}

struct step pipe_step(const struct pipe *p, const struct task *task, const struct step *s)
{
	struct step copy = *s;

	copy.start = pipe_addr(p, task, s->start);
	copy.from = pipe_addr(p, task, s->from);
	copy.to = pipe_addr(p, task, s->to);
	return copy;
}

static void forget_steps(struct pipe_private *v)
{
	struct consumer *c = &v->pipe->consumer;

	for (struct task *t = v->pipe->tasks; t; t = t->list_next)
		t->step = NULL;
	steps_clear(&v->steps, c->fold, c->ctx);
}

/* The instructions before a branch begin at t->at, at an unknown address, or at t->resume. */
enum origin { ORIGIN_RUN, ORIGIN_HEAD, ORIGIN_RESUME };

/*
 * If only one side (user space or the kernel) is recorded, missing branches on the other side are
 * not a gap. With the option bts-cpl-filter, the CPU also leaves out all crossings in one
 * direction. (The SDM does not say which.) In a trace of user space, a missing branch out of the
 * kernel is not a gap, because the branch into the kernel shows where the program will continue
 * (t->resume). But a missing branch into the kernel is a gap, because its source is unknown.
 */
static enum origin origin_of(const struct pipe_private *v, const struct task *t,
			     uint64_t from, uint64_t to)
{
	bool at_kernel = is_kernel(t->at), from_kernel = is_kernel(from);

	if (!t->known)
		return ORIGIN_HEAD;
	if (at_kernel != from_kernel) {
		if (at_kernel && !v->seen_kernel && t->resume)
			return ORIGIN_RESUME;
		if (!at_kernel && !v->seen_kernel && !is_kernel(to))
			return ORIGIN_RUN;
		return v->seen_kernel && v->seen_user ? ORIGIN_RUN : ORIGIN_HEAD;
	}
	if (at_kernel && !v->seen_kernel && !is_kernel(to))
		return ORIGIN_HEAD;
	if (!at_kernel && !v->seen_user && is_kernel(to))
		return ORIGIN_HEAD;
	return ORIGIN_RUN;
}

static bool step_shown(const struct pipe_private *v, const struct step *s)
{
	const struct options *o = v->pipe->options;
	bool kernel = is_kernel(s->from) && is_kernel(s->to);
	bool user = !is_kernel(s->from) && !is_kernel(s->to);

	if ((o->user && kernel) || (o->kernel && user))
		return false;
	if (o->dso && !object_is_named(s->at_from.sym->object, o->dso) &&
	    !object_is_named(s->at_to.sym->object, o->dso))
		return false;
	if (o->from && !options_match_place(&s->at_from, s->from, o->from))
		return false;
	return !o->to || options_match_place(&s->at_to, s->to, o->to);
}

bool pipe_signal(struct pipe *p, struct task *task, const struct row *row, struct step *s)
{
	if (row->type != ROW_SIGNAL)
		return false;
	*s = (struct step) {
		.from = row->from, .to = row->to, .count = 1, .diverted = 1, .kind = BRANCH_EXIT,
		.at_from = place_find(p, task, row->from), .at_to = place_find(p, task, row->to),
	};
	return step_shown(p->private, s);
}

/* The addresses of a straight run and its branch, and the mapping of each address. */
struct way {
	struct branch	branch;
	uint64_t	start;
	struct spot	at_start;
	struct spot	at_from;
	struct spot	at_to;
};

static struct step *new_step(struct pipe_private *v, uint32_t space, const struct way *w)
{
	struct step *s;

	if (v->steps.nr >= STEPS_MAX)
		forget_steps(v);
	s = steps_add(&v->steps, space, w->at_start.addr, w->at_from.addr, w->at_to.addr);
	s->from_file = w->at_from.file;
	s->to_file = w->at_to.file;
	s->at_start = place_of(v, &w->at_start, w->start);
	s->at_from = place_of(v, &w->at_from, w->branch.from);
	s->at_to = place_of(v, &w->at_to, w->branch.to);
	step_resolve(s, w->start <= w->branch.from && w->branch.from - w->start < NEAR);
	if (s->kind == BRANCH_SYSCALL && code_is_sigreturn(s->at_from.sym->object, s->at_from.addr))
		s->flags |= STEP_SIGRETURN;
	if (step_shown(v, s)) {
		s->flags |= STEP_SHOWN;
		v->shown = true;
	}
	return s;
}

/* Report whether @addr is a user address that is not shared between processes (see space.h). */
static bool is_own(uint64_t addr, const struct spot *spot)
{
	return !is_kernel(addr) && spot->file == FILE_NONE;
}

struct step *step_from(struct pipe_private *v, struct task *t, uint64_t start,
		       const struct branch *b)
{
	uint32_t space = 0;
	struct step *s;
	struct way w;

	if ((!is_kernel(start) || !is_kernel(b->from) || !is_kernel(b->to)) &&
	    (!t->space || !t->tgid_known))
		task_find_space(v, t, b);
	find_spot(v, t->space, start, NULL, &w.at_start);
	find_spot(v, t->space, b->from, w.at_start.map, &w.at_from);
	find_spot(v, t->space, b->to, w.at_from.map, &w.at_to);
	if (t->space && (is_own(start, &w.at_start) || is_own(b->from, &w.at_from) ||
			 is_own(b->to, &w.at_to)))
		space = t->space->id;
	s = steps_find(&v->steps, space, w.at_start.addr, w.at_from.addr, w.at_to.addr);
	if (s)
		return s;
	w.branch = *b;
	w.start = start;
	return new_step(v, space, &w);
}

/* Find or create the step that ends with this branch. */
static struct step *next_step(struct pipe_private *v, struct task *t,
			      const struct branch *b)
{
	enum origin origin = origin_of(v, t, b->from, b->to);
	uint64_t start = t->at;
	struct step *s, *last;

	if (origin == ORIGIN_HEAD)
		start = b->from;
	else if (origin == ORIGIN_RESUME)
		start = t->resume;
	s = step_from(v, t, start, b);
	/* Read t->step now, because step_from() may free all steps and set t->step to NULL. */
	last = t->step;
	if (origin == ORIGIN_HEAD && !s->count)
		s->flags |= STEP_HEAD;
	v->seen_kernel |= is_kernel(b->from) && is_kernel(b->to);
	v->seen_user |= !is_kernel(b->from) && !is_kernel(b->to);
	if (last && start == t->at)
		last->next = s;
	return s;
}

/*
 * Return where user space continues: after an interrupt or exception, at @from; after a system
 * call, at the next instruction; after rt_sigreturn(), at the code that the signal interrupted.
 */
static uint64_t resume_at(struct task *t, const struct step *s, uint64_t from)
{
	if ((s->flags & STEP_SIGRETURN) && t->nr_interrupted)
		return t->interrupted[--t->nr_interrupted];
	return s->kind == BRANCH_SYSCALL ? from + s->length : from;
}

/* The task enters or leaves the kernel. */
static void change_side(struct task *t, struct step *s, const struct branch *b)
{
	if (is_kernel(b->to)) {
		t->resume = resume_at(t, s, b->from);
		return;
	}
	if (b->to == t->resume)
		return;
	s->diverted++;
	if (s->at_to.addr == s->at_to.sym->addr)
		task_interrupt(t, t->resume);
}

static int gap_row(struct pipe_private *v, struct task *t, const struct step *s,
		   uint64_t ts)
{
	struct row row = {
		.type = ROW_GAP, .cpu = t->cpu, .ts = ts,
		.from = pipe_addr(v->pipe, t, s->start), .to = pipe_addr(v->pipe, t, s->from),
	};

	v->pipe->bill.gaps++;
	return pipe_row(v, t, &row);
}

static int unusual(struct pipe_private *v, struct task *t, const struct step *s,
		   uint64_t ts)
{
	/* Count runs whose code is not available. (A step with STEP_HEAD contains no run.) */
	if ((s->flags & (STEP_BLIND | STEP_HEAD)) == STEP_BLIND)
		v->pipe->bill.blind++;
	return s->flags & STEP_GAP ? gap_row(v, t, s, ts) : 0;
}

/* Report whether the predicted step @next matches the branch @b in this process. */
static inline bool is_next(const struct step *next, const struct branch *b, const uint64_t *biases,
			   uint32_t space)
{
	return next && next->from + biases[next->from_file] == b->from &&
	       next->to + biases[next->to_file] == b->to &&
	       (!next->space || next->space == space);
}

static int pipe_branches(struct pipe_private *v, struct task *t, const struct batch *b,
			 uint32_t begin, uint32_t end)
{
	struct consumer *c = &v->pipe->consumer;
	struct step *s = t->step, *next;
	const uint64_t *biases = space_biases(&v->spaces, t->space);
	uint32_t space = t->space ? t->space->id : 0;
	uint64_t before = t->branches;
	int ret = 0;

	for (uint32_t i = begin; i < end && !ret; i++) {
		const struct branch *br = &b->branch[i];

		next = s ? s->next : NULL;
		if (!is_next(next, br, biases, space)) {
			t->step = s;
			next = next_step(v, t, br);
			biases = space_biases(&v->spaces, t->space);
			space = t->space ? t->space->id : 0;
		}
		s = next;
		if (v->pipe->user_only && (s->flags & STEP_GAP)) {
			t->step = NULL;
			next = infer_way(v, t, br, b->times[i], &ret);
			s = next ? next : next_step(v, t, br);
		}
		t->at = br->to;
		t->known = true;
		if (is_kernel(br->to) != is_kernel(br->from))
			change_side(t, s, br);
		if (!ret && (s->flags & (STEP_GAP | STEP_BLIND)))
			ret = unusual(v, t, s, b->times[i]);
		/* If the consumer needs no more branches, do not count this branch. */
		if (ret)
			break;
		s->count++;
		t->branches++;
		if (c->branch)
			ret = c->branch(c->ctx, t, s, b->times[i]);
	}
	t->step = s;
	v->pipe->bill.branches += t->branches - before;
	return ret;
}

static bool in_time(const struct pipe_private *v, uint64_t ts)
{
	return ts >= v->time_from && ts <= v->time_to;
}

static void hide_branches(struct task *t)
{
	t->hidden++;
	t->known = false;
	t->step = NULL;
}

/*
 * Of the branches of a batch, deliver those that pass the filters on task, CPU and time. The reader
 * has already skipped some branches outside the chosen time range; skip the rest here.
 */
static int deliver_branches(struct pipe_private *v, struct batch *b, uint32_t begin, uint32_t end)
{
	struct task *t;
	int ret;

	if (b->times[end - 1] < v->time_from || b->times[begin] > v->time_to)
		return 0;
	t = task_get(v, b->pid, b->cpu);
	task_is_on(v, t, b->cpu);
	if (!t->chosen || !options_want_cpu(v->pipe->options, b->cpu)) {
		hide_branches(t);
		return 0;
	}
	if (in_time(v, b->times[begin]) && in_time(v, b->times[end - 1])) {
		ret = task_lost(v, t, b->cpu, b->times[begin]);
		return ret ? ret : pipe_branches(v, t, b, begin, end);
	}
	for (uint32_t i = begin; i < end; i++) {
		if (!in_time(v, b->times[i])) {
			hide_branches(t);
			continue;
		}
		ret = task_lost(v, t, b->cpu, b->times[i]);
		ret = ret ? ret : pipe_branches(v, t, b, i, i + 1);
		if (ret)
			return ret;
	}
	return 0;
}

/* Return the index of the first branch later than @limit. The result is at least @begin + 1. */
static uint32_t older_part(const struct batch *b, uint32_t begin, uint64_t limit)
{
	size_t older;

	if (b->times[b->nr - 1] <= limit)
		return b->nr;
	older = sorted_upto(b->times + begin, b->nr - begin, sizeof(*b->times), limit);
	return begin + (older ? older : 1);
}

static uint64_t head_time(struct pipe_stream *s)
{
	struct batch *b = queue_peek(&s->reader.queue);

	if (!b)
		return UINT64_MAX;
	return b->type == BATCH_BRANCHES ? b->times[s->done] : b->ts;
}

/*
 * Return the stream with the oldest entry. Set *@limit to the earliest time in the other streams.
 * If only mappings remain (see DAT_MAPS), return NULL, because no later branch needs them.
 */
static struct pipe_stream *oldest(struct pipe_private *v, uint64_t *limit)
{
	struct pipe_stream *best = NULL;
	uint64_t best_time = UINT64_MAX;
	bool left = false;

	*limit = UINT64_MAX;
	for (size_t i = 0; i < v->nr_streams; i++) {
		struct pipe_stream *s = &v->streams[i];

		if (s->ended)
			continue;
		if (!s->time_known) {
			s->ended = !queue_peek(&s->reader.queue);
			s->time = head_time(s);
			s->time_known = true;
			if (s->ended)
				continue;
		}
		left |= !s->maps;
		if (!best || s->time < best_time) {
			*limit = best_time;
			best_time = s->time;
			best = s;
		} else if (s->time < *limit) {
			*limit = s->time;
		}
	}
	return left ? best : NULL;
}

static bool start_streams(struct pipe_private *v)
{
	for (size_t i = 0; i < v->dat->nr_cpus; i++) {
		v->nr_streams++;
		v->streams[i].maps = dat_cpu_is_maps(&v->dat->cpus[i]);
		if (!cpu_reader_start(&v->streams[i].reader, v->dat, &v->dat->cpus[i], &v->layout,
				      &v->pipe->error))
			return false;
	}
	return true;
}

void pipe_stop(struct pipe_private *v)
{
	for (size_t i = 0; i < v->nr_streams; i++)
		cpu_reader_stop(&v->streams[i].reader);
	v->nr_streams = 0;
}

static bool stream_failed(const struct pipe_private *v)
{
	for (size_t i = 0; i < v->dat->nr_cpus; i++)
		if (v->streams[i].reader.failed)
			return true;
	return false;
}

/* The number of batches between two progress reports. */
#define PROGRESS_BATCHES	64

static void tell_progress(const struct pipe_private *v)
{
	uint64_t done = 0, total = v->dat->data_size;

	for (size_t i = 0; i < v->nr_streams; i++)
		done += v->streams[i].position;
	if (done < total)
		v->pipe->progress(v->pipe->progress_ctx, done, total);
}

static int run_streams(struct pipe_private *v)
{
	struct pipe_stream *s;
	uint64_t limit, nr = 0;
	int ret = 0;

	while (!ret && (s = oldest(v, &limit))) {
		struct batch *b = queue_peek(&s->reader.queue);
		uint32_t end;

		s->time_known = false;
		s->position = b->position;
		if (v->pipe->progress && ++nr % PROGRESS_BATCHES == 0)
			tell_progress(v);
		if (b->type == BATCH_BRANCHES) {
			end = older_part(b, s->done, limit);
			ret = deliver_branches(v, b, s->done, end);
			s->done = end;
			if (end < b->nr)
				continue;
		} else {
			ret = pipe_other(v, b);
		}
		s->done = 0;
		queue_next(&s->reader.queue);
	}
	return ret;
}

/* Count tasks by PID, as bts record does: all idle tasks (PID 0) count as one task. */
static void count_tasks(struct pipe *p)
{
	bool idle = false;

	for (struct task *t = p->tasks; t; t = t->list_next) {
		p->bill.tasks += t->branches && t->pid;
		idle |= t->branches && !t->pid;
	}
	p->bill.tasks += idle;
}

int pipe_run(struct pipe *p)
{
	struct pipe_private *v = p->private;
	bool failed = true;

	v->time_from = p->options->time_from;
	v->time_to = p->options->time_given ? p->options->time_to : UINT64_MAX;
	v->by_address = options_by_address(p->options);
	v->dat->time_from = v->time_from;
	v->dat->time_to = v->time_to;
	/* A positive result is not a failure. It means that the consumer needs no more branches. */
	if (start_streams(v))
		failed = run_streams(v) < 0;
	pipe_stop(v);
	/* If the thread of a stream ran out of memory, the stream ended too early, so fail. */
	if (stream_failed(v))
		mem_fail();
	forget_steps(v);
	if (p->progress)
		p->progress(p->progress_ctx, v->dat->data_size, v->dat->data_size);
	if (v->departs)
		p->bill.switches = v->departures;
	count_tasks(p);
	pipe_check(p);
	return failed;
}

bool pipe_has_kernel(const struct pipe *p)
{
	return p->private->seen_kernel;
}
