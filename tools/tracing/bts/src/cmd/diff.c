// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts diff: show every difference between two runs.
 *
 *	grow.c	reads each trace once, and makes call trees that share equal subtrees
 *	roles.c	chooses pairs of tasks to compare
 *	find.c	aligns the trees of two tasks
 *	show*.c	prints the differences
 *
 * With --against, suspects.c reads the traces, and ranks and prints branches.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "diff/show.h"
#include "diff/suspects.h"
#include "lib/colour.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "cmd.h"
#include "command.h"

/*
 * The comparison recurses as deep as the traced calls. Only used parts of a stack take memory. The
 * stack is shared memory, because a limit of the data (ulimit -d) includes unused private memory.
 */
#define STACK_SIZE	(1UL << 30)

enum {
	DIFF_EQUAL	= 0,
	DIFF_DIFFERS	= 1,
	DIFF_FAILED	= 3,
};

static const char usage[] =
	"Usage: bts diff [OPTIONS] A B\n"
	"       bts diff [OPTIONS] PASSED... --against FAILED...\n\n"
	"Prints every difference between two runs: where it begins, what each run did, and\n"
	"where the runs meet again. With --against, ranks the branches that separate failed\n"
	"runs from passed runs.\n\n"
	"  --against          the traces after this option are of failed runs\n"
	"  -a, --all          also compare what differs by chance: interrupts, page faults,\n"
	"                     the kernel, the dynamic linker's lookups, string functions\n"
	"  -n, --rows N       print N differences of each task, or N branches; 0: all (20)\n"
	"  --json             print one JSON object for each pair of tasks, or for each branch\n"
	COLOUR_HELP
	"  -h, --help         this text\n\n"
	"Exit status: 0 the runs do not differ, 1 the runs differ, 2 misuse, 3 failure.\n";

struct diff {
	struct comparison	comparison;
	struct suspects		suspects;
	bool			against;
	bool			json;
};

static void *find_all(void *ctx)
{
	struct comparison *c = ctx;

	for (size_t i = 0; i < c->nr_tasks; i++) {
		struct role_pair *pair = &c->tasks[i].pair;

		if (pair->side[0] && pair->side[1])
			find_differences(&c->forest, pair->side[0]->node, pair->side[1]->node,
					 &c->tasks[i].differences);
	}
	return NULL;
}

/* Run a function in a thread whose stack is large enough for deeply nested calls. */
static bool on_large_stack(void *(*function)(void *), void *ctx)
{
	void *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	bool done;

	if (stack == MAP_FAILED)
		return false;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK_SIZE);
	done = !pthread_create(&thread, &attr, function, ctx) && !pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	munmap(stack, STACK_SIZE);
	return done;
}

static bool pair_tasks(struct comparison *c)
{
	struct role_pair *pairs;
	bool done;

	c->nr_tasks = roles_pair(&c->run[0], &c->run[1], &pairs);
	c->tasks = mem_zalloc(c->nr_tasks + 1, sizeof(*c->tasks));
	for (size_t i = 0; i < c->nr_tasks; i++)
		c->tasks[i].pair = pairs[i];
	free(pairs);
	done = on_large_stack(find_all, c);
	if (!done)
		msg_errno("start", "a thread with a large stack");
	return done;
}

static int end(struct comparison *c, int status)
{
	for (size_t i = 0; i < c->nr_tasks; i++)
		differences_free(&c->tasks[i].differences);
	free(c->tasks);
	for (unsigned int side = 0; side < 2; side++)
		if (grown_free(&c->run[side]))
			status = DIFF_FAILED;
	forest_free(&c->forest);
	return status;
}

static int run_suspects(struct diff *d, const struct options *options)
{
	struct suspects *s = &d->suspects;
	int status;

	s->forest.all = d->comparison.forest.all;
	status = suspects_find(s, options) ? DIFF_FAILED : DIFF_EQUAL;
	if (!status && d->json)
		suspects_show_json(s, stdout);
	else if (!status)
		suspects_show(s, d->comparison.rows, stdout);
	if (!status && s->nr_ranked)
		status = DIFF_DIFFERS;
	return suspects_free(s) ? DIFF_FAILED : status;
}

static int run(void *ctx, const struct options *options)
{
	struct diff *d = ctx;
	struct comparison *c = &d->comparison;
	int status = DIFF_EQUAL, failed = 0;

	/* -k implies --all, without which the kernel's branches are not compared. */
	c->forest.all |= options->kernel;
	if (d->against)
		return run_suspects(d, options);
	c->run[0].path = d->suspects.paths[0][0];
	c->run[1].path = d->suspects.paths[0][1];
	free(d->suspects.paths[0]);
	for (unsigned int side = 0; side < 2; side++) {
		c->run[side].forest = &c->forest;
		failed |= grow(&c->run[side], options);
		if (!c->run[side].open)
			return end(c, DIFF_FAILED);
	}
	if (!pair_tasks(c))
		return end(c, DIFF_FAILED);
	for (size_t i = 0; i < c->nr_tasks; i++)
		if (tasks_differ(&c->tasks[i]))
			status = DIFF_DIFFERS;
	if (d->json)
		show_json(c, stdout);
	else
		show_text(c, stdout);
	return end(c, failed ? DIFF_FAILED : status);
}

static int option(void *ctx, int option, const char *command)
{
	struct diff *d = ctx;

	switch (option) {
	case 1:
		suspects_add_path(&d->suspects, d->against, optarg);
		return STATUS_OK;
	case 'b':
		d->against = true;
		return STATUS_OK;
	case 'a':
		d->comparison.forest.all = true;
		return STATUS_OK;
	case 'j':
		d->json = true;
		return STATUS_OK;
	case 'c':
		return colour_option(command, optarg);
	case 'n':
		return msg_number(command, "--rows", optarg, 0, &d->comparison.rows);
	}
	return STATUS_MISUSE;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct diff *d = ctx;

	(void)o;
	for (; optind < argc; optind++)
		suspects_add_path(&d->suspects, d->against, argv[optind]);
	if (d->against && (!d->suspects.nr_paths[0] || !d->suspects.nr_paths[1]))
		return msg_misuse(argv[0], "a trace before and a trace after --against are needed");
	if (!d->against && d->suspects.nr_paths[0] != 2)
		return msg_misuse(argv[0], "two traces are needed");
	return STATUS_OK;
}

int cmd_diff(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "against", no_argument, NULL, 'b' },
		{ "all", no_argument, NULL, 'a' },
		{ "rows", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "color", optional_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	/* "-" makes getopt return operands in order, so --against can separate them. */
	static const struct command command = {
		.usage = usage, .shorts = "-an:h", .longs = longs,
		.option = option, .operands = operands, .run = run,
	};
	struct diff d = { .comparison.rows = 20 };

	return command_main(&command, &d, argc, argv);
}
