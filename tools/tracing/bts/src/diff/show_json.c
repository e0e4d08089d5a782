// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print differences as JSON: for each pair of tasks, one object on one line.
 */
#include <stdlib.h>

#include "lib/text.h"
#include "show.h"

static void json_member(FILE *out, const char *name, const char *value)
{
	fprintf(out, "\"%s\":", name);
	text_print_json(out, value);
}

void show_json_place(const char *name, const struct place *place, uint64_t addr, FILE *out)
{
	const char *file;
	unsigned int line;
	char text[1024];

	if (!place->sym) {
		fprintf(out, "\"%s\":null", name);
		return;
	}
	place_text(text, sizeof(text), place, addr);
	fprintf(out, "\"%s\":{", name);
	json_member(out, "place", text);
	fputc(',', out);
	json_member(out, "object", place->sym->object->name);
	fprintf(out, ",\"address\":\"0x%llx\"", (unsigned long long)place->addr);
	if (object_line(place->sym->object, place->addr, &file, &line)) {
		fputc(',', out);
		json_member(out, "file", file);
		fprintf(out, ",\"line\":%u", line);
	}
	fputc('}', out);
}

static void json_side(const struct comparison *c, const struct difference *d,
		      unsigned int side, FILE *out)
{
	const struct side *s = &d->side[side];
	char way[1280];

	way_text(way, sizeof(way), c, d, side);
	fprintf(out, "\"%c\":{", "ab"[side]);
	json_member(out, "does", way);
	fprintf(out, ",\"instructions\":%llu,\"branches\":%llu", (unsigned long long)s->insns,
		(unsigned long long)s->branches);
	if (d->kind != DIFF_BRANCH)
		fprintf(out, ",\"times\":%llu", (unsigned long long)s->times);
	if (s->calls) {
		fputc(',', out);
		json_member(out, "calls", s->calls);
	}
	fputc('}', out);
}

static void json_difference(const struct comparison *c, const struct difference *d, FILE *out)
{
	static const char *const kinds[] = {
		[DIFF_BRANCH] = "branch", [DIFF_LOOP] = "loop", [DIFF_RECURSION] = "recursion",
	};
	struct route route = { .out = out, .json = true };

	fprintf(out, "{\"kind\":\"%s\",\"times\":%llu,", kinds[d->kind],
		(unsigned long long)d->times);
	show_json_place("at", &d->place, d->place_addr, out);
	fputs(",\"in\":[", out);
	route_difference(&route, &c->forest, d);
	fputs("],", out);
	json_side(c, d, 0, out);
	fputc(',', out);
	json_side(c, d, 1, out);
	if (d->meets) {
		fputc(',', out);
		show_json_place("meet", &d->meet, d->meet.addr, out);
	}
	fputc('}', out);
}

static void json_task(const struct track *t, const char *name, FILE *out)
{
	fprintf(out, "\"%s\":", name);
	if (!t) {
		fputs("null", out);
		return;
	}
	fprintf(out, "{\"pid\":%d,", t->pid);
	json_member(out, "comm", t->comm);
	fprintf(out, ",\"branches\":%llu,\"losses\":%llu}", (unsigned long long)t->branches,
		(unsigned long long)t->lost);
}

void show_json(const struct comparison *c, FILE *out)
{
	for (size_t i = 0; i < c->nr_tasks; i++) {
		const struct compared *task = &c->tasks[i];

		fputc('{', out);
		json_task(task->pair.side[0], "a", out);
		fputc(',', out);
		json_task(task->pair.side[1], "b", out);
		fputs(",\"differences\":[", out);
		for (size_t j = 0; j < task->differences.nr; j++) {
			fputs(j ? "," : "", out);
			json_difference(c, &task->differences.list[j], out);
		}
		fprintf(out, "],\"too_deep\":%s}\n", task->differences.too_deep ? "true" : "false");
	}
}
