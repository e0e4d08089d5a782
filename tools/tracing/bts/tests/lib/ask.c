// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read traces with libbts, first one after another, then all at once, each in its own thread. Both
 * rounds must give the same results, and the results of different library functions must agree.
 *
 *	ask TRACE...	print the number of branches or, on failure, the first wrong result
 */
#include <errno.h>
#include <libbts.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACES_MAX	32

/**
 * struct answers - the results of reading a trace once with libbts
 * @path:	the trace's file
 * @trace:	the trace, while it is open
 * @hash:	a hash of all answers
 * @branches:	the number of calls of branch()
 * @total:	the sum of the counts that total() received
 * @done:	the last reported progress
 * @complete:	the last progress report said that everything was read
 * @wrong:	the first failure or contradiction, or NULL
 */
struct answers {
	const char		*path;
	struct bts_trace	*trace;
	uint64_t		hash;
	uint64_t		branches;
	uint64_t		total;
	uint64_t		done;
	bool			complete;
	const char		*wrong;
};

/*
 * Replace the C library's strtod() with one that behaves as in a locale with a decimal comma.
 * libbts must not call strtod(), because the result depends on the locale.
 */
double strtod(const char *text, char **end)
{
	return strtoull(text, end, 10);
}

static void add(struct answers *a, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		a->hash = (a->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
}

static void add_number(struct answers *a, uint64_t number)
{
	add(a, &number, sizeof(number));
}

static void add_text(struct answers *a, const char *text)
{
	add(a, text, strlen(text) + 1);
}

static void check(struct answers *a, bool good, const char *what)
{
	if (!good && !a->wrong)
		a->wrong = what;
}

static void add_place(struct answers *a, const struct bts_task *task,
		      const struct bts_place *place)
{
	char text[256];
	const char *file;
	unsigned int line;
	struct bts_place same;

	bts_place_text(place, text, sizeof(text));
	add_text(a, text);
	add_text(a, bts_sym_path(place->sym));
	if (!bts_line(a->trace, place, &file, &line)) {
		add_text(a, file);
		add_number(a, line);
	}
	for (unsigned int depth = 0; bts_inlined(a->trace, place, depth); depth++)
		add_text(a, bts_sym_name(bts_inlined(a->trace, place, depth)));
	bts_find(a->trace, task, place->addr, &same);
	check(a, same.sym == place->sym && same.object_addr == place->object_addr,
	      "bts_find() and the branch have different places for the same address");
	check(a, place->object_addr >= bts_sym_addr(place->sym), "an address before its function");
	check(a, bts_sym_is(place->sym, bts_sym_name(place->sym)) &&
	      bts_sym_is(place->sym, bts_sym_linked(place->sym)),
	      "bts_sym_is() rejects a symbol's own name");
}

static uint64_t branches_of_tasks(const struct bts_trace *trace)
{
	const struct bts_task *task = NULL;
	uint64_t branches = 0;

	while ((task = bts_next_task(trace, task)))
		branches += bts_task_branches(task);
	return branches;
}

/* If b->user is not set, look up the branch, and set b->user to the name of the branch's kind. */
static int branch(void *ctx, const struct bts_task *task, struct bts_branch *b)
{
	struct answers *a = ctx;

	if (!b->user) {
		check(a, branches_of_tasks(a->trace) == a->branches + 1,
		      "the branch counts of the tasks do not add up");
		add_place(a, task, &b->from);
		add_place(a, task, &b->to);
		b->user = strdup(bts_kind_name(b->kind));
	}
	add_text(a, b->user);
	add_number(a, bts_task_pid(task));
	add_number(a, b->time);
	add_number(a, b->from.addr);
	add_number(a, b->to.addr);
	add_number(a, b->insns);
	a->branches++;
	return 0;
}

static void total(void *ctx, struct bts_branch *b)
{
	struct answers *a = ctx;

	check(a, b->user, "libbts lost the user pointer of a branch");
	free(b->user);
	a->total += b->count;
}

static int row(void *ctx, const struct bts_task *task, const struct bts_row *row)
{
	/* Let another thread read a row now. The text of the current row must not change. */
	sched_yield();
	add_number(ctx, row->time);
	add_text(ctx, row->text);
	return task ? 0 : row->type != BTS_ROW_LOST;
}

static int enter(void *ctx, const struct bts_task *task, struct bts_frame *frame)
{
	struct answers *a = ctx;
	const struct bts_frame *same = bts_frame(a->trace, task, frame->depth);

	check(a, frame->depth + 1 == bts_depth(task), "a new frame is not the innermost frame");
	check(a, same && same->sym == frame->sym && !frame->insns, "bts_frame() has another frame");
	frame->user = (void *)frame->sym;
	add_text(a, bts_sym_name(frame->sym));
	add_number(a, frame->depth);
	return 0;
}

static int leave(void *ctx, const struct bts_task *task, struct bts_frame *frame)
{
	(void)task;
	check(ctx, frame->user == frame->sym, "libbts lost the user pointer of a frame");
	add_number(ctx, frame->insns);
	return 0;
}

static int stack(void *ctx, const struct bts_task *task, unsigned int stack, bool guessed)
{
	(void)task;
	add_number(ctx, 2 * stack + guessed);
	return 0;
}

static void progress(void *ctx, uint64_t done, uint64_t total)
{
	struct answers *a = ctx;

	check(a, done <= total && done >= a->done, "the progress decreases or exceeds the total");
	a->done = done;
	a->complete = done == total;
}

static void *ask(void *arg)
{
	const struct bts_task *task = NULL;
	struct answers *a = arg;

	if (bts_open(&a->trace, a->path))
		a->wrong = "the trace cannot be opened";
	bts_on_branch(a->trace, branch);
	bts_on_total(a->trace, total);
	bts_on_row(a->trace, row);
	bts_on_call(a->trace, enter);
	bts_on_return(a->trace, leave);
	bts_on_stack(a->trace, stack);
	bts_on_progress(a->trace, progress);
	check(a, !bts_run(a->trace, a) && !bts_error(a->trace), "the trace cannot be read");
	check(a, a->complete, "the progress did not reach the total");
	check(a, bts_run(a->trace, a) == -EALREADY && bts_error(a->trace) &&
	      !strcmp(bts_error(a->trace), "read: the trace was already read"),
	      "the trace can be read twice");
	while ((task = bts_next_task(a->trace, task))) {
		add_number(a, bts_task_tgid(task));
		add_text(a, bts_task_comm(task));
	}
	check(a, a->branches && a->branches == a->total &&
	      a->branches == branches_of_tasks(a->trace) &&
	      a->branches == bts_totals(a->trace)->branches, "sums of branches differ");
	add_text(a, bts_bill(a->trace, true));
	bts_close(a->trace);
	return NULL;
}

static int stop(void *ctx, const struct bts_task *task, struct bts_branch *b)
{
	(void)ctx;
	(void)task;
	(void)b;
	return 7;
}

/*
 * Check that failures are returned with an error text. Return: a description of a problem, or NULL.
 */
static const char *failures(const char *path)
{
	const char *wrong = NULL;
	struct bts_trace *trace;

	if (bts_open(&trace, "/nowhere/trace.dat") != -ENOENT || !bts_error(trace) ||
	    bts_run(trace, NULL) != -ENOENT || bts_bill(trace, false))
		wrong = "a missing file is not reported";
	bts_close(trace);
	if (bts_open(&trace, path) || bts_error(trace) ||
	    bts_set(trace, "color", "red") != -EINVAL || bts_run(trace, NULL) != -EINVAL ||
	    strcmp(bts_error(trace), "set a filter: color=red: no such filter"))
		wrong = "an unknown filter is not reported";
	bts_close(trace);
	if (bts_open(&trace, path) || bts_set(trace, "pid", "x,") != -EINVAL ||
	    strcmp(bts_error(trace), "set a filter: pid=x,: not a valid value"))
		wrong = "a wrong value of a filter is not reported";
	bts_close(trace);
	if (bts_open(&trace, path) || bts_set(trace, "pid", NULL) != -EINVAL ||
	    strcmp(bts_error(trace), "set a filter: pid: needs a value"))
		wrong = "a filter that lacks its value is not reported";
	bts_close(trace);
	if (bts_open(&trace, path) || bts_set(trace, "user", NULL) ||
	    bts_set(trace, "kernel", NULL) != -EINVAL ||
	    strcmp(bts_error(trace), "set a filter: kernel: conflicts with \"user\""))
		wrong = "mutually exclusive filters are not reported";
	bts_close(trace);
	if (bts_open(&trace, path) || bts_set(trace, "time", "0.5,1e9"))
		wrong = "the value of a filter depends on the locale";
	bts_close(trace);
	if (bts_open(&trace, path) || bts_set(trace, "pid", "99999999") ||
	    bts_run(trace, NULL) || bts_totals(trace)->branches || !bts_warning(trace))
		wrong = "a filter that matches nothing gives no warning";
	bts_close(trace);
	bts_open(&trace, path);
	bts_on_branch(trace, stop);
	if (bts_run(trace, NULL) != 7 || bts_error(trace) || bts_totals(trace)->branches != 1)
		wrong = "a callback does not end bts_run() after one branch";
	bts_close(trace);
	return wrong;
}

int main(int argc, char **argv)
{
	struct answers alone[TRACES_MAX], at_once[TRACES_MAX];
	pthread_t threads[TRACES_MAX];
	const char *wrong = argc > 1 ? failures(argv[1]) : "no traces";
	uint64_t branches = 0;
	int nr = argc - 1;

	for (int i = 0; i < nr && i < TRACES_MAX; i++) {
		at_once[i] = (struct answers) { .path = argv[i + 1] };
		alone[i] = at_once[i];
		ask(&alone[i]);
		branches += alone[i].branches;
		wrong = alone[i].wrong ? alone[i].wrong : wrong;
	}
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, ask, &at_once[i]))
			abort();
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		if (at_once[i].hash != alone[i].hash || at_once[i].wrong)
			wrong = "answers change if other traces are read at the same time";
	}
	if (wrong)
		return printf("wrong: %s\n", wrong), 1;
	return printf("%llu branches\n", (unsigned long long)branches) < 0;
}
