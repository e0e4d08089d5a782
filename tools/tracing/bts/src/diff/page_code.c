// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the code that a run executes, with a row for each source line. Calls and loops can be
 * unfolded.
 *
 * Consecutive instructions without a source line share one row, which shows how many there are.
 * If a source file cannot be read, the rows of this file contain only line numbers.
 */
#include <string.h>

#include "lib/html.h"
#include "lib/text.h"
#include "symbols/code.h"
#include "page.h"

/* The number of source lines to show before and after a place. */
#define AROUND	4

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

/* Report whether there is room for a row. The last row is used for a note that code is omitted. */
static bool has_room(struct page *p)
{
	if (!p->left)
		return false;
	if (!--p->left)
		fputs("<div class=\"l\"><i></i><s>more code is not shown</s></div>\n", p->out);
	return p->left;
}

/* End a list of line numbers. Add a row for instructions without a source line, if necessary. */
static void end_row(struct rows *r)
{
	FILE *out = r->page->out;
	char text[1024];

	if (r->listed)
		fputs("</s></div>\n", out);
	r->listed = false;
	if (r->blind && has_room(r->page)) {
		place_text(text, sizeof(text), &r->begin, r->begin.addr);
		fputs("<div class=\"l\"><i></i><s>", out);
		html_text(out, text);
		fprintf(out, ": %s instruction%s</s></div>\n", text_commas(r->blind),
			r->blind == 1 ? "" : "s");
	}
	r->blind = 0;
}

/* Write the name of @file before a row, unless the previous row is also from @file. */
static void put_file(struct rows *r, const char *file)
{
	if (r->file && !strcmp(r->file, file))
		return;
	fputs("<div class=\"l\"><i></i><u>", r->page->out);
	html_text(r->page->out, base_name(file));
	fputs("</u></div>\n", r->page->out);
	r->file = file;
}

static void put_line(FILE *out, unsigned int line, const char *text, bool mark)
{
	fprintf(out, "<div class=\"l%s\"><i>%u</i>", mark ? " at" : "", line);
	html_text(out, text);
	fputs("</div>\n", out);
}

/* If a source file cannot be read, list the line numbers of the executed lines in one row. */
static void list_line(struct rows *r, const char *file, unsigned int line)
{
	FILE *out = r->page->out;

	if (r->listed && !strcmp(r->file, file)) {
		fprintf(out, ", %u", line);
		return;
	}
	end_row(r);
	if (!has_room(r->page))
		return;
	fputs("<div class=\"l\"><i></i><s>", out);
	html_text(out, base_name(file));
	fprintf(out, ":%u", line);
	r->listed = true;
	r->file = file;
}

static void add_line(struct rows *r, const char *file, unsigned int line)
{
	const char *text = sources_line(&r->page->sources, file, line);

	if (!r->blind && line == r->line && r->file && !strcmp(r->file, file))
		return;
	if (!text) {
		list_line(r, file, line);
	} else {
		end_row(r);
		if (!has_room(r->page))
			return;
		put_file(r, file);
		put_line(r->page->out, line, text, line == r->mark);
	}
	r->line = line;
}

struct insns {
	struct rows	*rows;
	struct object	*object;
};

static void one_insn(void *ctx, uint64_t addr, uint32_t length)
{
	struct insns *i = ctx;
	const char *file;
	unsigned int line;

	(void)length;
	if (object_line(i->object, addr, &file, &line)) {
		add_line(i->rows, file, line);
		return;
	}
	if (!i->rows->blind) {
		end_row(i->rows);
		i->rows->line = 0;
		i->rows->begin = (struct place) { object_sym(i->object, addr), addr };
	}
	i->rows->blind++;
}

void rows_run(struct rows *r, const struct place *from, uint64_t to, bool last)
{
	struct object *o = from->sym->object;
	/* Read kernel code from o->code, which contains the kernel and all modules. */
	struct insns i = { .rows = r, .object = o->kernel ? o->code : o };

	code_each(i.object, from->addr, to, one_insn, &i);
	if (last)
		one_insn(&i, to, 0);
}

static void add_children(struct rows *r, const struct node *n)
{
	for (uint32_t i = 0; i < n->nr && r->page->left; i++)
		rows_item(r, r->page->forest->elems[n->begin + i], 1);
}

static void put_head(struct rows *r, const struct node *n, uint64_t times)
{
	const struct forest *f = r->page->forest;
	FILE *out = r->page->out;
	char name[1024];

	if (n->type == NODE_CALL) {
		function_text(name, sizeof(name), &f->functions[n->key]);
		html_text(out, name);
	} else {
		fputs(n->type == NODE_LOOP ? "loop" : "iteration", out);
	}
	if (times > 1)
		fprintf(out, " × %s", text_commas(times));
	if (n->insns)
		fprintf(out, " <s>%s instruction%s</s>", text_commas(n->insns * times),
			n->insns * times == 1 ? "" : "s");
}

/* Add a call, a loop or an iteration. */
static void add_node(struct rows *r, const struct node *n, uint64_t times)
{
	FILE *out = r->page->out;
	struct rows inside;

	end_row(r);
	r->line = 0;
	if (!has_room(r->page))
		return;
	if (!r->depth || !n->nr || r->page->left < 2) {
		fputs("<div class=\"l c\"><i></i>", out);
		put_head(r, n, times);
		fputs("</div>\n", out);
		return;
	}
	fputs("<details class=\"c\"><summary>", out);
	put_head(r, n, times);
	fputs("</summary>\n", out);
	inside = (struct rows) { .page = r->page, .depth = r->depth - 1 };
	if (n->type != NODE_CALL)
		inside.file = r->file;
	add_children(&inside, n);
	rows_end(&inside);
	fputs("</details>\n", out);
}

void rows_item(struct rows *r, uint32_t elem, uint64_t times)
{
	const struct forest *f = r->page->forest;
	const struct token *t;
	const struct node *n;

	if (!is_node(elem)) {
		t = token_of(f, elem);
		rows_run(r, &t->start, t->from.addr, true);
		return;
	}
	n = node_of(f, elem);
	if (n->type == NODE_RUN)
		rows_item(r, n->key, n->begin * times);
	else if (n->type == NODE_CHUNK)
		add_children(r, n);
	else
		add_node(r, n, times);
}

struct rows rows_begin(struct page *p, uint32_t function, unsigned int depth)
{
	struct rows r = { .page = p, .depth = depth };
	const struct function *fn = function == NONE ? NULL : &p->forest->functions[function];
	unsigned int line;

	if (fn)
		object_line(fn->sym->object, fn->addr, &r.file, &line);
	return r;
}

void rows_end(struct rows *r)
{
	end_row(r);
}

void rows_around(struct page *p, const struct place *place)
{
	unsigned int line, first;
	const char *file, *text;

	if (!object_line(place->sym->object, place->addr, &file, &line))
		return;
	first = line > AROUND ? line - AROUND : 1;
	for (unsigned int i = first; i <= line + AROUND; i++) {
		text = sources_line(&p->sources, file, i);
		if (text)
			put_line(p->out, i, text, i == line);
	}
}
