// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the branches that distinguish failing runs from passing runs.
 *
 * A conditional branch has two outcomes: taken and not taken. For each outcome, count the passing
 * runs (p) and the failing runs (f) in which the outcome occurs. If F runs fail in total, the score
 * of the outcome is f / sqrt(F * (f + p)). The more passing runs have the outcome, the lower is its
 * score. This score is the Ochiai coefficient (Abreu and others, "On the Accuracy of Spectrum-based
 * Fault Localization", 2007).
 *
 * If scores are equal, branches of the program are shown before branches of the C and C++
 * libraries. To report a failure, a program executes a lot of code in these libraries, but this
 * code is not the cause of the failure.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/colour.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "suspects.h"
#include "show.h"

/* The run that is being read. @nr: its number, from 1. @ways: number of outcomes found so far. */
struct reading {
	struct suspects	*all;
	const struct pipe *pipe;
	unsigned int	nr;
	bool		failed;
	uint64_t	ways;
};

void suspects_add_path(struct suspects *s, bool failed, char *path)
{
	size_t nr = s->nr_paths[failed]++;

	s->paths[failed] = mem_realloc(s->paths[failed], nr + 1, sizeof(*s->paths[failed]));
	s->paths[failed][nr] = path;
}

/* Return the square root, by Newton's method, because libm is not linked. */
static double root(double x)
{
	double guess = x > 1 ? x : 1;

	for (int i = 0; i < 40; i++)
		guess = (guess + x / guess) / 2;
	return guess;
}

static struct suspect *suspect_of(struct suspects *s, uint32_t place)
{
	while (s->nr <= place) {
		if (s->nr == s->room) {
			s->room = 2 * s->room + 1024;
			s->list = mem_realloc(s->list, s->room, sizeof(*s->list));
		}
		s->list[s->nr++] = (struct suspect) {};
	}
	return &s->list[place];
}

/* Count this run for outcome number @place. Return NULL if the run was already counted for it. */
static struct suspect *count(struct reading *r, uint32_t place)
{
	struct suspect *x = suspect_of(r->all, place);

	if (x->last == r->nr)
		return NULL;
	x->last = r->nr;
	r->ways++;
	if (r->failed && !x->runs[1])
		x->first = r->ways;
	x->runs[r->failed]++;
	return x;
}

/* Set the place of an outcome, unless an earlier run has set it. */
static void set_place(struct suspects *s, struct suspect *x, const struct place *from,
		      const struct place *to, uint64_t from_addr)
{
	if (x->from.sym)
		return;
	x->from = *from;
	x->to = *to;
	x->from_addr = from_addr;
	s->placed++;
}

struct passing {
	struct reading		*reading;
	const struct token	*token;
};

/* If the instruction is a conditional branch that was not taken, count this outcome. */
static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct passing *p = ctx;
	const struct token *t = p->token;
	enum branch_kind kind;
	struct suspect *x;

	if (addr == t->from.addr || !branch_kind_at(sym->object, addr, &kind) ||
	    kind != BRANCH_COND)
		return;
	x = count(p->reading, forest_place(&p->reading->all->forest, t->objects[1], addr));
	if (!x)
		return;
	x->straight = true;
	set_place(p->reading->all, x, &(struct place) { sym, addr },
		  &(struct place) { sym, addr + length }, t->from_addr - t->from.addr + addr);
}

/* Report whether the filters exclude the step, or whether the step is noise (noise.h). */
static bool is_noise(struct reading *r, const struct step *s)
{
	struct forest *f = &r->all->forest;
	uint32_t function;

	if (!(s->flags & STEP_SHOWN) || (!f->all && is_kernel(s->from)))
		return true;
	function = forest_function(f, s->at_from.sym, s->at_from.sym->addr, NULL);
	return f->functions[function].noise || f->functions[function].stub;
}

static int branch(void *ctx, struct task *task, struct step *s, uint64_t ts)
{
	struct reading *r = ctx;
	struct passing p = { .reading = r };
	const struct token *t;
	struct suspect *x;

	(void)task;
	(void)ts;
	/* If this run repeats the step, the outcomes of the step's branches are already counted. */
	if (s->priv)
		return 0;
	s->priv = r;
	if (is_noise(r, s))
		return 0;
	t = token_of(&r->all->forest, forest_token(&r->all->forest, s, &s->at_start, s->insns));
	p.token = t;
	step_each(r->pipe, s, one_insn, &p);
	/* Do not count an interrupt. The branches before the interrupt were counted above. */
	x = r->all->forest.all || !noise_step(s) ? count(r, t->same) : NULL;
	if (x)
		set_place(r->all, x, &t->from, &t->to, t->from_addr);
	return 0;
}

static size_t names(const struct suspects *s)
{
	return s->forest.nr_tokens + s->forest.nr_functions + s->placed;
}

/* Read run number @nr. Keep the trace open only if the run has a branch that no earlier run has. */
static int read_run(struct suspects *s, unsigned int nr, bool failed, const char *path,
		    const struct options *options)
{
	struct pipe *pipe = &s->pipes[s->nr_pipes];
	struct reading r = { .all = s, .pipe = pipe, .nr = nr, .failed = failed };
	size_t before = names(s);
	int status;

	*pipe = (struct pipe) { .consumer = { .ctx = &r, .branch = branch } };
	if (!pipe_open(pipe, path, options))
		return STATUS_FAILURE;
	status = pipe_run(pipe);
	if (status || names(s) > before)
		s->nr_pipes++;
	else
		s->closed |= pipe_close(pipe);
	return status;
}

