// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts graph FUNC: show the callers and callees of a function, with exact counts.
 *
 * Instructions and branches are counted from the call to the return, including those of all
 * callees. If a function is recursive, all calls are counted, but instructions and branches are
 * counted only for the outermost call. Functions with the same name have separate sums.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/arcs.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts graph [OPTIONS] FUNC [FILE]\n\n"
	"Prints the callers and callees of a function, with counts.\n\n"
	"  --json             print one JSON object per line\n"
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
	return strcmp(((const struct sym *)a->key.a)->name, ((const struct sym *)b->key.a)->name);
}

static void print_row(const struct graph *g, const char *what, const struct sym *sym,
		      const struct tally_entry *e)
{
	const char *name = sym ? sym->name : "(before the trace)";

	if (g->json) {
		printf("{\"%s\":", what);
		text_print_json(stdout, name);
		fputs(",\"dso\":", stdout);
		text_print_json(stdout, sym ? sym->object->name : "");
		printf(",\"calls\":%llu,\"instructions\":%llu,\"branches\":%llu}\n",
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

/* Return separate sums for each function with the requested name. */
static struct tally functions(const struct graph *g, const struct tally_entry *arcs)
{
	struct tally sums = {};

	for (size_t i = 0; i < g->arcs.tally.nr; i++) {
		struct tally_key key = { .a = arcs[i].key.a };
		struct tally_entry *sum;

		if (!sym_is(key.a, g->arcs.wanted))
			continue;
		sum = tally_get(&sums, &key);
		sum->calls += arcs[i].calls;
		sum->insns += arcs[i].insns;
		sum->branches += arcs[i].branches;
	}
	return sums;
}

static void print_function(const struct graph *g, const struct tally_entry *function,
			   const struct tally_entry *arcs)
{
	const struct sym *sym = function->key.a;

	if (!g->json)
		puts("callers");
	for (size_t i = 0; i < g->arcs.tally.nr; i++)
		if (arcs[i].key.a == sym)
			print_row(g, "caller", arcs[i].key.b, &arcs[i]);
	if (!g->json)
		puts("function");
	print_row(g, "function", sym, function);
	if (!g->json)
		puts("callees");
	for (size_t i = 0; i < g->arcs.tally.nr; i++)
		if (arcs[i].key.b == sym)
			print_row(g, "callee", arcs[i].key.a, &arcs[i]);
}

/* Return false if the function is not in the trace. */
static bool print(const struct graph *g)
{
	struct tally_entry *arcs = tally_sorted(&g->arcs.tally, by_insns);
	struct tally sums = functions(g, arcs);
	struct tally_entry *list = tally_sorted(&sums, by_insns);
	bool found = sums.nr;

	if (found && !g->json)
		printf("%12s %15s %13s\n", "calls", "instructions", "branches");
	for (size_t i = 0; i < sums.nr; i++)
		print_function(g, &list[i], arcs);
	free(list);
	free(arcs);
	tally_free(&sums);
	return found;
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
		return msg_misuse(argv[0], "a function is needed");
	g->arcs.wanted = argv[optind++];
	if (command_no_places(o, argv[0]))
		return STATUS_MISUSE;
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
