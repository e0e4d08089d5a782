// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts diff: where two runs part.
 *
 *	pass 1	of each task, a number for all its branches up to here, every 4096 of them
 *	pass 2	of the first 4096 of which the numbers differ, each branch
 *	pass 3	the call stack at the first one that differs
 *
 * So two traces of any length are compared with a few MB of memory. Tasks are compared
 * in the order in which they appear. After the first difference, branches are no
 * longer compared one by one, but the sums of each function.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "cmd.h"
#include "diff.h"

static const char usage[] =
	"Usage: bts diff [OPTIONS] A B\n\n"
	"The first branch that differs, of each task, with both call stacks; then the\n"
	"functions that differ.\n\n"
	"  -a, --all          the kernel and interrupts as well\n"
	"  -n, --rows N       so many functions; 0: all (20)\n"
	"  --exit-code        exit with 1 if the runs differ\n"
	"  -h, --help         this text\n";

struct diff {
	struct diff_trace	trace[2];
	unsigned long		rows;
	bool			exit_code;
	bool			differs;
};

/* The first window whose marks differ. */
static uint64_t first_window(const struct track *a, const struct track *b)
{
	size_t nr = a->nr_marks < b->nr_marks ? a->nr_marks : b->nr_marks, i;

	for (i = 0; i < nr && a->marks[i] == b->marks[i]; i++)
		;
	return (uint64_t)i * DIFF_WINDOW;
}

static bool same_track(const struct track *a, const struct track *b)
{
	return a->total == b->total && a->hash == b->hash;
}

static size_t common_tracks(const struct diff *d)
{
	return d->trace[0].nr_tracks < d->trace[1].nr_tracks ? d->trace[0].nr_tracks :
							       d->trace[1].nr_tracks;
}

static bool set_windows(struct diff *d)
{
	bool any = false;

	for (size_t i = 0; i < common_tracks(d); i++) {
		struct track *a = d->trace[0].tracks[i], *b = d->trace[1].tracks[i];

		a->window_at = UINT64_MAX;
		b->window_at = UINT64_MAX;
		if (same_track(a, b))
			continue;
		any = true;
		a->window_at = first_window(a, b);
		b->window_at = a->window_at;
		a->window = mem_zalloc(DIFF_WINDOW, sizeof(*a->window));
		b->window = mem_zalloc(DIFF_WINDOW, sizeof(*b->window));
	}
	/* Tasks that only one of the runs has. */
	for (unsigned int side = 0; side < 2; side++)
		for (size_t i = common_tracks(d); i < d->trace[side].nr_tracks; i++)
			d->trace[side].tracks[i]->window_at = UINT64_MAX;
	return any;
}

static void find_parting(struct diff *d)
{
	for (size_t i = 0; i < common_tracks(d); i++) {
		struct track *a = d->trace[0].tracks[i], *b = d->trace[1].tracks[i];
		uint64_t at = 0, end;

		if (!a->window)
			continue;
		end = a->total < b->total ? a->total : b->total;
		while (at < DIFF_WINDOW && a->window_at + at < end &&
		       a->window[at] == b->window[at])
			at++;
		a->parts_at = a->window_at + at;
		b->parts_at = a->parts_at;
	}
}

static void print_side(const char *name, const struct track *t)
{
	if (t->where)
		printf("  %s: %s\n     in %s\n", name, t->where, t->stack ? t->stack : "?");
	else
		printf("  %s: ends\n", name);
}

static void print_tracks(struct diff *d)
{
	for (size_t i = 0; i < common_tracks(d); i++) {
		struct track *a = d->trace[0].tracks[i], *b = d->trace[1].tracks[i];

		printf("%s-%d and %s-%d: ", a->comm, a->pid, b->comm, b->pid);
		if (same_track(a, b)) {
			printf("%llu branches, all the same\n", (unsigned long long)a->total);
			continue;
		}
		d->differs = true;
		printf("the first %llu branches are the same, then\n",
		       (unsigned long long)a->parts_at);
		print_side("A", a);
		print_side("B", b);
	}
	for (unsigned int side = 0; side < 2; side++) {
		for (size_t i = common_tracks(d); i < d->trace[side].nr_tracks; i++) {
			struct track *t = d->trace[side].tracks[i];

			d->differs = true;
			printf("%s-%d: only in %c, %llu branches\n", t->comm, t->pid,
			       "AB"[side], (unsigned long long)t->total);
		}
	}
}

