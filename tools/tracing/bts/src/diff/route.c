// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the names of the functions on a call path.
 */
#include "lib/text.h"
#include "symbols/inlines.h"
#include "show.h"

static void add(struct route *r, const char *name)
{
	if (r->begun)
		fputs(r->json ? "," : " > ", r->out);
	if (r->json)
		text_print_json(r->out, name);
	else
		fputs(name, r->out);
	r->begun = true;
}

static void add_inlined(struct route *r, const struct inlined *in)
{
	for (unsigned int depth = 1; in && depth <= in->depth; depth++)
		add(r, inlined_at(in, depth)->sym->name);
}

void route_function(struct route *r, const struct function *fn)
{
	char name[1024];

	add_inlined(r, fn->within);
	function_text(name, sizeof(name), fn);
	add(r, name);
}

void route_place(struct route *r, const struct forest *f, const struct place *place)
{
	if (f->inlines && place->sym)
		add_inlined(r, object_inlined(place->sym->object, place->addr, NULL));
}

void route_difference(struct route *r, const struct forest *f, const struct difference *d)
{
	for (uint32_t i = d->nr_path; i; i--) {
		const struct called *called = &d->path[i - 1];

		route_function(r, &f->functions[called->function]);
		if (called->times > 1 && !r->json)
			fprintf(r->out, " x %s", text_commas(called->times));
	}
	route_place(r, f, &d->place);
}
