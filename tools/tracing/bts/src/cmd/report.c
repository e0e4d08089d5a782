// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts report: print a row for each branch.
 *
 *	fib-49  [000]  1.657006: fib+0x16 -> fib+0x0  call  fib.c:3
 *
 * In a row, the text after the time (after "1.657006: ") depends only on the branch and on the
 * instructions since the previous branch. So this text is generated once, and stored with the
 * branch. With --json, the stored text contains no addresses, because they depend on the process.
 *
 * This file reads the trace only through libbts.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts report [OPTIONS] [FILE]\n\n"
	"Prints a row for each branch: task, CPU, time, from -> to, kind, and source line.\n\n"
	"  --json             print one JSON object per line\n"
	"  -l, --no-lines     print no file and line, so debug information need not be read\n"
	"  --tail N           only the last N rows\n"
	"  -r, --reverse      with --tail: the newest row first\n"
	"  -h, --help         this text\n";

/* A row that is stored for --tail. */
struct kept {
	size_t	size;
	size_t	room;
	char	*text;
};

/**
 * struct report - the state of the command
 * @tail:	with --tail, the number of rows to keep; otherwise 0
 * @kept:	the last rows, where row number n is at index n % @tail
 */
struct report {
	struct text		*text;
	struct bts_trace	*trace;
	bool			json;
	bool			lines;
	bool			inlines;
	uint64_t		head;
	uint64_t		rows;
	unsigned long		tail;
	bool			reverse;
	struct kept		*kept;
	size_t			kept_room;
	/* The task and the CPU of the previous row, and the text at the beginning of that row. */
	const struct bts_task	*task;
	int			cpu;
	char			prefix[64];
	int			prefix_length;
};

struct cached {
	uint32_t	length;
	char		text[];
};

static bool line_of(const struct report *r, const struct bts_branch *b, const char **file,
		    unsigned int *line)
{
	return r->lines && !bts_line(r->trace, &b->from, file, line);
}

/* Return the inlined function at @depth, or NULL. The outermost inlined function has @depth 0. */
static const struct bts_sym *inlined(const struct report *r, const struct bts_place *place,
				     unsigned int depth)
{
	return r->inlines ? bts_inlined(r->trace, place, depth) : NULL;
}

static void print_place(const struct report *r, const struct bts_place *place, FILE *out)
{
	const struct bts_sym *sym;
	char text[1024];

	bts_place_text(place, text, sizeof(text));
	fputs(text, out);
	for (unsigned int depth = 0; (sym = inlined(r, place, depth)); depth++)
		fprintf(out, " > %s", bts_sym_name(sym));
}

static void branch_text(struct report *r, const struct bts_branch *b, FILE *out)
{
	const char *file;
	unsigned int line;

	print_place(r, &b->from, out);
	fputs(" -> ", out);
	print_place(r, &b->to, out);
	fprintf(out, "  %s", bts_kind_name(b->kind));
	if (line_of(r, b, &file, &line))
		fprintf(out, "  %s:%u", file, line);
	fputc('\n', out);
}

static void json_place(const struct report *r, const char *name, const struct bts_place *place,
		       FILE *out)
{
	const struct bts_sym *sym;
	char text[1024];

	fprintf(out, ",\"%s_sym\":", name);
	bts_place_text(place, text, sizeof(text));
	text_print_json(out, text);
	if (!r->inlines)
		return;
	fprintf(out, ",\"%s_inlined\":[", name);
	for (unsigned int depth = 0; (sym = inlined(r, place, depth)); depth++) {
		fputs(depth ? "," : "", out);
		text_print_json(out, bts_sym_name(sym));
	}
	fputc(']', out);
}

static void branch_json(struct report *r, const struct bts_branch *b, FILE *out)
{
	const char *file;
	unsigned int line;

	json_place(r, "from", &b->from, out);
	json_place(r, "to", &b->to, out);
	fprintf(out, ",\"kind\":\"%s\",\"instructions\":%u", bts_kind_name(b->kind), b->insns);
	if (line_of(r, b, &file, &line)) {
		fputs(",\"file\":", out);
		text_print_json(out, file);
		fprintf(out, ",\"line\":%u", line);
	}
	fputs("}\n", out);
}

static struct cached *cache_branch(struct report *r, const struct bts_branch *b)
{
	struct cached *c;
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (r->json)
		branch_json(r, b, out);
	else
		branch_text(r, b, out);
	fclose(out);
	c = mem_alloc(sizeof(*c) + size);
	c->length = size;
	memcpy(c->text, text, size);
	free(text);
	return c;
}

static void set_prefix(struct report *r, const struct bts_task *t, int cpu)
{
	r->task = t;
	r->cpu = cpu;
	r->prefix_length = snprintf(r->prefix, sizeof(r->prefix), "%16s-%-7d [%03d] ",
				    t ? bts_task_comm(t) : "cpu", t ? bts_task_pid(t) : cpu, cpu);
}