/* A function of both runs; what only one has is 0 in the other. */
struct change {
	const char	*name;
	uint64_t	insns[2];
	uint64_t	calls[2];
};

static uint64_t size_of(const struct change *c)
{
	return c->insns[0] > c->insns[1] ? c->insns[0] - c->insns[1] :
					   c->insns[1] - c->insns[0];
}

static int by_size(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	if (size_of(a) != size_of(b))
		return size_of(a) < size_of(b) ? 1 : -1;
	return strcmp(a->name, b->name);
}

static size_t merge_functions(const struct diff *d, struct change *list)
{
	size_t at[2] = {}, nr = 0;

	for (;;) {
		const struct function *f[2] = {};
		struct change *c = &list[nr];
		int order;

		for (unsigned int side = 0; side < 2; side++)
			if (at[side] < d->trace[side].nr_functions)
				f[side] = &d->trace[side].functions[at[side]];
		if (!f[0] && !f[1])
			return nr;
		order = !f[0] ? 1 : !f[1] ? -1 : strcmp(f[0]->name, f[1]->name);
		*c = (struct change) { .name = order <= 0 ? f[0]->name : f[1]->name };
		for (unsigned int side = 0; side < 2; side++) {
			if (side ? order < 0 : order > 0)
				continue;
			c->insns[side] = f[side]->insns;
			c->calls[side] = f[side]->calls;
			at[side]++;
		}
		nr += c->insns[0] != c->insns[1] || c->calls[0] != c->calls[1];
	}
}

static void print_functions(struct diff *d)
{
	size_t room = d->trace[0].nr_functions + d->trace[1].nr_functions + 1, nr, rows;
	struct change *list = mem_zalloc(room, sizeof(*list));

	nr = merge_functions(d, list);
	if (nr) {
		qsort(list, nr, sizeof(*list), by_size);
		printf("%15s %15s %15s %10s %10s  function\n", "instructions A", "B",
		       "difference", "calls A", "B");
	}
	rows = d->rows && d->rows < nr ? d->rows : nr;
	for (size_t i = 0; i < rows; i++)
		printf("%15llu %15llu %+15lld %10llu %10llu  %s\n",
		       (unsigned long long)list[i].insns[0],
		       (unsigned long long)list[i].insns[1],
		       (long long)(list[i].insns[1] - list[i].insns[0]),
		       (unsigned long long)list[i].calls[0],
		       (unsigned long long)list[i].calls[1], list[i].name);
	if (rows < nr)
		printf("# %zu more functions\n", nr - rows);
	free(list);
}

static int run(void *ctx, const struct options *options)
{
	struct diff *d = ctx;
	int status = STATUS_OK;

	for (unsigned int side = 0; side < 2; side++) {
		status |= diff_pass(&d->trace[side], PASS_MARKS, options);
		if (!d->trace[side].opened)
			goto out;
	}
	if (set_windows(d)) {
		for (unsigned int side = 0; side < 2; side++)
			status |= diff_pass(&d->trace[side], PASS_WINDOW, options);
		find_parting(d);
		for (unsigned int side = 0; side < 2; side++)
			status |= diff_pass(&d->trace[side], PASS_STACK, options);
	}
	print_tracks(d);
	print_functions(d);
out:
	for (unsigned int side = 0; side < 2; side++)
		diff_free(&d->trace[side]);
	return status ? STATUS_FAILURE : d->exit_code && d->differs ? 1 : STATUS_OK;
}

static int option(void *ctx, int option, const char *command)
{
	struct diff *d = ctx;

	switch (option) {
	case 'a':
		d->trace[0].all = true;
		d->trace[1].all = true;
		return STATUS_OK;
	case 'e':
		d->exit_code = true;
		return STATUS_OK;
	case 'n':
		return msg_number(command, "--rows", optarg, 0, &d->rows);
	}
	return STATUS_MISUSE;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	struct diff *d = ctx;

	(void)o;
	if (argc - optind != 2)
		return msg_misuse(argv[0], "two traces are needed");
	d->trace[0].path = argv[optind];
	d->trace[1].path = argv[optind + 1];
	return STATUS_OK;
}

int cmd_diff(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "rows", required_argument, NULL, 'n' },
		{ "exit-code", no_argument, NULL, 'e' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "an:h", .longs = longs,
		.option = option, .operands = operands, .run = run,
	};
	struct diff d = { .rows = 20 };

	return command_main(&command, &d, argc, argv);
}
