// SPDX-License-Identifier: GPL-2.0-only
/*
 * libbts: return a trace's tasks and stack frames, and the function and source line at an address.
 */
#include <errno.h>

#include "symbols/inlines.h"
#include "api.h"

static const struct sym *sym_of(const struct bts_sym *sym)
{
	return (const struct sym *)sym;
}

static struct task *task_of(const struct bts_task *task)
{
	return (struct task *)task;
}

/* --- Tasks -------------------------------------------------------------------------- */

const struct bts_task *bts_next_task(const struct bts_trace *trace, const struct bts_task *task)
{
	return api_task(task ? task_of(task)->list_next : trace->pipe.tasks);
}

int bts_task_pid(const struct bts_task *task)
{
	return task_of(task)->pid;
}

int bts_task_tgid(const struct bts_task *task)
{
	return task_of(task)->tgid;
}

const char *bts_task_comm(const struct bts_task *task)
{
	return task_of(task)->comm;
}

int bts_task_cpu(const struct bts_task *task)
{
	return task_of(task)->cpu;
}

uint64_t bts_task_branches(const struct bts_task *task)
{
	return task_of(task)->branches;
}

/* --- Names -------------------------------------------------------------------------- */

void bts_find(struct bts_trace *trace, const struct bts_task *task, uint64_t addr,
	      struct bts_place *place)
{
	struct place found = place_find(&trace->pipe, task_of(task), addr);

	*place = (struct bts_place) {
		.addr = addr, .object_addr = found.addr, .sym = api_sym(found.sym),
	};
}

static struct place place_of(const struct bts_place *place)
{
	return (struct place) {
		.sym = (struct sym *)place->sym, .addr = place->object_addr,
	};
}

size_t bts_place_text(const struct bts_place *place, char *buffer, size_t size)
{
	struct place p = place_of(place);

	return place_text(buffer, size, &p, place->addr);
}

struct question {
	struct place		place;
	const char		**file;
	unsigned int		*line;
	bool			known;
};

static void find_line(void *arg)
{
	struct question *q = arg;

	q->known = object_line(q->place.sym->object, q->place.addr, q->file, q->line);
}

int bts_line(struct bts_trace *trace, const struct bts_place *place, const char **file,
	     unsigned int *line)
{
	struct question q = { .place = place_of(place), .file = file, .line = line };

	if (api_try(trace, find_line, &q))
		return -ENOMEM;
	return q.known ? 0 : -ENOENT;
}

struct inlined_question {
	struct place		place;
	unsigned int		depth;
	const struct sym	*sym;
};

static void find_inlined(void *arg)
{
	struct inlined_question *q = arg;
	const struct inlined *in = object_inlined(q->place.sym->object, q->place.addr, NULL);

	if (in && q->depth < in->depth)
		q->sym = inlined_at(in, q->depth + 1)->sym;
}

const struct bts_sym *bts_inlined(struct bts_trace *trace, const struct bts_place *place,
				  unsigned int depth)
{
	struct inlined_question q = { .place = place_of(place), .depth = depth };

	return api_try(trace, find_inlined, &q) ? NULL : api_sym(q.sym);
}

const char *bts_kind_name(enum bts_kind kind)
{
	return (unsigned int)kind < BRANCH_KINDS ? branch_kind_names[kind] : "?";
}

const char *bts_sym_name(const struct bts_sym *sym)
{
	return sym_of(sym)->name;
}

const char *bts_sym_linked(const struct bts_sym *sym)
{
	return sym_of(sym)->linked;
}

const char *bts_sym_object(const struct bts_sym *sym)
{
	return sym_of(sym)->object->name;
}

const char *bts_sym_path(const struct bts_sym *sym)
{
	return sym_of(sym)->object->path;
}

uint64_t bts_sym_addr(const struct bts_sym *sym)
{
	return sym_of(sym)->addr;
}

bool bts_sym_is(const struct bts_sym *sym, const char *name)
{
	return sym_is(sym_of(sym), name);
}

void **bts_sym_user(const struct bts_sym *sym)
{
	return (void **)&sym_of(sym)->priv;
}

/* --- Calls -------------------------------------------------------------------------- */

unsigned int bts_depth(const struct bts_task *task)
{
	const struct calls *c = task_of(task)->priv;

	return c ? c->now.depth : 0;
}

const struct bts_frame *bts_frame(struct bts_trace *trace, const struct bts_task *task,
				  unsigned int depth)
{
	struct calls *c = task_of(task)->priv;

	if (!c || depth >= c->now.depth)
		return NULL;
	api_frame(c, &c->now.frames[depth], &trace->frame);
	return &trace->frame;
}
