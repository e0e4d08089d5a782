// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a profile in the format of valgrind's callgrind, for KCachegrind and callgrind_annotate.
 *
 *	fn=(function)		a function, then for each of its lines:
 *	12 5000 700		line, instructions, branches
 *	cfn=(callee)		a callee of the function, then for each line that calls it:
 *	calls=100 30		number of calls, the callee's line
 *	14 90000 12000		line of the call, instructions and branches until the return
 *
 * Line numbers refer to the function's file or, after an fi= line, to the file that fi= names.
 *
 * The costs of lines come from steps (struct step): instructions up to a taken branch. Calls and
 * their costs come from call stacks (struct calls). All numbers are exact counts, not samples.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/arcs.h"
#include "dump.h"

struct callgrind {
	struct dump	*dump;
	struct arcs	arcs;
	struct tally	lines;
	uint64_t	count;
	uint64_t	insns;
	uint64_t	branches;
};

static const char unknown_file[] = "???";

static unsigned int line_of(const struct sym *sym, uint64_t addr, const char **file)
{
	unsigned int line = 0;

	if (!object_line(sym->object, addr, file, &line))
		*file = unknown_file;
	return line;
}

static struct tally_entry *line_entry(struct callgrind *g, const struct sym *sym, uint64_t addr)
{
	struct tally_key key = { .a = sym };
	const char *file;

	key.a_addr = line_of(sym, addr, &file);
	key.b = file;
	return tally_get(&g->lines, &key);
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct callgrind *g = ctx;

	(void)length;
	line_entry(g, code_of(&g->dump->pipe, sym, addr), addr)->insns += g->count;
	g->insns += g->count;
}

static void fold(void *ctx, struct step *s)
{
	struct callgrind *g = ctx;

	if (!s->count || !(s->flags & STEP_SHOWN) || pipe_hides(&g->dump->pipe, s->from))
		return;
	g->count = s->count;
	step_each(&g->dump->pipe, s, one_insn, g);
	line_entry(g, code_of(&g->dump->pipe, s->at_from.sym, s->at_from.addr),
		   s->at_from.addr)->branches += step_branches(s);
	g->branches += step_branches(s);
}

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct callgrind *g = ctx;

	arcs_step(&g->arcs, t, s, ts);
	return 0;
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct callgrind *g = ctx;

	arcs_row(&g->arcs, t, row);
	return 0;
}

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_object(const struct object *a, const struct object *b)
{
	int order = strcmp(a->path, b->path);

	order = order ? order : by_number(a->tgid, b->tgid);
	order = order ? order : memcmp(a->build_id, b->build_id, sizeof(a->build_id));
	return order ? order : by_number(a->inode, b->inode);
}

/*
 * Sort by object, address and name, so that the output depends only on the trace. If two functions
 * are equal in all three, sort by pointer, so that their lines do not mix. @a or @b may be NULL.
 */
static int by_function(const struct sym *a, const struct sym *b)
{
	int order;

	if (a == b || !a || !b)
		return !!a - !!b;
	order = a->object == b->object ? 0 : by_object(a->object, b->object);
	order = order ? order : by_number(a->addr, b->addr);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : by_number((uintptr_t)a, (uintptr_t)b);
}

/* Sort by function, then by file and line. */
static int by_line(const void *left, const void *right)
{
	const struct tally_entry *l = left, *r = right;
	int order = by_function(l->key.a, r->key.a);

	if (!order && l->key.b != r->key.b)
		order = strcmp(l->key.b, r->key.b);
	order = order ? order : by_number(l->key.a_addr, r->key.a_addr);
	/* A line has two entries if its file's name is stored twice. Sort the entries by counts. */
	order = order ? order : by_number(l->insns, r->insns);
	return order ? order : by_number(l->branches, r->branches);
}

static int by_caller(const void *left, const void *right)
{
	const struct tally_entry *l = left, *r = right;
	int order = by_function(l->key.b, r->key.b);

	order = order ? order : by_number(l->key.b_addr, r->key.b_addr);
	return order ? order : by_function(l->key.a, r->key.a);
}

