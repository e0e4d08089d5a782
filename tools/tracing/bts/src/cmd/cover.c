// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts cover: count how often each line and each branch was executed.
 *
 * Each step has a count (struct step in flow/pipeline.h), and bts cover adds up these counts. As in
 * gcov, a line is counted when a call leads to it, or when execution comes to it from another line.
 * A backward jump inside the line also counts, but a return into the calling line does not.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "cmd.h"
#include "cover.h"

static const char usage[] =
	"Usage: bts cover -f FORMAT [OPTIONS] [FILE...]\n\n"
	"Reports which lines and branches ran in one or more traces.\n\n"
	"  -f lcov            lines, functions and branches with counts, for genhtml\n"
	"  -f drcov           ranges of executed code, for disassembler plugins like Lighthouse\n"
	"  -f pcs             addresses of instructions with counts, as text\n"
	"  -o, --output FILE  the output; - is standard output (the default)\n"
	"  --tests            show each trace as a test in lcov's pages (only with -f lcov)\n"
	"  -h, --help         this text\n\n"
	"Covers all files, only one file (--dso NAME), or only the kernel (-k). With lcov,\n"
	"files without debug information are left out.\n";

struct cover_step {
	struct cover	*cover;
	uint64_t	count;
	uint64_t	last;
	const char	*file;
	unsigned int	line;
};

static struct tally_entry *at_line(struct cover *c, const char *file, unsigned int line)
{
	struct tally_key key = { .a = file, .a_addr = line };

	return tally_get(&c->lines, &key);
}

static struct tally_entry *at_addr(struct tally *t, const struct object *o, uint64_t addr)
{
	struct tally_key key = { .a = o, .a_addr = addr };

	return tally_get(t, &key);
}

struct tally_entry *cover_cond(struct cover *c, const struct object *o, uint64_t addr)
{
	return at_addr(&c->conds, o, addr);
}

struct tally_entry *cover_inlined(struct cover *c, const struct object *o,
				  const struct sym *inlined)
{
	struct tally_key key = { .a = o, .a_addr = inlined->inlined, .b = o };

	return tally_get(&c->calls, &key);
}

static bool same_line(const struct cover_step *w, const char *file, unsigned int line)
{
	return line == w->line && w->file && !strcmp(w->file, file);
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct cover_step *w = ctx;
	struct object *o = cover_object(w->cover, sym->object);
	struct tally_entry *e = at_addr(&w->cover->insns, o, addr);
	enum branch_kind kind;
	const char *file;
	unsigned int line;

	e->insns += w->count;
	e->calls = length;
	if (addr != w->last && branch_kind_at(o, addr, &kind) && kind == BRANCH_COND)
		cover_cond(w->cover, o, addr)->branches += w->count;
	if (!w->cover->format->lines || !object_line(o, addr, &file, &line))
		return;
	if (w->file && !same_line(w, file, line))
		at_line(w->cover, file, line)->branches += w->count;
	w->file = file;
	w->line = line;
}

static bool is_call(const struct step *s)
{
	return s->kind == BRANCH_CALL || s->kind == BRANCH_CALL_IND;
}

/* A jump, call or return leads to line @line. Report whether the line's count increases. */
static bool comes_anew(const struct step *s, const char *file, unsigned int line)
{
	uint64_t from = s->at_from.addr;
	const char *old_file;
	unsigned int old_line;

	if (is_call(s) || (s->at_from.sym->object != s->at_to.sym->object &&
			   s->kind != BRANCH_RET))
		return true;
	/* If a return leads to a call on this line, the line continues: do not count it again. */
	if (s->kind == BRANCH_RET)
		from = s->at_to.addr - 1;
	if (!object_line(s->at_to.sym->object, from, &old_file, &old_line))
		return true;
	if (old_line != line || strcmp(old_file, file))
		return true;
	return s->kind != BRANCH_RET && s->at_to.addr <= s->at_from.addr;
}

/*
 * Step @s leads to line @line. Return how much the step adds to the line's count. A return from the
 * kernel or from an interrupt counts only if it starts a signal handler or a program.
 */
static uint64_t times_anew(const struct cover *c, const struct step *s, const char *file,
			   unsigned int line)
{
	if (step_returns(s))
		return step_calls(c->pipe, s);
	if (s->kind == BRANCH_INTERRUPT)
		return 0;
	return comes_anew(s, file, line) ? s->count : 0;
}

static void landing(struct cover *c, const struct step *s)
{
	const struct sym *to = s->at_to.sym;
	struct object *o = cover_object(c, to->object);
	uint64_t calls = s->at_to.addr == to->addr ? step_calls(c->pipe, s) : 0, anew;
	const char *file;
	unsigned int line;

	if (!c->wanted(c, to->object))
		return;
	if (calls)
		at_addr(&c->calls, o, to->addr)->calls += calls;
	if (!c->format->lines || !object_line(o, s->at_to.addr, &file, &line))
		return;
	anew = times_anew(c, s, file, line);
	if (anew)
		at_line(c, file, line)->branches += anew;
}

static void enter_inlined(void *ctx, struct sym *inlined)
{
	struct cover_step *w = ctx;
	struct cover *c = w->cover;

	if (c->wanted(c, inlined->object))
		cover_inlined(c, cover_object(c, inlined->object), inlined)->calls += w->count;
}

