// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print differences as text.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/colour.h"
#include "lib/text.h"
#include "show.h"

bool tasks_differ(const struct compared *c)
{
	return !c->pair.side[0] || !c->pair.side[1] || c->differences.nr;
}

void line_text(char *buffer, size_t size, const struct place *place)
{
	const char *file, *base;
	unsigned int line;

	buffer[0] = '\0';
	if (!object_line(place->sym->object, place->addr, &file, &line))
		return;
	base = strrchr(file, '/');
	snprintf(buffer, size, "%s:%u", base ? base + 1 : file, line);
}

void place_with_line(char *buffer, size_t size, const struct place *place)
{
	char line[512];
	int length;

	if (!place->sym) {
		snprintf(buffer, size, "the end");
		return;
	}
	length = place_text(buffer, size, place, place->addr);
	line_text(line, sizeof(line), place);
	if (line[0] && length > 0 && (size_t)length < size)
		snprintf(buffer + length, size - length, " (%s)", line);
}

void way_text(char *buffer, size_t size, const struct comparison *c,
	      const struct difference *d, unsigned int side)
{
	static const char *const verbs[BRANCH_KINDS] = {
		[BRANCH_CALL] = "calls ", [BRANCH_CALL_IND] = "calls ",
		[BRANCH_RET] = "returns to ", [BRANCH_SYSCALL] = "enters the kernel, ",
		[BRANCH_INTERRUPT] = "is interrupted, ",
	};
	const struct token *t;
	char to[1024];

	if (d->side[side].token == NONE) {
		snprintf(buffer, size, "ends");
		return;
	}
	t = token_of(&c->forest, d->side[side].token);
	/* Each run has its own object for the same file, so compare the names. */
	if (t->from.addr != d->place.addr ||
	    strcmp(t->from.sym->object->name, d->place.sym->object->name)) {
		snprintf(buffer, size, "goes straight on");
		return;
	}
	place_with_line(to, sizeof(to), &t->to);
	snprintf(buffer, size, "%s%s", verbs[t->kind] ? verbs[t->kind] : "jumps to ", to);
}

static void show_path(const struct comparison *c, const struct difference *d, FILE *out)
{
	struct route route = { .out = out };

	colour(out, COLOUR_DIM);
	fputs(d->path_cut ? "     in ... > " : "     in ", out);
	route_difference(&route, &c->forest, d);
	colour(out, COLOUR_NONE);
	fputc('\n', out);
}

static void show_side(const struct comparison *c, const struct difference *d,
		      unsigned int side, FILE *out)
{
	const struct side *s = &d->side[side];
	char way[1280];

	way_text(way, sizeof(way), c, d, side);
	colour(out, side ? COLOUR_B : COLOUR_A);
	fprintf(out, "     %c %s", "AB"[side], way);
	if (s->insns)
		fprintf(out, "; %s instruction%s", text_commas(s->insns),
			text_plural(s->insns, "s"));
	if (s->calls)
		fprintf(out, "; calls %s", s->calls);
	colour(out, COLOUR_NONE);
	fputc('\n', out);
}

/* Return "once" or "12 times". */
static const char *times_text(char *buffer, size_t size, uint64_t times)
{
	if (times == 1)
		return "once";
	snprintf(buffer, size, "%s times", text_commas(times));
	return buffer;
}

static void show_difference(const struct comparison *c, const struct difference *d, size_t nr,
			    FILE *out)
{
	char text[1024], a[48], b[48];

	place_with_line(text, sizeof(text), &d->place);
	colour(out, COLOUR_BOLD);
	fprintf(out, "%4zu %s", nr, text);
	colour(out, COLOUR_NONE);
	if (d->kind == DIFF_LOOP)
		fprintf(out, ": the loop runs %s in A, %s in B",
			times_text(a, sizeof(a), d->side[0].times),
			times_text(b, sizeof(b), d->side[1].times));
	if (d->kind == DIFF_RECURSION)
		fprintf(out, ": the recursion is %s deep in A, %s deep in B",
			text_commas(d->side[0].times), text_commas(d->side[1].times));
	if (d->times > 1)
		fprintf(out, ", %s times in all", text_commas(d->times));
	fputc('\n', out);
	show_path(c, d, out);
	show_side(c, d, 0, out);
	show_side(c, d, 1, out);
	if (d->meets) {
		place_with_line(text, sizeof(text), &d->meet);
		fprintf(out, "     they meet at %s\n", text);
	} else {
		fputs("     they do not meet again\n", out);
	}
}

void task_text(char *buffer, size_t size, const struct compared *task)
{
	const struct track *a = task->pair.side[0], *b = task->pair.side[1], *only = a ? a : b;
	size_t nr = task->differences.nr;

	if (!a || !b)
		snprintf(buffer, size, "%s-%d: only in %c, %s branch%s", only->comm, only->pid,
			 a ? 'A' : 'B', text_commas(only->branches),
			 text_plural(only->branches, "es"));
	else if (nr)
		snprintf(buffer, size, "%s-%d and %s-%d: %s difference%s", a->comm, a->pid,
			 b->comm, b->pid, text_commas(nr), text_plural(nr, "s"));
	else
		snprintf(buffer, size, "%s-%d and %s-%d: no difference in %s branch%s", a->comm,
			 a->pid, b->comm, b->pid, text_commas(a->branches),
			 text_plural(a->branches, "es"));
}

static void show_task(const struct comparison *c, const struct compared *task, FILE *out)
{
	const struct differences *d = &task->differences;
	size_t rows = c->rows && c->rows < d->nr ? c->rows : d->nr;
	char text[256];

	task_text(text, sizeof(text), task);
	colour_line(out, COLOUR_BOLD, "%s", text);
	if (!task->pair.side[0] || !task->pair.side[1])
		return;
	for (size_t i = 0; i < rows; i++)
		show_difference(c, &d->list[i], i + 1, out);
	if (rows < d->nr)
		fprintf(out, "# %zu more difference%s\n", d->nr - rows,
			text_plural(d->nr - rows, "s"));
	if (d->too_deep)
		fputs("# the innermost calls were not compared\n", out);
	for (unsigned int side = 0; side < 2; side++)
		if (task->pair.side[side]->lost)
			fprintf(out, "# a loss in %c may look like a difference\n", "AB"[side]);
}

/* Show the execution that was not compared, because it differs by chance. */
static void show_noise(const struct comparison *c, FILE *out)
{
	const struct grown *a = &c->run[0], *b = &c->run[1];

	if (c->forest.all)
		return;
	colour(out, COLOUR_DIM);
	fprintf(out, "not compared (--all compares them): %s and %s interrupts and page faults, "
		"%s and %s branches in the kernel, %s and %s lookups of library functions\n",
		text_commas(a->interrupts), text_commas(b->interrupts), text_commas(a->kernel),
		text_commas(b->kernel), text_commas(a->resolved), text_commas(b->resolved));
	for (unsigned int i = 1; i < NOISE_KINDS; i++)
		if (a->noise[i] || b->noise[i])
			fprintf(out, "not compared: the branches in %s and %s calls of %s\n",
				text_commas(a->noise[i]), text_commas(b->noise[i]),
				noise_names[i]);
	colour(out, COLOUR_NONE);
}

void show_text(const struct comparison *c, FILE *out)
{
	for (size_t i = 0; i < c->nr_tasks; i++)
		show_task(c, &c->tasks[i], out);
	show_noise(c, out);
}