static int by_score(const void *left, const void *right)
{
	const struct suspect *a = left, *b = right;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	if (a->runtime != b->runtime)
		return a->runtime ? 1 : -1;
	return (a->first > b->first) - (a->first < b->first);
}

static bool is_runtime(struct forest *f, const struct place *place)
{
	uint32_t function = forest_function(f, place->sym, place->sym->addr, NULL);

	return f->functions[function].runtime;
}

static void rank(struct suspects *s)
{
	double failed = s->nr_paths[1];

	s->ranked = mem_alloc((s->nr + 1) * sizeof(*s->ranked));
	for (size_t i = 0; i < s->nr; i++) {
		struct suspect *x = &s->list[i];
		double runs = x->runs[0] + x->runs[1];

		/* Skip an outcome that occurs in no failed run, or in every run. */
		if (!x->runs[1] || runs == s->nr_paths[0] + s->nr_paths[1])
			continue;
		x->score = x->runs[1] / root(failed * runs);
		x->runtime = is_runtime(&s->forest, &x->from);
		s->ranked[s->nr_ranked++] = *x;
	}
	if (s->nr_ranked)
		qsort(s->ranked, s->nr_ranked, sizeof(*s->ranked), by_score);
}

int suspects_find(struct suspects *s, const struct options *options)
{
	int status = STATUS_OK;
	unsigned int nr = 0;

	s->forest.inlines = options->inlines;
	s->pipes = mem_zalloc(s->nr_paths[0] + s->nr_paths[1], sizeof(*s->pipes));
	for (unsigned int failed = 0; failed < 2; failed++) {
		for (size_t i = 0; i < s->nr_paths[failed]; i++) {
			status = read_run(s, ++nr, failed, s->paths[failed][i], options);
			if (status)
				return status;
		}
	}
	rank(s);
	return status;
}

static void write_branch(const struct suspects *s, const struct suspect *x, FILE *out)
{
	struct route route = { .out = out, .begun = true };
	char place[1024], line[512];

	place_text(place, sizeof(place), &x->from, x->from_addr);
	fputs(place, out);
	route_place(&route, &s->forest, &x->from);
	line_text(line, sizeof(line), &x->from);
	if (line[0])
		fprintf(out, " (%s)", line);
	place_with_line(place, sizeof(place), &x->to);
	fprintf(out, " %s %s", x->straight ? "goes straight on to" : "->", place);
}

char *suspect_text(const struct suspects *s, const struct suspect *x)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		mem_fail();
	write_branch(s, x, out);
	fclose(out);
	return text;
}

static void show_suspect(const struct suspects *s, const struct suspect *x, FILE *out)
{
	colour(out, x->runs[0] ? COLOUR_NONE : COLOUR_BAD);
	fprintf(out, "%7.3f %7u %7u  ", x->score, x->runs[0], x->runs[1]);
	write_branch(s, x, out);
	colour(out, COLOUR_NONE);
	fputc('\n', out);
}

void suspects_show(const struct suspects *s, unsigned long rows, FILE *out)
{
	size_t nr = rows && rows < s->nr_ranked ? rows : s->nr_ranked;

	colour_line(out, COLOUR_BOLD, "%zu run%s passed, %zu failed", s->nr_paths[0],
		    text_plural(s->nr_paths[0], "s"), s->nr_paths[1]);
	if (nr)
		fputs("  score  passed  failed  branch\n", out);
	for (size_t i = 0; i < nr; i++)
		show_suspect(s, &s->ranked[i], out);
	if (nr < s->nr_ranked)
		fprintf(out, "# %zu more branch%s\n", s->nr_ranked - nr,
			text_plural(s->nr_ranked - nr, "es"));
}

/* Write the file and the line of a place as members of a JSON object, if the line is known. */
static void json_line(const struct place *place, const char *before, FILE *out)
{
	const char *file;
	unsigned int line;

	if (!object_line(place->sym->object, place->addr, &file, &line))
		return;
	fprintf(out, ",\"%sfile\":", before);
	text_print_json(out, file);
	fprintf(out, ",\"%sline\":%u", before, line);
}

void suspects_show_json(const struct suspects *s, FILE *out)
{
	char from[1024], to[1024];

	for (size_t i = 0; i < s->nr_ranked; i++) {
		const struct suspect *x = &s->ranked[i];

		place_text(from, sizeof(from), &x->from, x->from_addr);
		place_text(to, sizeof(to), &x->to, x->to.addr);
		fprintf(out, "{\"score\":%.6f,\"passed\":%u,\"failed\":%u,\"taken\":%s,\"from\":",
			x->score, x->runs[0], x->runs[1], x->straight ? "false" : "true");
		text_print_json(out, from);
		fputs(",\"to\":", out);
		text_print_json(out, to);
		if (s->forest.inlines) {
			struct route route = { .out = out, .json = true };

			fputs(",\"inlined\":[", out);
			route_place(&route, &s->forest, &x->from);
			fputc(']', out);
		}
		json_line(&x->from, "", out);
		json_line(&x->to, "to_", out);
		fputs(",\"dso\":", out);
		text_print_json(out, x->from.sym->object->name);
		fputs("}\n", out);
	}
}

int suspects_free(struct suspects *s)
{
	int status = s->closed;

	for (size_t i = 0; i < s->nr_pipes; i++)
		status |= pipe_close(&s->pipes[i]);
	for (unsigned int failed = 0; failed < 2; failed++)
		free(s->paths[failed]);
	free(s->pipes);
	free(s->list);
	free(s->ranked);
	forest_free(&s->forest);
	return status;
}
