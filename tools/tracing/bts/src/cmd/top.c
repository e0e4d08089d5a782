// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts top: rank functions, edges, loops, lines or files by instructions or branches.
 *
 * A step is a branch and the instructions since the previous branch (struct step). The pipeline
 * (flow/pipeline.h) counts how often each step was executed. At the end, for each instruction of a
 * step, bts top adds the step's count to the sum of the instruction's function, line or file.
 *
 * All backward jumps to the same target within a function form one loop. The count of a loop is the
 * number of times that these jumps were taken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/tally.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/terminal.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"
#include "live.h"

static const char usage[] =
	"Usage: bts top [OPTIONS] [FILE]\n\n"
	"Ranks functions by executed instructions. All counts are exact.\n\n"
	"  -b, --by WHAT      function (default), edge, loop, line, dso\n"
	"  -s, --sort WHAT    instructions (default) or branches\n"
	"  -n, --rows N       print N rows (40); 0: all\n"
	"  --json             print one JSON object per line\n"
	"  -l, --live         repeatedly record and show the tasks of --pid, or all tasks\n"
	"  -d, --delay S      with --live: record for S seconds each time (default: 1)\n"
	"  -c, --count N      repeat N times instead of until Ctrl-C\n"
	"  -h, --help         this text\n";

enum by { BY_FUNCTION, BY_EDGE, BY_LOOP, BY_LINE, BY_DSO };

static const char *const by_names[] = { "function", "edge", "loop", "line", "dso" };

#define NAMES_CACHED 1024

/* The maximum of --delay, in seconds (one day). */
#define DELAY_MAX 86400

struct top {
	struct pipe		pipe;
	struct tally		tally;
	enum by			by;
	bool			by_branches;
	bool			json;
	unsigned long		rows;
	bool			live;
	struct live		recordings;
	uint64_t		insns;
	uint64_t		branches;
	uint64_t		count;
	const char		**names;
	size_t			nr_names;
	struct {
		const char	*file;
		const char	*name;
	} cache[NAMES_CACHED];
};

static struct tally_entry *tally_at(struct top *t, const void *a, uint64_t a_addr, const void *b,
				    uint64_t b_addr)
{
	struct tally_key key = { .a = a, .a_addr = a_addr, .b = b, .b_addr = b_addr };

	return tally_get(&t->tally, &key);
}

/* Each compilation unit has its own copy of a file name. Return the same pointer for all copies. */
static const char *one_name(struct top *t, const char *file)
{
	size_t at = ((uintptr_t)file >> 4) % NAMES_CACHED, i;

	if (t->cache[at].file == file)
		return t->cache[at].name;
	for (i = 0; i < t->nr_names; i++)
		if (!strcmp(t->names[i], file))
			break;
	if (i == t->nr_names) {
		t->names = mem_realloc(t->names, t->nr_names + 1, sizeof(*t->names));
		t->names[t->nr_names++] = file;
	}
	t->cache[at].file = file;
	t->cache[at].name = t->names[i];
	return t->names[i];
}

static struct tally_entry *place_entry(struct top *t, struct sym *sym, uint64_t addr)
{
	const char *file;
	unsigned int line;

	if (t->by == BY_DSO)
		return tally_at(t, sym->object, 0, NULL, 0);
	if (t->by == BY_FUNCTION)
		return tally_at(t, sym, sym->addr, NULL, 0);
	if (object_line(sym->object, addr, &file, &line))
		return tally_at(t, one_name(t, file), line, NULL, 0);
	return tally_at(t, sym, UINT64_MAX, NULL, 0);
}

static void one_insn(void *ctx, struct sym *sym, uint64_t addr, uint32_t length)
{
	struct top *t = ctx;

	(void)length;
	place_entry(t, code_of(&t->pipe, sym, addr), addr)->insns += t->count;
}

static void fold_edge(struct top *t, const struct step *s)
{
	struct tally_entry *e = tally_at(t, s->at_from.sym, s->at_from.addr, s->at_to.sym,
					 s->at_to.addr);

	e->kind = s->kind;
	e->branches += s->count;
	e->insns += s->count * s->insns;
}

static void fold_loop(struct top *t, const struct step *s)
{
	struct tally_entry *e;

	if (s->at_from.sym != s->at_to.sym || s->at_to.addr > s->at_from.addr ||
	    (s->kind != BRANCH_COND && s->kind != BRANCH_JUMP && s->kind != BRANCH_JUMP_IND))
		return;
	e = tally_at(t, s->at_to.sym, s->at_to.addr, NULL, 0);
	e->branches += s->count;
	e->insns += s->count * s->insns;
}

static void add_inlined(void *ctx, struct sym *inlined)
{
	struct top *t = ctx;

	place_entry(t, inlined, 0)->calls += t->count;
}

static void fold_calls(struct top *t, const struct step *s)
{
	uint64_t calls = t->by == BY_EDGE || t->by == BY_LOOP ? 0 : step_calls(&t->pipe, s);

	if (calls)
		place_entry(t, s->at_to.sym, s->at_to.addr)->calls += calls;
}

