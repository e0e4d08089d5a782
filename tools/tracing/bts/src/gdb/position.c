// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the place where the run ends for gdb. The place is the end of the trace, a given time, or
 * the last event with a given name. Store the place as a number of branches and rows: run.c reads
 * the trace a second time, and stops after this number of branches and rows.
 *
 * gdb sees only one process. Unless the user chooses a process, gdb sees the process that ran last
 * before the end of the run. Idle tasks are never shown, because PID 0 means "any process" to gdb.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "gdb.h"

/**
 * struct search - the state of the first pass over the trace
 * @event:	the name of the event, or NULL
 * @until:	the time, in nanoseconds
 * @seen:	number of branches and rows so far
 * @last:	the task of the branch or row that note() stored last, or NULL
 */
struct search {
	struct gdb_session	*g;
	const char		*event;
	uint64_t		until;
	uint64_t		seen;
	struct task		*last;
};

static void note(struct search *s, struct task *t, uint64_t ts)
{
	s->g->stop = s->seen;
	s->g->ts = ts;
	s->last = t;
}

static bool is_wanted(const struct search *s, const struct task *t)
{
	return t->pid && (!s->g->tgid || t->tgid == s->g->tgid || t->pid == s->g->tgid);
}

static bool is_shown(const struct search *s, const struct step *step)
{
	return s->g->kernel || !is_kernel(step->from) || !is_kernel(step->to);
}

static int branch(void *ctx, struct task *t, struct step *step, uint64_t ts)
{
	struct search *s = ctx;

	if (ts > s->until)
		return 1;
	s->seen++;
	if (!is_wanted(s, t) || !is_shown(s, step))
		return 0;
	/* Mark that the task took a branch. row() ignores losses of a task without this mark. */
	t->priv = s;
	if (!s->event)
		note(s, t, ts);
	return 0;
}

/* Report whether the row is the event @event, which has the form EVENT or SYSTEM:EVENT. */
static bool is_event(const struct row *row, const char *event)
{
	const char *colon = strrchr(event, ':'), *name = colon ? colon + 1 : event;
	size_t length = strlen(name);

	return row->type == ROW_EVENT && !strncmp(row->text, name, length) &&
	       row->text[length] == ':';
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct search *s = ctx;

	if (row->ts > s->until)
		return 1;
	s->seen++;
	if (!t || !is_wanted(s, t))
		return 0;
	/* Without @event, the run may end with a loss after the last branch. gdb shows the loss. */
	if (s->event ? is_event(row, s->event) : row->type == ROW_LOST && t->priv)
		note(s, t, row->ts);
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct gdb_thread *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void find_threads(struct gdb_session *g, const struct task *last)
{
	int tid = last->pid;

	g->tgid = last->tgid;
	for (const struct task *t = g->pipe.tasks; t; t = t->list_next) {
		if (t->tgid != g->tgid || !t->branches)
			continue;
		g->threads = mem_realloc(g->threads, g->nr_threads + 1, sizeof(*g->threads));
		g->threads[g->nr_threads++] = (struct gdb_thread) { .tid = t->pid };
	}
	qsort(g->threads, g->nr_threads, sizeof(*g->threads), compare);
	for (size_t i = 0; i < g->nr_threads; i++)
		if (g->threads[i].tid == tid)
			g->current = &g->threads[i];
}

/* Parse @at. bts report rounds times to microseconds, so include rows up to 499 ns after @at. */
static void parse_at(struct search *s, const char *at)
{
	char *end;
	double seconds;

	s->until = UINT64_MAX;
	if (!at || !strcmp(at, "end"))
		return;
	seconds = strtod(at, &end);
	if (end != at && !*end && seconds >= 0 && seconds < 1e10)
		s->until = (uint64_t)(seconds * 1e9 + .5) + 499;
	else
		s->event = at;
}

static bool no_position(const struct search *s)
{
	const struct gdb_session *g = s->g;
	const char *side = g->kernel ? "" : " in user space";

	if (s->event)
		msg_error("find", s->event, "no such event in the trace%s",
			  g->tgid ? " of this process" : "");
	else if (g->tgid)
		msg_error("find", g->path, "no branch of process %d%s%s", g->tgid, side,
			  g->at ? " up to that time" : "");
	else
		msg_error("find", g->path, "no branch%s%s", side,
			  g->at ? " up to that time" : "");
	return false;
}

bool gdb_find_position(struct gdb_session *g)
{
	struct search s = { .g = g };
	bool done;

	parse_at(&s, g->at);
	g->pipe.consumer = (struct consumer) { .ctx = &s, .branch = branch, .row = row };
	if (!pipe_open(&g->pipe, g->path, &g->options))
		return false;
	done = !pipe_run(&g->pipe);
	if (done && !s.last)
		done = no_position(&s);
	if (done)
		find_threads(g, s.last);
	/* If the file is damaged, say so, but still show the part of the run before the damage. */
	pipe_close(&g->pipe);
	if (done && !g->current)
		msg_error("find", g->path, "the task of the --at event took no branch");
	return done && g->current;
}
