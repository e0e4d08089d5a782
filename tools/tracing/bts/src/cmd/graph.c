// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts graph FUNC: callers and callees of a function, with exact counts.
 *
 * Instructions and branches are those from the call to the return, with what is called
 * in between. Of a function that calls itself, inner calls are counted, but their
 * instructions are the outermost call's.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/arcs.h"
#include "lib/msg.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts graph [OPTIONS] FUNC [FILE]\n\n"
	"Callers and callees of a function, with calls, instructions, branches.\n\n"
	"  --json             an object a line\n"
	"  -h, --help         this text\n";

struct graph {
	struct pipe	pipe;
	struct arcs	arcs;
	bool		json;
};

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct graph *g = ctx;

	arcs_step(&g->arcs, t, s, ts);
	return 0;
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct graph *g = ctx;

	arcs_row(&g->arcs, t, row);
	return 0;
}

static int by_insns(const void *left, const void *right)
{
	const struct tally_entry *a = left, *b = right;

	if (a->insns != b->insns)
		return a->insns < b->insns ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return 0;
}

static void print_row(const struct graph *g, const char *what, const struct sym *sym,
		      const struct tally_entry *e)
{
	const char *name = sym ? sym->name : "(before the trace)";

	if (g->json) {
		printf("{\"%s\":\"%s\",\"dso\":\"%s\",\"calls\":%llu,\"instructions\":%llu,"
		       "\"branches\":%llu}\n", what, name, sym ? sym->object->name : "",
		       (unsigned long long)e->calls, (unsigned long long)e->insns,
		       (unsigned long long)e->branches);
		return;
	}
	printf("%12llu %15llu %13llu  %s", (unsigned long long)e->calls,
	       (unsigned long long)e->insns, (unsigned long long)e->branches, name);
	if (sym)
		printf("  (%s)", sym->object->name);
	putchar('\n');
}

static bool is_wanted(const struct graph *g, const struct sym *sym)
{
	return sym && !strcmp(sym->name, g->arcs.wanted);
}

static bool in_trace(const struct graph *g, const struct tally_entry *list)
{
	for (size_t i = 0; i < g->arcs.tally.nr; i++)
		if (is_wanted(g, list[i].key.a))
			return true;
	return false;
}

/* False if the function is not in the trace. */
static bool print(const struct graph *g)
{
	struct tally_entry *list = tally_sorted(&g->arcs.tally, by_insns), total = {};
	size_t nr = g->arcs.tally.nr;
	const struct sym *sym = NULL;

	if (!in_trace(g, list)) {
		free(list);
		return false;
	}
	if (!g->json)
		printf("%12s %15s %13s\ncallers\n", "calls", "instructions", "branches");
	for (size_t i = 0; i < nr; i++) {
		if (!is_wanted(g, list[i].key.a))
			continue;
		sym = list[i].key.a;
		print_row(g, "caller", list[i].key.b, &list[i]);
		total.calls += list[i].calls;
		total.insns += list[i].insns;
		total.branches += list[i].branches;
	}
	if (!g->json)
		puts("function");
	print_row(g, "function", sym, &total);
	if (!g->json)
		puts("callees");
	for (size_t i = 0; i < nr; i++)
		if (is_wanted(g, list[i].key.b))
			print_row(g, "callee", list[i].key.a, &list[i]);
	free(list);
	return true;
}

static int run(void *ctx, const struct options *options)
{
	struct graph *g = ctx;
	int status, closed;

	g->pipe.consumer = (struct consumer) { .ctx = g, .branch = branch, .row = row };
	g->arcs.pipe = &g->pipe;
	if (!pipe_open(&g->pipe, options->path, options))
		return STATUS_FAILURE;
	status = pipe_run(&g->pipe);
	arcs_end(&g->arcs);
	if (!print(g))
		status = msg_error("graph", g->arcs.wanted, "no such function in the trace");
	tally_free(&g->arcs.tally);
	if (g->json)
		pipe_bill_json(&g->pipe, stdout);
	else
		pipe_bill(&g->pipe, stdout);
	closed = pipe_close(&g->pipe);
	return status ? status : closed;
}

static int option(void *ctx, int option, const char *command)
{
	struct graph *g = ctx;

	(void)command;
	g->json |= option == 'j';
	return STATUS_OK;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct graph *g = ctx;

	if (optind == argc)
		return msg_misuse(argv[0], "which function?");
	g->arcs.wanted = argv[optind++];
	return command_input(o, argv[0], argc, argv);
}

int cmd_graph(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "h", .longs = longs,
		.option = option, .operands = operands, .run = run,
	};
	struct graph g = {};

	return command_main(&command, &g, argc, argv);
}