static void fold_run(struct top *t, const struct step *s)
{
	uint64_t branches = step_branches(s);

	t->branches += branches;
	t->insns += s->count * s->insns;
	if (t->by == BY_EDGE) {
		if (branches)
			fold_edge(t, s);
	} else if (t->by == BY_LOOP) {
		fold_loop(t, s);
	} else {
		/* If a single function contains the whole step, do not visit each instruction. */
		if (t->by != BY_LINE && !t->pipe.inlines && s->at_start.sym == s->at_from.sym)
			place_entry(t, s->at_from.sym, s->at_from.addr)->insns +=
				s->count * s->insns;
		else
			step_each(&t->pipe, s, one_insn, t);
		place_entry(t, code_of(&t->pipe, s->at_from.sym, s->at_from.addr),
			    s->at_from.addr)->branches += branches;
		if (t->pipe.inlines && t->by == BY_FUNCTION)
			step_enter(&t->pipe, s, add_inlined, t);
	}
}

static void fold(void *ctx, struct step *s)
{
	struct top *t = ctx;

	if (!s->count || !(s->flags & STEP_SHOWN))
		return;
	t->count = s->count;
	if (!pipe_hides(&t->pipe, s->from))
		fold_run(t, s);
	fold_calls(t, s);
}

static int row(void *ctx, struct task *task, const struct row *row)
{
	struct top *t = ctx;
	struct step s;

	if (pipe_signal(&t->pipe, task, row, &s))
		fold_calls(t, &s);
	return 0;
}

static int compare(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		   const struct tally_entry *left, const struct tally_entry *right)
{
	if (a != b)
		return a < b ? 1 : -1;
	if (c != d)
		return c < d ? 1 : -1;
	/* If both counts are equal, sort by address, so that the order is always the same. */
	if (left->key.a_addr != right->key.a_addr)
		return left->key.a_addr < right->key.a_addr ? -1 : 1;
	return left->key.b_addr < right->key.b_addr ? -1 : left->key.b_addr > right->key.b_addr;
}

static int by_insns(const void *left, const void *right)
{
	const struct tally_entry *l = left, *r = right;

	return compare(l->insns, r->insns, l->branches, r->branches, l, r);
}

static int by_branches(const void *left, const void *right)
{
	const struct tally_entry *l = left, *r = right;

	return compare(l->branches, r->branches, l->insns, r->insns, l, r);
}

static void print_place(const struct sym *s, uint64_t addr)
{
	struct place p = { .sym = (struct sym *)s, .addr = addr };
	char text[1024];

	place_text(text, sizeof(text), &p, addr);
	fputs(text, stdout);
}

/* Return "FILE:LINE". The caller frees the name. */
static char *line_name(const struct tally_entry *e)
{
	const struct sym *s = e->key.a;

	if (e->key.a_addr == UINT64_MAX)
		return mem_format("%s (no line)", s->name);
	return mem_format("%s:%llu", (const char *)e->key.a, (unsigned long long)e->key.a_addr);
}

static void print_name(const struct top *t, const struct tally_entry *e)
{
	const struct sym *s = e->key.a;
	const struct object *o = e->key.a;
	char *line;

	switch (t->by) {
	case BY_FUNCTION:
		fputs(s->name, stdout);
		if (s != &s->object->whole)
			printf("  (%s)", s->object->name);
		break;
	case BY_DSO:
		fputs(o->name, stdout);
		break;
	case BY_LINE:
		line = line_name(e);
		fputs(line, stdout);
		free(line);
		break;
	case BY_LOOP:
		print_place(s, e->key.a_addr);
		break;
	case BY_EDGE:
		print_place(s, e->key.a_addr);
		fputs(" -> ", stdout);
		print_place(e->key.b, e->key.b_addr);
		printf("  %s", branch_kind_names[e->kind]);
		break;
	}
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100. * part / whole : 0;
}

static void json_place(const char *key, const struct sym *s, uint64_t addr)
{
	struct place p = { .sym = (struct sym *)s, .addr = addr };
	char text[1024];

	place_text(text, sizeof(text), &p, addr);
	printf("%s:", key);
	text_print_json(stdout, text);
}

static void json_name(const struct top *t, const struct tally_entry *e)
{
	const struct sym *s = e->key.a;
	const struct object *o = e->key.a;
	char *line;

	switch (t->by) {
	case BY_FUNCTION:
		fputs("{\"function\":", stdout);
		text_print_json(stdout, s->name);
		fputs(",\"dso\":", stdout);
		text_print_json(stdout, s->object->name);
		break;
	case BY_DSO:
		fputs("{\"dso\":", stdout);
		text_print_json(stdout, o->name);
		break;
	case BY_LINE:
		line = line_name(e);
		fputs("{\"line\":", stdout);
		text_print_json(stdout, line);
		free(line);
		break;
	case BY_LOOP:
		json_place("{\"loop\"", s, e->key.a_addr);
		break;
	case BY_EDGE:
		json_place("{\"from\"", s, e->key.a_addr);
		json_place(",\"to\"", e->key.b, e->key.b_addr);
		printf(",\"kind\":\"%s\"", branch_kind_names[e->kind]);
		break;
	}
}

