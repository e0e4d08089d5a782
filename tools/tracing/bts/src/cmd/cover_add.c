// SPDX-License-Identifier: GPL-2.0-only
/*
 * Add up the execution counts of several traces. Each trace has its own struct object for a file.
 * If several traces contain the same build of the file, bts cover adds up the counts of this build.
 * Then the object of the first trace identifies the build. Different builds are counted separately.
 * But in lcov's output, the sums for lines and functions include all builds, because lcov
 * identifies a line by the name of the source file and the line number.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "cover.h"

static bool same_symbols(const struct object *a, const struct object *b)
{
	if (a->nr_syms != b->nr_syms)
		return false;
	for (size_t i = 0; i < a->nr_syms; i++)
		if (a->syms[i].addr != b->syms[i].addr || a->syms[i].end != b->syms[i].end)
			return false;
	return true;
}

static bool same_object(const struct object *a, const struct object *b)
{
	if (a->kernel != b->kernel || a->is_file != b->is_file || strcmp(a->path, b->path))
		return false;
	if (a->kernel)
		return same_symbols(a->code, b->code);
	/* Symbols without a file belong to JIT code. Never merge the JIT code of two processes. */
	if (!a->is_file)
		return !a->nr_syms && !b->nr_syms;
	if (a->build_id_size || b->build_id_size)
		return a->build_id_size == b->build_id_size &&
		       !memcmp(a->build_id, b->build_id, a->build_id_size);
	return a->file_size == b->file_size && !a->file == !b->file &&
	       (!a->file || !memcmp(a->file, b->file, a->file_size));
}

static struct object *first_such(const struct cover *c, struct object *o)
{
	for (size_t i = 0; i + 1 < c->nr_pipes; i++)
		for (struct object *p = c->pipes[i]->objects.list; p; p = p->next)
			if (p->priv == p && same_object(o, p))
				return p;
	return o;
}

struct object *cover_object(struct cover *c, struct object *o)
{
	if (!o->priv)
		o->priv = first_such(c, o);
	return o->priv;
}

void cover_end_trace(struct cover *c)
{
	bool needed = false;

	for (struct object *o = c->pipe->objects.list; o && !c->tests; o = o->next)
		needed |= cover_object(c, o) == o;
	if (needed)
		return;
	if (pipe_close(c->pipe))
		c->damaged = true;
	free(c->pipe);
	c->nr_pipes--;
}
