// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print why a system call failed, as text or as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "diff/show.h"
#include "lib/colour.h"
#include "lib/text.h"
#include "rank.h"

#define CALLERS_MAX	12

void errno_text(char *buffer, size_t size, int error)
{
	const char *name = strerrorname_np(error);

	if (name)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "error %d", error);
}

static struct place place_of(const struct reason *reason)
{
	return reason->condition ? reason->condition->place : reason->difference->place;
}

/* List the functions from the outermost caller to @activation. Return the list's length. */
static uint32_t callers_of(const struct trail *t, uint32_t activation,
			   uint32_t functions[CALLERS_MAX], bool *cut)
{
	uint32_t nr = 0, first;

	for (;; activation = t->activations[activation].parent) {
		if (nr < CALLERS_MAX)
			functions[nr++] = t->activations[activation].function;
		else
			*cut = true;
		if (t->activations[activation].parent == activation)
			break;
	}
	for (first = 0; first < nr / 2; first++) {
		uint32_t swap = functions[first];

		functions[first] = functions[nr - 1 - first];
		functions[nr - 1 - first] = swap;
	}
	return nr;
}

/* List the functions from the outermost caller to place_of(@reason). Return the list's length. */
static uint32_t calls_to(const struct ranking *r, const struct reason *reason,
			 uint32_t functions[CALLERS_MAX], bool *cut)
{
	const struct difference *d = reason->difference;
	uint32_t nr = 0;

	*cut = false;
	if (reason->condition)
		return callers_of(&r->trail, reason->condition->activation, functions, cut);
	*cut = d->path_cut;
	for (uint32_t i = d->nr_path; i && nr < CALLERS_MAX; i--)
		functions[nr++] = d->path[i - 1].function;
	return nr;
}

static void show_calls(const struct history *h, const struct ranking *r,
		       const struct reason *reason, struct route *route)
{
	uint32_t functions[CALLERS_MAX], nr;
	struct place place = place_of(reason);
	bool cut;

	nr = calls_to(r, reason, functions, &cut);
	if (!route->json) {
		colour(route->out, COLOUR_DIM);
		fputs(cut ? "     in ... > " : "     in ", route->out);
	}
	for (uint32_t i = 0; i < nr; i++)
		route_function(route, &h->forest.functions[functions[i]]);
	route_place(route, &h->forest, &place);
	if (!route->json)
		colour(route->out, COLOUR_NONE);
}

/* Write what the failed call (@side 0) or the good call (@side 1) does at place_of(@reason). */
static void way(char *buffer, size_t size, const struct history *h, const struct reason *reason,
		unsigned int side)
{
	const struct difference *d = reason->difference;
	struct place to;

	if (d && (side || reason->parted) && d->side[side].token != NONE &&
	    token_of(&h->forest, d->side[side].token)->from.addr == d->place.addr) {
		to = token_of(&h->forest, d->side[side].token)->to;
	} else if ((!d || !reason->parted) && !side && reason->condition->same) {
		to = reason->condition->to;
	} else {
		snprintf(buffer, size, "goes straight on");
		return;
	}
	snprintf(buffer, size, "jumps to ");
	place_with_line(buffer + strlen(buffer), size - strlen(buffer), &to);
}

static void load_text(char *buffer, size_t size, const struct ranking *r,
		      const struct reason *reason)
{
	char error[64];
	struct place at;
	int length;

	buffer[0] = '\0';
	if (!reason->condition || !reason->condition->load)
		return;
	errno_text(error, sizeof(error), r->trail.error);
	length = snprintf(buffer, size, "; loads -%s at ", error);
	at = (struct place) {
		.sym = object_sym(reason->condition->place.sym->object, reason->condition->load),
		.addr = reason->condition->load,
	};
	place_with_line(buffer + length, size - length, &at);
}