static void print_row(struct top *t, const struct tally_entry *e)
{
	if (t->json) {
		json_name(t, e);
		printf(",\"instructions\":%llu,\"branches\":%llu,\"calls\":%llu}\n",
		       (unsigned long long)e->insns, (unsigned long long)e->branches,
		       (unsigned long long)e->calls);
		return;
	}
	printf("%15llu %6.2f%% %13llu %6.2f%% ", (unsigned long long)e->insns,
	       percent(e->insns, t->insns), (unsigned long long)e->branches,
	       percent(e->branches, t->branches));
	if (t->by == BY_FUNCTION || t->by == BY_DSO)
		printf("%11llu ", (unsigned long long)e->calls);
	fputc(' ', stdout);
	print_name(t, e);
	putchar('\n');
}

static void print(struct top *t)
{
	struct tally_entry *list = tally_sorted(&t->tally, t->by_branches ? by_branches : by_insns);
	size_t rows = t->rows && t->rows < t->tally.nr ? t->rows : t->tally.nr;

	if (!t->json)
		printf("%15s %7s %13s %7s %s%s\n", "instructions", "", "branches", "",
		       t->by == BY_FUNCTION || t->by == BY_DSO ? "      calls  " : " ",
		       by_names[t->by]);
	for (size_t i = 0; i < rows; i++)
		print_row(t, &list[i]);
	if (rows < t->tally.nr && !t->json)
		printf("# %zu more\n", t->tally.nr - rows);
	free(list);
}

static int run(struct top *t, const struct options *options, const char *path)
{
	int status, closed;

	t->insns = 0;
	t->branches = 0;
	t->pipe.consumer = (struct consumer) { .ctx = t, .fold = fold, .row = row };
	if (!pipe_open(&t->pipe, path, options))
		return STATUS_FAILURE;
	if (options->head)
		t->rows = options->head;
	status = pipe_run(&t->pipe);
	print(t);
	if (t->json)
		pipe_bill_json(&t->pipe, stdout);
	else
		pipe_bill(&t->pipe, stdout);
	tally_free(&t->tally);
	free(t->names);
	t->names = NULL;
	t->nr_names = 0;
	memset(t->cache, 0, sizeof(t->cache));
	closed = pipe_close(&t->pipe);
	return status ? status : closed;
}

/* Clear the terminal, and print the rows of the recording in @path. */
static int show_live(void *ctx, const char *path)
{
	struct top *t = ctx;

	terminal_clear();
	if (run(t, t->recordings.options, path))
		return STATUS_FAILURE;
	/* A closed pipe is not a failure: SIGPIPE has already told live.c to stop. */
	return fflush(stdout) && errno != EPIPE ? STATUS_FAILURE : STATUS_OK;
}

static int run_live(struct top *t, const struct options *options)
{
	t->recordings.options = options;
	t->recordings.show = show_live;
	t->recordings.ctx = t;
	return live_run(&t->recordings);
}

static int parse_by(struct top *t, const char *command, const char *name)
{
	for (unsigned int i = 0; i < sizeof(by_names) / sizeof(by_names[0]); i++) {
		if (!strcmp(by_names[i], name)) {
			t->by = i;
			return STATUS_OK;
		}
	}
	return msg_misuse(command, "--by must be function, edge, loop, line or dso, not %s", name);
}

static int option(void *ctx, int option, const char *command)
{
	struct top *t = ctx;
	char *end;

	switch (option) {
	case 'b':
		return parse_by(t, command, optarg);
	case 's':
		t->by_branches = !strcmp(optarg, "branches");
		if (t->by_branches || !strcmp(optarg, "instructions"))
			return STATUS_OK;
		return msg_misuse(command, "--sort must be instructions or branches, not %s",
				  optarg);
	case 'n':
		return msg_number(command, "--rows", optarg, 0, &t->rows);
	case 'j':
		t->json = true;
		return STATUS_OK;
	case 'l':
		t->live = true;
		return STATUS_OK;
	case 'd':
		t->recordings.seconds = strtod(optarg, &end);
		if (*optarg && !*end && t->recordings.seconds > 0 &&
		    t->recordings.seconds <= DELAY_MAX)
			return STATUS_OK;
		return msg_misuse(command, "--delay %s: must be above 0 and at most %d seconds",
				  optarg, DELAY_MAX);
	case 'c':
		return msg_number(command, "--count", optarg, 1, &t->recordings.count);
	}
	return STATUS_MISUSE;
}

static int start(void *ctx, const struct options *options)
{
	struct top *t = ctx;

	return t->live ? run_live(t, options) : run(t, options, options->path);
}

int cmd_top(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "by", required_argument, NULL, 'b' },
		{ "sort", required_argument, NULL, 's' },
		{ "rows", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "live", no_argument, NULL, 'l' },
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "b:s:n:ld:c:h", .longs = longs,
		.option = option, .run = start,
	};
	static struct top t = { .rows = 40, .recordings = { .seconds = 1 } };

	return command_main(&command, &t, argc, argv);
}
