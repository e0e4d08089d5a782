// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the trace a second time, up to the place that position.c has found. Convert each thread's
 * branches to blocks (see gdb.h), and list the files that the process has mapped up to this place.
 *
 * A row for the mapping of the vDSO shows that exec() has replaced all mappings, so all mappings
 * that existed before exec() are removed. If exec() has started another program, earlier blocks are
 * dropped, because gdb can only handle one program. (The kernel also reports all mappings when
 * recording continues after a pause. In this case, the program has not changed.)
 */
#include <stdlib.h>
#include <string.h>

#include "lib/msg.h"
#include "gdb.h"

/* A dummy thread for all tasks that do not belong to the session's process. */
static struct gdb_thread none;

static struct gdb_thread *thread_of(struct gdb_session *g, struct task *t)
{
	if (t->priv)
		return t->priv;
	t->priv = &none;
	for (size_t i = 0; i < g->nr_threads; i++)
		if (g->threads[i].tid == t->pid)
			t->priv = &g->threads[i];
	return t->priv;
}

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct gdb_session *g = ctx;
	struct gdb_thread *thread = thread_of(g, t);

	(void)ts;
	if (thread != &none) {
		const struct step own = pipe_step(&g->pipe, t, s);

		gdb_add_step(thread, &own, g->window, g->kernel);
		thread->visits += !is_kernel(s->to);
		thread->cpu = t->cpu;
	}
	/* Stop here: later mappings could replace the ones that are valid at g->stop. */
	return ++g->seen == g->stop;
}

/* Report whether branches are missing. Ignore a gap in the kernel unless the kernel is shown. */
static bool is_missing(const struct gdb_session *g, const struct row *row)
{
	if (row->type == ROW_LOST)
		return true;
	return row->type == ROW_GAP &&
	       (g->kernel || !row->to || !is_kernel(row->from) || !is_kernel(row->to));
}

static void new_program(struct gdb_session *g, const struct gdb_thread *thread)
{
	const struct object *program = g->program;
	uint64_t bias = g->program_bias;

	gdb_forget_images(g, thread);
	gdb_choose_program(g);
	if (!program || (g->program == program && g->program_bias == bias))
		return;
	for (size_t i = 0; i < g->nr_threads; i++)
		gdb_clear_blocks(&g->threads[i]);
}

static void add_mapping(struct gdb_session *g, struct task *t, const struct row *row)
{
	struct place place = place_find(&g->pipe, t, row->from);
	const struct gdb_thread *thread = thread_of(g, t);

	gdb_add_image(g, thread, &place, row);
	if (object_is_vdso(place.sym->object->path))
		new_program(g, thread);
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct gdb_session *g = ctx;
	struct gdb_thread *thread = t ? thread_of(g, t) : &none;

	if (row->type == ROW_MAP && t->tgid == g->tgid)
		add_mapping(g, t, row);
	else if (thread != &none && is_missing(g, row))
		gdb_add_gap(thread, g->window);
	return ++g->seen == g->stop;
}

/* Remove threads whose PC is unknown. */
static void drop_empty(struct gdb_session *g, int tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->nr_threads; i++) {
		if (g->threads[i].pc)
			g->threads[kept++] = g->threads[i];
		else
			free(g->threads[i].blocks);
	}
	g->nr_threads = kept;
	g->current = g->threads;
	for (size_t i = 0; i < kept; i++)
		if (g->threads[i].tid == tid)
			g->current = &g->threads[i];
}

static void end_threads(struct gdb_session *g)
{
	int tid = g->current->tid;

	for (const struct task *t = g->pipe.tasks; t; t = t->list_next)
		if (t->priv && t->priv != &none)
			memcpy(((struct gdb_thread *)t->priv)->comm, t->comm, sizeof(t->comm));
	for (size_t i = 0; i < g->nr_threads; i++)
		gdb_end_blocks(&g->threads[i], g->window);
	drop_empty(g, tid);
}

static void warn_proof(const struct gdb_session *g)
{
	static const char * const why[] = {
		[OBJECT_UNPROVEN]	= "may have changed since the recording",
		[OBJECT_CHANGED]	= "has changed since the recording: gdb does not load it",
		[OBJECT_MISSING]	= "cannot be read",
	};

	for (size_t i = 0; i < g->nr_images; i++) {
		const struct object *o = g->images[i].object;

		if (o->proof != OBJECT_PROVEN)
			msg_warn("%s: %s", o->path, why[o->proof]);
	}
	if (!g->nr_images)
		msg_warn("the trace has no mappings (bts-map) of process %d, so gdb finds no code",
			 g->tgid);
}

bool gdb_read_run(struct gdb_session *g)
{
	g->kernel_file = -1;
	g->pipe.consumer = (struct consumer) { .ctx = g, .branch = branch, .row = row };
	if (!pipe_open(&g->pipe, g->path, &g->options))
		return false;
	if (pipe_run(&g->pipe))
		return false;
	end_threads(g);
	/* add_mapping() calls gdb_choose_program() only for a vDSO row, which may be missing. */
	if (!g->program)
		gdb_choose_program(g);
	if (!g->nr_threads) {
		msg_error("find", g->path, "process %d took no branch in user space", g->tgid);
		return false;
	}
	if (g->kernel && !g->pipe.objects.kernel->debug_path) {
		g->kernel_file = gdb_make_kernel_file(g->pipe.objects.kernel);
		if (g->kernel_file < 0)
			return false;
	}
	warn_proof(g);
	return true;
}

void gdb_free_run(struct gdb_session *g)
{
	for (size_t i = 0; i < g->nr_threads; i++)
		free(g->threads[i].blocks);
	free(g->threads);
	gdb_free_images(g);
	pipe_close(&g->pipe);
}