static void show_reason(const struct history *h, const struct ranking *r, size_t nr, FILE *out)
{
	const struct reason *reason = &r->list[nr];
	struct place place = place_of(reason);
	struct route route = { .out = out };
	char text[1024], load[1024];

	place_with_line(text, sizeof(text), &place);
	colour_line(out, COLOUR_BOLD, "%4zu %s", nr + 1, text);
	show_calls(h, r, reason, &route);
	fputc('\n', out);
	way(text, sizeof(text), h, reason, 0);
	load_text(load, sizeof(load), r, reason);
	colour_line(out, COLOUR_BAD, "     failed: %s%s", text, load);
	if (!reason->difference)
		return;
	if (!reason->parted) {
		place_with_line(text, sizeof(text), &reason->difference->place);
		fprintf(out, "     the good call differs before this place, at %s\n", text);
		return;
	}
	way(text, sizeof(text), h, reason, 1);
	colour_line(out, COLOUR_GOOD, "     good:   %s", text);
}

static void show_call(const struct history *h, const struct system_call *call, FILE *out)
{
	char name[256], error[64];

	system_call_name(name, sizeof(name), h, call);
	fprintf(out, "%s-%d: %s() ", call->comm, call->pid, name);
	if (!has_failed(call)) {
		fprintf(out, "returned %ld", call->result);
	} else {
		errno_text(error, sizeof(error), -call->result);
		fprintf(out, "failed with %s", error);
	}
	if (call->run)
		fprintf(out, " in %s", h->run[call->run].path);
}

void why_show(const struct history *h, const struct ranking *r, unsigned long rows, FILE *out)
{
	size_t nr = rows && rows < r->nr ? rows : r->nr;

	colour(out, COLOUR_BOLD);
	show_call(h, r->failed, out);
	colour(out, COLOUR_NONE);
	fputs("\ncompared with ", out);
	if (r->good)
		show_call(h, r->good, out);
	else if (r->goods)
		fprintf(out, "%zu successful call%s, but no difference was found, so the following "
			"places are only hypotheses", r->goods, text_plural(r->goods, "s"));
	else
		fputs("no successful call, so the following places are only hypotheses", out);
	fputc('\n', out);
	for (size_t i = 0; i < nr; i++)
		show_reason(h, r, i, out);
	if (nr < r->nr)
		fprintf(out, "# %zu more place%s\n", r->nr - nr, text_plural(r->nr - nr, "s"));
	if (r->trail.too_deep)
		fputs("# the innermost calls were not compared\n", out);
}

static void json_reason(const struct history *h, const struct ranking *r,
			const struct reason *reason, FILE *out)
{
	struct route route = { .out = out, .json = true };
	struct place place = place_of(reason);
	char text[1024];

	fputc('{', out);
	show_json_place("at", &place, place.addr, out);
	fputs(",\"in\":[", out);
	show_calls(h, r, reason, &route);
	fprintf(out, "],\"weight\":%u,\"failed\":", reason->weight);
	way(text, sizeof(text), h, reason, 0);
	text_print_json(out, text);
	if (reason->difference && !reason->parted) {
		fputc(',', out);
		show_json_place("parted", &reason->difference->place,
				reason->difference->place_addr, out);
	} else if (reason->difference) {
		fputs(",\"good\":", out);
		way(text, sizeof(text), h, reason, 1);
		text_print_json(out, text);
	}
	fputc('}', out);
}

void why_show_json(const struct history *h, const struct ranking *r, FILE *out)
{
	char text[256];

	system_call_name(text, sizeof(text), h, r->failed);
	fputs("{\"call\":", out);
	text_print_json(out, text);
	errno_text(text, sizeof(text), -r->failed->result);
	fputs(",\"error\":", out);
	text_print_json(out, text);
	fprintf(out, ",\"pid\":%d,\"hypothesis\":%s,\"reasons\":[", r->failed->pid,
		r->good ? "false" : "true");
	for (size_t i = 0; i < r->nr; i++) {
		fputs(i ? "," : "", out);
		json_reason(h, r, &r->list[i], out);
	}
	fprintf(out, "],\"too_deep\":%s}\n", r->trail.too_deep ? "true" : "false");
}