static void print_sym(FILE *out, const char *prefix, const struct sym *sym)
{
	const char *file;

	line_of(sym, sym->addr, &file);
	fprintf(out, "%sob=%s\n%s=%s\n%sfn=%s\n", prefix, sym->object->path,
		*prefix ? "cfi" : "fl", file, prefix, sym->name);
}

/* If the next output lines belong to source file @next, and not to *@file, print an fi= line. */
static void change_file(FILE *out, const char **file, const char *next)
{
	if (strcmp(*file, next))
		fprintf(out, "fi=%s\n", next);
	*file = next;
}

/* Print the calls of @caller. @file is the file of the last line that was printed. */
static void print_calls(const struct callgrind *g, const struct tally_entry *arcs, size_t nr,
			const struct sym *caller, const char *file)
{
	FILE *out = g->dump->out;

	for (size_t i = 0; i < nr; i++) {
		const struct sym *callee = arcs[i].key.a;
		const char *site, *ignored;
		unsigned int line;

		line = line_of(caller, arcs[i].key.b_addr, &site);
		change_file(out, &file, site);
		print_sym(out, "c", callee);
		fprintf(out, "calls=%llu %u\n", (unsigned long long)arcs[i].calls,
			line_of(callee, callee->addr, &ignored));
		fprintf(out, "%u %llu %llu\n", line, (unsigned long long)arcs[i].insns,
			(unsigned long long)arcs[i].branches);
	}
}

/* Print a function with its lines and its calls. */
static void print_function(const struct callgrind *g, const struct sym *sym,
			   const struct tally_entry *lines, size_t nr,
			   const struct tally_entry *arcs, size_t nr_arcs)
{
	FILE *out = g->dump->out;
	const char *file;

	fputc('\n', out);
	print_sym(out, "", sym);
	line_of(sym, sym->addr, &file);
	for (size_t i = 0; i < nr; i++) {
		change_file(out, &file, lines[i].key.b);
		fprintf(out, "%llu %llu %llu\n", (unsigned long long)lines[i].key.a_addr,
			(unsigned long long)lines[i].insns,
			(unsigned long long)lines[i].branches);
	}
	print_calls(g, arcs, nr_arcs, sym, file);
}

/*
 * Print the functions in @lines and @arcs. Both arrays are sorted by function. If an inlined
 * function consists entirely of other inlined functions, it has calls but no lines.
 */
static void print_functions(const struct callgrind *g, const struct tally_entry *lines, size_t nr,
			    const struct tally_entry *arcs, size_t nr_arcs)
{
	size_t line = 0, arc = 0, end_line, end_arc;
	const struct sym *sym;

	while (line < nr || arc < nr_arcs) {
		sym = line < nr ? lines[line].key.a : NULL;
		if (arc < nr_arcs && (!sym || by_function(arcs[arc].key.b, sym) < 0))
			sym = arcs[arc].key.b;
		for (end_line = line; end_line < nr && lines[end_line].key.a == sym; )
			end_line++;
		for (end_arc = arc; end_arc < nr_arcs && arcs[end_arc].key.b == sym; )
			end_arc++;
		if (end_line > line || (sym && sym->inlined))
			print_function(g, sym, lines + line, end_line - line, arcs + arc,
				       end_arc - arc);
		line = end_line;
		arc = end_arc;
	}
}

static void print(struct callgrind *g)
{
	struct tally_entry *lines = tally_sorted(&g->lines, by_line);
	struct tally_entry *arcs = tally_sorted(&g->arcs.tally, by_caller);

	fprintf(g->dump->out, "# callgrind format\nversion: 1\ncreator: bts\npositions: line\n"
		"events: Instructions Branches\nsummary: %llu %llu\n",
		(unsigned long long)g->insns, (unsigned long long)g->branches);
	print_functions(g, lines, g->lines.nr, arcs, g->arcs.tally.nr);
	free(lines);
	free(arcs);
}

int dump_callgrind(struct dump *d)
{
	struct callgrind g = { .dump = d, .arcs = { .pipe = &d->pipe, .sites = true } };
	int status;

	d->pipe.consumer = (struct consumer) {
		.ctx = &g, .branch = branch, .row = row, .fold = fold,
	};
	status = pipe_run(&d->pipe);
	arcs_end(&g.arcs);
	print(&g);
	tally_free(&g.lines);
	tally_free(&g.arcs.tally);
	return status;
}
