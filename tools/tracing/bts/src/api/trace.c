// SPDX-License-Identifier: GPL-2.0-only
/*
 * libbts: open, filter and close a trace, and return its errors and totals.
 *
 * Functions that may allocate memory are called through api_try(). If memory runs out, api_try()
 * stores an error in the trace, and the program can then only close the trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "lib/mem.h"

int api_try(struct bts_trace *trace, void (*run)(void *arg), void *arg)
{
	struct error *e = &trace->pipe.error;

	if (e->code != ENOMEM && !mem_try(run, arg)) {
		error_free(e);
		e->code = ENOMEM;
	}
	return e->code == ENOMEM ? -ENOMEM : 0;
}

struct opening {
	struct bts_trace	*trace;
	const char		*path;
};

static void open_trace(void *arg)
{
	struct opening *opening = arg;
	struct bts_trace *trace = opening->trace;

	pipe_begin(&trace->pipe, opening->path, &trace->options);
}

int bts_open(struct bts_trace **trace, const char *path)
{
	struct opening opening = { .path = path };

	opening.trace = calloc(1, sizeof(*opening.trace));
	*trace = opening.trace;
	if (!opening.trace || api_try(opening.trace, open_trace, &opening))
		return -ENOMEM;
	return -opening.trace->pipe.error.code;
}

void bts_close(struct bts_trace *trace)
{
	if (!trace)
		return;
	api_end_calls(trace, false);
	pipe_end(&trace->pipe);
	error_free(&trace->pipe.error);
	options_free(&trace->options);
	bytes_free(&trace->text);
	free(trace);
}

const char *bts_error(const struct bts_trace *trace)
{
	static const struct error no_memory = { .code = ENOMEM };

	if (!trace)
		return error_text(&no_memory);
	return trace->pipe.error.code ? error_text(&trace->pipe.error) : NULL;
}

struct setting {
	struct bts_trace	*trace;
	const char		*name;
	const char		*value;
};

static void set_filter(void *arg)
{
	struct setting *s = arg;
	struct bts_trace *trace = s->trace;
	const char *why = options_set(&trace->options, s->name, s->value);

	if (why)
		error_set(&trace->pipe.error, EINVAL, "set a filter", NULL, "%s%s%s: %s", s->name,
			  s->value ? "=" : "", s->value ? s->value : "", why);
	else if (!strcmp(s->name, "vmlinux"))
		pipe_vmlinux(&trace->pipe, s->value);
}

int bts_set(struct bts_trace *trace, const char *name, const char *value)
{
	struct setting setting = { .trace = trace, .name = name, .value = value };

	if (!trace->pipe.error.code)
		api_try(trace, set_filter, &setting);
	return -trace->pipe.error.code;
}

const struct bts_totals *bts_totals(struct bts_trace *trace)
{
	const struct pipe_bill *bill = &trace->pipe.bill;
	struct bts_totals *t = &trace->totals;

	*t = (struct bts_totals) {
		.branches = bill->branches, .tasks = bill->tasks, .switches = bill->switches,
		.gaps = bill->gaps, .no_code = bill->blind, .guessed = bill->guessed,
	};
	for (unsigned int i = 0; i < LOSS_CAUSES; i++) {
		t->lost += bill->losses.known[i];
		t->losses += bill->losses.times[i];
	}
	return t;
}

static void add_bill(void *arg)
{
	struct bts_trace *trace = arg;

	trace->text.size = 0;
	pipe_bill_text(&trace->pipe, &trace->text);
	bytes_add8(&trace->text, 0);
}

static void add_bill_object(void *arg)
{
	struct bts_trace *trace = arg;

	trace->text.size = 0;
	pipe_bill_object(&trace->pipe, &trace->text);
	bytes_add8(&trace->text, 0);
}

const char *bts_bill(struct bts_trace *trace, bool json)
{
	if (!trace->pipe.private || api_try(trace, json ? add_bill_object : add_bill, trace))
		return NULL;
	return trace->text.data;
}

static void add_warning(void *arg)
{
	struct bts_trace *trace = arg;
	char *warning = pipe_warning(&trace->pipe);

	trace->text.size = 0;
	if (warning)
		bytes_add_string(&trace->text, warning);
	free(warning);
}

const char *bts_warning(struct bts_trace *trace)
{
	if (!trace->pipe.private || api_try(trace, add_warning, trace) || !trace->text.size)
		return NULL;
	return trace->text.data;
}
