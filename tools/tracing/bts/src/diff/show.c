// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print differences as text.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
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
	/* Each run has its own object for the same file, so compare the objects' names. */
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

void side_text(char *buffer, size_t size, const struct comparison *c,
	       const struct difference *d, unsigned int side)
{
	const struct side *s = &d->side[side];
	char way[1280];

	way_text(way, sizeof(way), c, d, side);
	snprintf(buffer, size, "%s%s%s%s%s%s%s", way, s->insns ? "; " : "",
		 s->insns ? text_commas(s->insns) : "", s->insns ? " instruction" : "",
		 s->insns ? text_plural(s->insns, "s") : "",
		 s->calls ? "; calls " : "", s->calls ? s->calls : "");
}

/* Return a string such as "once" or "12 times". */
static const char *times_text(char *buffer, size_t size, uint64_t times)
{
	if (times == 1)
		return "once";
	snprintf(buffer, size, "%s times", text_commas(times));
	return buffer;
}

/* Write how often each run repeats the loop or recursion, and how often the difference occurs. */
static void kind_text(char *buffer, size_t size, const struct difference *d)
{
	char a[48], b[48];
	int length = 0;

	buffer[0] = '\0';
	if (d->kind == DIFF_LOOP)
		length = snprintf(buffer, size, ": the loop runs %s in A, %s in B",
				  times_text(a, sizeof(a), d->side[0].times),
				  times_text(b, sizeof(b), d->side[1].times));
	if (d->kind == DIFF_RECURSION)
		length = snprintf(buffer, size, ": the recursion depth is %s in A, %s in B",
				  text_commas(d->side[0].times), text_commas(d->side[1].times));
	if (d->times > 1 && (size_t)length < size)
		snprintf(buffer + length, size - length, ", %s times in all",
			 text_commas(d->times));
}

void difference_text(char *buffer, size_t size, const struct difference *d)
{
	size_t length;

	place_with_line(buffer, size, &d->place);
	length = strlen(buffer);
	kind_text(buffer + length, size - length, d);
}

void meet_text(char *buffer, size_t size, const struct difference *d)
{
	int length = snprintf(buffer, size, d->meets ? "they meet at " : "they do not meet again");

	if (d->meets)
		place_with_line(buffer + length, size - length, &d->meet);
}

static void show_difference(const struct comparison *c, const struct difference *d, size_t nr,
			    FILE *out)
{
	char text[4096];

	place_with_line(text, sizeof(text), &d->place);
	colour(out, COLOUR_BOLD);
	fprintf(out, "%4zu %s", nr, text);
	colour(out, COLOUR_NONE);
	kind_text(text, sizeof(text), d);
	fprintf(out, "%s\n", text);
	show_path(c, d, out);
	for (unsigned int side = 0; side < 2; side++) {
		side_text(text, sizeof(text), c, d, side);
		colour_line(out, side ? COLOUR_B : COLOUR_A, "     %c %s", "AB"[side], text);
	}
	meet_text(text, sizeof(text), d);
	fprintf(out, "     %s\n", text);
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

char *task_notes(const struct comparison *c, const struct compared *task)
{
	const struct differences *d = &task->differences;
	struct bytes text = {};

	if (c->rows && c->rows < d->nr)
		bytes_format(&text, "# %zu more difference%s\n", d->nr - c->rows,
			     text_plural(d->nr - c->rows, "s"));
	if (d->too_deep)
		bytes_format(&text, "# the innermost calls were not compared\n");
	for (unsigned int side = 0; side < 2; side++)
		if (task->pair.side[0] && task->pair.side[1] && task->pair.side[side]->lost)
			bytes_format(&text, "# a loss in %c may look like a difference\n",
				     "AB"[side]);
	bytes_add8(&text, 0);
	return text.data;
}

static void show_task(const struct comparison *c, const struct compared *task, FILE *out)
{
	const struct differences *d = &task->differences;
	size_t rows = c->rows && c->rows < d->nr ? c->rows : d->nr;
	char text[256], *notes;

	task_text(text, sizeof(text), task);
	colour_line(out, COLOUR_BOLD, "%s", text);
	if (!task->pair.side[0] || !task->pair.side[1])
		return;
	for (size_t i = 0; i < rows; i++)
		show_difference(c, &d->list[i], i + 1, out);
	notes = task_notes(c, task);
	fputs(notes, out);
	free(notes);
}

char *noise_text(const struct comparison *c)
{
	const struct grown *a = &c->run[0], *b = &c->run[1];
	struct bytes text = {};

	if (!c->forest.all)
		bytes_format(&text, "not compared (--all compares them): %s interrupts and page "
			     "faults in A, %s in B; %s kernel branches in A, %s in B; %s lookups "
			     "of library functions in A, %s in B\n",
			     text_commas(a->interrupts), text_commas(b->interrupts),
			     text_commas(a->kernel), text_commas(b->kernel),
			     text_commas(a->resolved), text_commas(b->resolved));
	for (unsigned int i = 1; i < NOISE_KINDS; i++)
		if (!c->forest.all && (a->noise[i] || b->noise[i]))
			bytes_format(&text, "not compared: the branches inside calls (%s in A, "
				     "%s in B) to %s\n", text_commas(a->noise[i]),
				     text_commas(b->noise[i]), noise_names[i]);
	bytes_add8(&text, 0);
	return text.data;
}

void show_text(const struct comparison *c, FILE *out)
{
	char *notes;

	for (size_t i = 0; i < c->nr_tasks; i++)
		show_task(c, &c->tasks[i], out);
	notes = noise_text(c);
	colour(out, COLOUR_DIM);
	fputs(notes, out);
	colour(out, COLOUR_NONE);
	free(notes);
}