static void row_head(struct report *r, const struct bts_task *t, int cpu, uint64_t ts)
{
	text_room(r->text, 4096);
	if (r->json) {
		text_string(r->text, "{\"task\":");
		text_json(r->text, t ? bts_task_comm(t) : "");
		text_string(r->text, ",\"pid\":");
		text_number(r->text, t ? bts_task_pid(t) : 0);
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

/*
 * Move the row from @text to @kept. If @kept already contains @tail rows, replace the oldest row.
 */
static void keep_row(struct report *r)
{
	size_t at = r->rows % r->tail;
	struct kept *k;

	if (at == r->kept_room) {
		r->kept_room = 2 * r->kept_room + 64;
		r->kept = mem_realloc(r->kept, r->kept_room, sizeof(*r->kept));
		memset(r->kept + at, 0, (r->kept_room - at) * sizeof(*r->kept));
	}
	k = &r->kept[at];
	if (k->room < r->text->used) {
		k->room = r->text->used;
		k->text = mem_realloc(k->text, k->room, 1);
	}
	k->size = r->text->used;
	memcpy(k->text, r->text->bytes, k->size);
	r->text->used = 0;
}

static void print_kept(struct report *r)
{
	uint64_t nr = r->rows < r->tail ? r->rows : r->tail;

	for (uint64_t i = 0; i < nr; i++) {
		const struct kept *k = &r->kept[(r->reverse ? r->rows - 1 - i :
							      r->rows - nr + i) % r->tail];

		text_bytes(r->text, k->text, k->size);
	}
	for (size_t i = 0; i < r->kept_room; i++)
		free(r->kept[i].text);
	free(r->kept);
}

static int one_row(struct report *r)
{
	if (r->tail)
		keep_row(r);
	return r->text->failed || (++r->rows == r->head && r->head);
}

static int branch(void *ctx, const struct bts_task *t, struct bts_branch *b)
{
	struct report *r = ctx;
	const struct cached *c = b->user;

	if (!c) {
		b->user = cache_branch(r, b);
		c = b->user;
	}
	if (!c)
		return -ENOMEM;
	row_head(r, t, bts_task_cpu(t), b->time);
	if (r->json)
		text_format(r->text, ",\"from\":\"0x%llx\",\"to\":\"0x%llx\"",
			    (unsigned long long)b->from.addr, (unsigned long long)b->to.addr);
	text_bytes(r->text, c->text, c->length);
	return one_row(r);
}

static int row(void *ctx, const struct bts_task *t, const struct bts_row *row)
{
	struct report *r = ctx;

	/* Rebuild @prefix, because this row may have changed the task's name. */
	r->task = NULL;
	row_head(r, t, row->cpu, row->time);
	if (r->json) {
		text_string(r->text, ",\"row\":");
		text_json(r->text, row->text);
		text_string(r->text, "}\n");
	} else {
		text_string(r->text, row->text);
		text_string(r->text, "\n");
	}
	r->task = NULL;
	return one_row(r);
}

static void forget(void *ctx, struct bts_branch *b)
{
	(void)ctx;
	free(b->user);
}

static int run(void *ctx, const struct options *options)
{
	struct report *r = ctx;
	int ret;

	r->trace = command_trace(options);
	if (!r->trace)
		return STATUS_FAILURE;
	r->head = options->head;
	r->inlines = options->inlines;
	r->text = text_open(stdout);
	bts_on_branch(r->trace, branch);
	bts_on_row(r->trace, row);
	bts_on_total(r->trace, forget);
	ret = bts_run(r->trace, r);
	if (r->tail)
		print_kept(r);
	text_close(r->text);
	return command_trace_end(r->trace, r->json, ret < 0 ? STATUS_FAILURE : STATUS_OK);
}

static int option(void *ctx, int option, const char *command)
{
	struct report *r = ctx;

	switch (option) {
	case 'j':
		r->json = true;
		return STATUS_OK;
	case 'l':
		r->lines = false;
		return STATUS_OK;
	case 'r':
		r->reverse = true;
		return STATUS_OK;
	case 't':
		return msg_number(command, "--tail", optarg, 1, &r->tail);
	}
	return STATUS_MISUSE;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	const struct report *r = ctx;

	if (r->reverse && !r->tail)
		return msg_misuse(argv[0], "--reverse needs --tail");
	return command_input(o, argv[0], argc, argv);
}

int cmd_report(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "no-lines", no_argument, NULL, 'l' },
		{ "tail", required_argument, NULL, 't' },
		{ "reverse", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "lrh", .longs = longs, .rows = true,
		.option = option, .operands = operands, .run = run,
	};
	struct report *r = mem_zalloc(1, sizeof(*r));
	int status;

	r->lines = true;
	status = command_main(&command, r, argc, argv);
	free(r);
	return status;
}
