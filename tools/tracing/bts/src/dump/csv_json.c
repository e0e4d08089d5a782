// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write each branch, and each other row (LOST, GAP, departs, arrives ...), as a line of CSV or as a
 * JSON object. If the row is not a branch, CSV has the row's text in the column "from" and the word
 * "row" in the column "kind". JSON has the row's text in the member "row".
 */
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "dump.h"

struct row_dump {
	struct dump	*dump;
	struct text	*text;
	bool		json;
	uint64_t	nr;
};

/* Write a CSV field, in quotes if necessary. */
static void csv_string(struct text *t, const char *string)
{
	if (!strpbrk(string, ",\"\n\r")) {
		text_string(t, string);
		return;
	}
	text_bytes(t, "\"", 1);
	for (; *string; string++) {
		if (*string == '"')
			text_bytes(t, "\"", 1);
		text_bytes(t, string, 1);
	}
	text_bytes(t, "\"", 1);
}

static void field(struct row_dump *r, const char *name, const char *value)
{
	if (r->json) {
		text_format(r->text, ",\"%s\":", name);
		text_json(r->text, value);
	} else {
		text_bytes(r->text, ",", 1);
		csv_string(r->text, value);
	}
}

static void head(struct row_dump *r, const struct task *t, int cpu, uint64_t ts)
{
	if (r->json)
		text_string(r->text, "{\"ts\":");
	text_number(r->text, ts);
	field(r, "task", t ? t->comm : "");
	if (r->json)
		text_string(r->text, ",\"pid\":");
	else
		text_bytes(r->text, ",", 1);
	text_number(r->text, t ? t->pid : 0);
	if (r->json)
		text_string(r->text, ",\"cpu\":");
	else
		text_bytes(r->text, ",", 1);
	text_number(r->text, cpu);
}

static void place(struct row_dump *r, const char *name, const char *sym_name,
		  const struct place *place, uint64_t addr)
{
	char text[1024];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)addr);
	field(r, name, text);
	place_text(text, sizeof(text), place, addr);
	field(r, sym_name, text);
}

static int done(struct row_dump *r)
{
	uint64_t head = r->dump->pipe.options->head;

	text_string(r->text, r->json ? "}\n" : "\n");
	return r->text->failed || (++r->nr == head && head);
}

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct row_dump *r = ctx;
	const struct pipe *pipe = &r->dump->pipe;

	if (!(s->flags & STEP_SHOWN))
		return 0;
	head(r, t, t->cpu, ts);
	place(r, "from", "from_sym", &s->at_from, pipe_addr(pipe, t, s->from));
	place(r, "to", "to_sym", &s->at_to, pipe_addr(pipe, t, s->to));
	field(r, "kind", branch_kind_names[s->kind]);
	text_string(r->text, r->json ? ",\"instructions\":" : ",");
	text_number(r->text, s->insns);
	return done(r);
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct row_dump *r = ctx;
	const char *text = row_text(&r->dump->pipe, t, row);

	head(r, t, row->cpu, row->ts);
	if (r->json) {
		field(r, "row", text);
	} else {
		text_bytes(r->text, ",", 1);
		csv_string(r->text, text);
		text_string(r->text, ",,,,row,");
	}
	return done(r);
}

static int dump_rows(struct dump *d, bool json)
{
	struct row_dump r = { .dump = d, .json = json, .text = text_open(d->out) };
	int status;

	d->pipe.consumer = (struct consumer) { .ctx = &r, .branch = branch, .row = row };
	if (!json)
		text_string(r.text, "ts,task,pid,cpu,from,from_sym,to,to_sym,kind,instructions\n");
	status = pipe_run(&d->pipe);
	text_close(r.text);
	return status;
}

int dump_csv(struct dump *d)
{
	return dump_rows(d, false);
}

int dump_json(struct dump *d)
{
	return dump_rows(d, true);
}
