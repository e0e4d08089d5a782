// SPDX-License-Identifier: GPL-2.0-only
/*
 * For each difference between two runs, find its place in the task's call tree.
 *
 * The compared trees (diff/tree.h) do not contain all calls of a task. For example, a system call
 * appears in the trees as a branch, not as a call. A second pass over the trace counts only the
 * calls that diff/grow.c has added to the trees. Two numbers describe the place of a difference:
 * how many of these calls begin before the difference, and how many of these calls enclose it.
 */
#include <stdlib.h>

#include "diff/show.h"
#include "lib/mem.h"
#include "marks.h"

/* The state of a frame consists of two flags and a number. */
#define COUNTED		0x80000000U	/* the compared trees contain this frame */
#define DROPPED		0x40000000U	/* the compared trees contain no call inside this frame */
#define DEPTH		0x3fffffffU	/* number of frames with COUNTED, up to this frame */

static void add_mark(struct marks *m, const struct comparison *c, const struct compared *task,
		     const struct difference *d, unsigned int side, uint32_t number)
{
	struct mark *mark = &m->list[m->nr++];
	char text[4096];

	*mark = (struct mark) {
		.pid = task->pair.side[side]->pid, .number = number,
		.calls = d->calls[side], .depth = d->depth,
	};
	difference_text(text, sizeof(text), d);
	mark->rows[0] = mem_format("difference %u: %s", number, text);
	side_text(text, sizeof(text), c, d, 0);
	mark->rows[1] = mem_format("  A %s", text);
	side_text(text, sizeof(text), c, d, 1);
	mark->rows[2] = mem_format("  B %s", text);
	meet_text(text, sizeof(text), d);
	mark->rows[3] = mem_format("  %s", text);
}

/* Add a mark for a task that exists only in run number @side. */
static void add_task(struct marks *m, const struct compared *task, unsigned int side,
		     uint32_t number)
{
	struct mark *mark = &m->list[m->nr++];
	char text[256];

	*mark = (struct mark) { .pid = task->pair.side[side]->pid, .number = number };
	task_text(text, sizeof(text), task);
	mark->rows[0] = mem_format("difference %u: %s", number, text);
}

static int by_place(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? -1 : 1;
	/* No call begins between a and b, so the depth only decreases. Sort by decreasing depth. */
	if (a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

void marks_init(struct marks *m, struct comparison *c, unsigned int side)
{
	uint32_t number = 1;
	size_t room = 1;

	for (size_t i = 0; i < c->nr_tasks; i++)
		room += c->tasks[i].differences.nr + 1;
	*m = (struct marks) {
		.forest = &c->forest, .list = mem_alloc(room * sizeof(*m->list)),
	};
	for (size_t i = 0; i < c->nr_tasks; i++) {
		const struct compared *task = &c->tasks[i];
		const struct differences *d = &task->differences;

		if (task->pair.side[0] && task->pair.side[1])
			for (size_t j = 0; j < d->nr; j++)
				add_mark(m, c, task, &d->list[j], side, number++);
		else if (task->pair.side[side])
			add_task(m, task, side, number++);
		else
			number++;
	}
	qsort(m->list, m->nr, sizeof(*m->list), by_place);
}

void marks_free(struct marks *m)
{
	for (size_t i = 0; i < m->nr; i++)
		for (unsigned int j = 0; j < MARK_ROWS; j++)
			free(m->list[i].rows[j]);
	free(m->list);
}

struct marker marker_begin(const struct marks *m, int pid)
{
	size_t begin = 0, end;

	while (begin < m->nr && m->list[begin].pid != pid)
		begin++;
	for (end = begin; end < m->nr && m->list[end].pid == pid; )
		end++;
	return (struct marker) { .next = m->list + begin, .end = m->list + end };
}

uint32_t marker_enter(const struct marks *m, const struct frame *f, uint32_t around,
		      bool *counted)
{
	uint32_t function = forest_function(m->forest, f->sym, 0, NULL);
	const struct function *fn = &m->forest->functions[function];
	bool entry = f->kind == FRAME_SYSCALL || f->kind == FRAME_INTERRUPT;
	bool hidden = fn->stub || (entry && !m->forest->all);
	uint32_t state = around & DEPTH;

	*counted = !(around & DROPPED) && !hidden && is_counted(m->forest, function);
	if (*counted)
		state = (state + 1) | COUNTED;
	if ((around & DROPPED) || hidden || fn->noise)
		state |= DROPPED;
	return state;
}

bool marker_counts(uint32_t state)
{
	return state & COUNTED;
}

const struct mark *marker_here(const struct marker *marker, uint32_t state)
{
	const struct mark *mark = marker->next;

	if (mark == marker->end || mark->calls != marker->calls ||
	    mark->depth != (state & DEPTH))
		return NULL;
	return mark;
}
