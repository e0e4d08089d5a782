// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts report: a row for each branch.
 *
 *	fib-49  [000]  1.657006: fib+0x16 -> fib+0x0  call  fib.c:3
 *
 * What follows the time is the same each time a step is taken; it is made once, and
 * kept with the step.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts report [OPTIONS] [FILE]\n\n"
	"A row for each branch: task, CPU, time, from -> to, kind, and the line of from.\n\n"
	"  --json             an object a line\n"
	"  -l, --no-lines     no file and line, which saves reading debug information\n"
	"  -h, --help         this text\n";

struct report {
	struct pipe		pipe;
	struct text		*text;
	bool			json;
	bool			lines;
	uint64_t		rows;
	/* "    comm-PID   [CPU] " of the task that had the last row. */
	struct task		*task;
	int			cpu;
	char			prefix[64];
	int			prefix_length;
};

struct cached {
	uint32_t	length;
	char		text[];
};

static void step_text(struct report *r, const struct step *s, FILE *out)
{
	char from[1024], to[1024];
	const char *file;
	unsigned int line;

	place_text(from, sizeof(from), &s->at_from, s->from);
	place_text(to, sizeof(to), &s->at_to, s->to);
	fprintf(out, "%s -> %s  %s", from, to, branch_kind_names[s->kind]);
	if (r->lines && object_line(s->at_from.sym->object, s->at_from.addr, &file, &line))
		fprintf(out, "  %s:%u", file, line);
	fputc('\n', out);
}

static void step_json(struct report *r, const struct step *s, FILE *out)
{
	char text[1024];
	const char *file;
	unsigned int line;

	fprintf(out, ",\"from\":\"0x%llx\",\"to\":\"0x%llx\",\"from_sym\":",
		(unsigned long long)s->from, (unsigned long long)s->to);
	place_text(text, sizeof(text), &s->at_from, s->from);
	text_print_json(out, text);
	fputs(",\"to_sym\":", out);
	place_text(text, sizeof(text), &s->at_to, s->to);
	text_print_json(out, text);
	fprintf(out, ",\"kind\":\"%s\",\"instructions\":%u", branch_kind_names[s->kind], s->insns);
	if (r->lines && object_line(s->at_from.sym->object, s->at_from.addr, &file, &line)) {
		fputs(",\"file\":", out);
		text_print_json(out, file);
		fprintf(out, ",\"line\":%u", line);
	}
	fputs("}\n", out);
}

static struct cached *cache_step(struct report *r, struct step *s)
{
	struct cached *c;
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (r->json)
		step_json(r, s, out);
	else
		step_text(r, s, out);
	fclose(out);
	c = mem_alloc(sizeof(*c) + size);
	c->length = size;
	memcpy(c->text, text, size);
	free(text);
	s->priv = c;
	return c;
}

static void set_prefix(struct report *r, struct task *t, int cpu)
{
	r->task = t;
	r->cpu = cpu;
	r->prefix_length = snprintf(r->prefix, sizeof(r->prefix), "%16s-%-7d [%03d] ",
				    t ? t->comm : "cpu", t ? t->pid : cpu, cpu);
}

static void row_head(struct report *r, struct task *t, int cpu, uint64_t ts)
{
	text_room(r->text, 4096);
	if (r->json) {
		text_string(r->text, "{\"task\":");
		text_json(r->text, t ? t->comm : "");
		text_string(r->text, ",\"pid\":");
		text_number(r->text, t ? t->pid : 0);
		text_string(r->text, ",\"cpu\":");
		text_number(r->text, cpu);
		text_string(r->text, ",\"ts\":");
		text_number(r->text, ts);
		return;
	}
	if (t != r->task || cpu != r->cpu)
		set_prefix(r, t, cpu);
	text_bytes(r->text, r->prefix, r->prefix_length);
	text_time(r->text, ts, 12);
	text_bytes(r->text, ": ", 2);
}

static int one_row(struct report *r)
{
	const struct options *o = r->pipe.options;

	return r->text->failed || (++r->rows == o->head && o->head);
}

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct report *r = ctx;
	struct cached *c = s->priv;

	if (!(s->flags & STEP_SHOWN))
		return 0;
	if (!c)
		c = cache_step(r, s);
	if (!c)
		return -1;
	row_head(r, t, t->cpu, ts);
	text_bytes(r->text, c->text, c->length);
	return one_row(r);
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct report *r = ctx;
	const char *text = row_text(&r->pipe, t, row);

	/* A name may have changed with this row. */
	r->task = NULL;
	row_head(r, t, row->cpu, row->ts);
	if (r->json) {
		text_string(r->text, ",\"row\":");
		text_json(r->text, text);
		text_string(r->text, "}\n");
	} else {
		text_string(r->text, text);
		text_string(r->text, "\n");
	}
	r->task = NULL;
	return one_row(r);
}

static void fold(void *ctx, struct step *s)
{
	(void)ctx;
	free(s->priv);
}

static int run(void *ctx, const struct options *options)
{
	struct report *r = ctx;
	int status, closed;

	r->pipe.consumer = (struct consumer) {
		.ctx = r, .branch = branch, .row = row, .fold = fold,
	};
	if (!pipe_open(&r->pipe, options->path, options))
		return STATUS_FAILURE;
	r->text = text_open(stdout);
	status = pipe_run(&r->pipe);
	text_close(r->text);
	if (r->json)
		pipe_bill_json(&r->pipe, stdout);
	else
		pipe_bill(&r->pipe, stdout);
	closed = pipe_close(&r->pipe);
	return status ? status : closed;
}

static int option(void *ctx, int option, const char *command)
{
	struct report *r = ctx;

	(void)command;
	if (option == 'j')
		r->json = true;
	else
		r->lines = false;
	return STATUS_OK;
}

int cmd_report(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "no-lines", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "lh", .longs = longs,
		.option = option, .run = run,
	};
	struct report *r = mem_zalloc(1, sizeof(*r));
	int status;

	r->lines = true;
	status = command_main(&command, r, argc, argv);
	free(r);
	return status;
}