static void fold(void *ctx, struct step *s)
{
	struct cover *c = ctx;
	struct cover_step w = { .cover = c, .count = s->count };

	if (!s->count || !(s->flags & STEP_SHOWN))
		return;
	if (!(s->flags & STEP_END))
		landing(c, s);
	if (c->options->inlines)
		step_enter(c->pipe, s, enter_inlined, &w);
	if (!c->wanted(c, s->at_from.sym->object))
		return;
	w.last = s->at_from.addr;
	step_each(c->pipe, s, one_insn, &w);
	if (s->kind == BRANCH_COND)
		cover_cond(c, cover_object(c, s->at_from.sym->object), s->at_from.addr)->calls +=
			s->count;
}

static int row(void *ctx, struct task *task, const struct row *row)
{
	struct cover *c = ctx;
	struct step s;

	if (pipe_signal(c->pipe, task, row, &s))
		landing(c, &s);
	return 0;
}

static bool wanted(const struct cover *c, const struct object *o)
{
	if (c->options->dso)
		return object_is_named(o, c->options->dso);
	return c->options->kernel ? o->kernel : true;
}

static const struct cover_format formats[] = {
	{ "lcov",	cover_lcov,	true,	true },
	{ "drcov",	cover_drcov,	false,	false },
	{ "pcs",	cover_pcs,	false,	false },
};

static const struct cover_format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static void clear_sums(struct cover *c)
{
	tally_free(&c->lines);
	tally_free(&c->conds);
	tally_free(&c->calls);
	tally_free(&c->insns);
}

/* Return the name of a test. lcov allows only letters, digits and underscores in such names. */
static char *test_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = mem_strdup(slash ? slash + 1 : path), *end = strstr(name, ".dat");

	if (end && !end[4])
		*end = 0;
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return name;
}

/* Read a trace. With --tests, write and then clear the sums of this trace. */
static int add_trace(struct cover *c, const char *path, const struct options *options)
{
	struct pipe *pipe = mem_zalloc(1, sizeof(*pipe));
	int status;

	pipe->consumer = (struct consumer) { .ctx = c, .fold = fold, .row = row };
	if (!pipe_open(pipe, path, options)) {
		free(pipe);
		return STATUS_FAILURE;
	}
	c->pipes = mem_realloc(c->pipes, c->nr_pipes + 1, sizeof(*c->pipes));
	c->pipes[c->nr_pipes++] = pipe;
	c->pipe = pipe;
	if (!c->out)
		c->out = command_output(c->output);
	if (!c->out)
		return STATUS_FAILURE;
	status = pipe_run(pipe);
	pipe_bill(pipe, c->bills);
	if (c->tests) {
		c->test = test_name(path);
		c->format->print(c);
		clear_sums(c);
		free(c->test);
	}
	cover_end_trace(c);
	return status;
}

static int end(struct cover *c, char **bills, int status)
{
	FILE *out;

	if (!c->tests && !status)
		c->format->print(c);
	fclose(c->bills);
	/* If the coverage is written to standard output, print the summaries to standard error. */
	out = c->out == stdout ? stderr : stdout;
	if (c->out)
		status = command_output_close(c->out, c->output, status);
	fputs(*bills, out);
	free(*bills);
	if (c->damaged)
		status = STATUS_FAILURE;
	for (size_t i = 0; i < c->nr_pipes; i++) {
		if (pipe_close(c->pipes[i]))
			status = STATUS_FAILURE;
		free(c->pipes[i]);
	}
	free(c->pipes);
	clear_sums(c);
	return status;
}

static int run(void *ctx, const struct options *options)
{
	struct cover *c = ctx;
	int status = STATUS_OK;
	char *bills = NULL;
	size_t size;

	c->wanted = wanted;
	c->options = options;
	c->bills = open_memstream(&bills, &size);
	if (!c->bills)
		return msg_errno("write", "the summary");
	for (int i = 0; i < c->nr_paths && !status; i++)
		status = add_trace(c, c->paths[i], options);
	return end(c, &bills, status);
}

static int option(void *ctx, int option, const char *command)
{
	struct cover *c = ctx;

	switch (option) {
	case 'o':
		c->output = optarg;
		return STATUS_OK;
	case 't':
		c->tests = true;
		return STATUS_OK;
	default:
		c->format = find_format(optarg);
		return c->format ? STATUS_OK :
		       msg_misuse(command, "-f %s: no such format", optarg);
	}
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct cover *c = ctx;

	if (!c->format)
		return msg_misuse(argv[0], "-f FORMAT is needed");
	if (c->tests && !c->format->tests)
		return msg_misuse(argv[0],
				  "--tests cannot be used with -f %s, which has no test names",
				  c->format->name);
	if (o->inlines && !c->format->lines)
		return msg_misuse(argv[0], "--inline: -f %s shows no functions", c->format->name);
	c->paths = &o->path;
	c->nr_paths = 1;
	if (optind < argc) {
		c->paths = argv + optind;
		c->nr_paths = argc - optind;
		if (command_no_input(o, argv[0]))
			return STATUS_MISUSE;
	}
	return command_no_overwrite(o, argv[0], c->output, c->paths, c->nr_paths);
}

int cmd_cover(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "tests", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "f:o:h", .longs = longs,
		.option = option, .operands = operands, .run = run,
	};
	struct cover c = {};

	return command_main(&command, &c, argc, argv);
}
