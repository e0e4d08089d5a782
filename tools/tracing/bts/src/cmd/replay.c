// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts replay: the call tree.
 *
 *	  instructions  branches  task     calls
 *	                          fib-49   fib() {
 *	             5         2  fib-49     fib();
 *	            ...
 *	           121        25  fib-49   } // fib
 *
 * A function's numbers, those that it called included, are known when it ends, and stand
 * there. A function that called nothing is one line: so each beginning waits until
 * the next frame is entered or left.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/calls.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts replay [OPTIONS] [FILE]\n\n"
	"The call tree, with instructions and branches of each call.\n\n"
	"  -F, --function FUNC  only calls of this function, and what they call\n"
	"  -N, --no FUNC        without calls of this function\n"
	"  -D, --depth N        no deeper than N calls\n"
	"  -h, --help           this text\n";

struct replay {
	struct pipe	pipe;
	struct text	*text;
	const char	*only;
	const char	*without;
	unsigned long	depth;
	uint64_t	rows;
	bool		found;		/* a call of @only, or any */
	/* Of this task, the frame at this depth of its stack is not printed yet. */
	struct calls	*pending;
	uint32_t	pending_depth;
	struct frame	pending_frame;
};

/* A frame's node: its level on paper, from 1 on; 0 if it is not shown. */
static uintptr_t level_of(const struct frame *f)
{
	return (uintptr_t)f->node;
}

static const char *const kinds[] = {
	[FRAME_ROOT]		= "  // running before",
	[FRAME_CALL]		= "",
	[FRAME_TAIL]		= "  // jump",
	[FRAME_SYSCALL]		= "  // system call",
	[FRAME_INTERRUPT]	= "  // interrupt",
	[FRAME_SIGNAL]		= "  // signal",
	[FRAME_GUESS]		= "  // after a gap",
};

static void head(struct replay *r, struct task *t, uintptr_t level, bool counts,
		 uint64_t insns, uint64_t branches)
{
	struct text *text = r->text;
	char task[32];
	int length;

	text_room(text, 512);
	if (counts) {
		text_padded(text, insns, 14, ' ');
		text_padded(text, branches, 11, ' ');
	} else {
		text_bytes(text, "                                        ", 25);
	}
	length = snprintf(task, sizeof(task), "  %s-%d", t->comm, t->pid);
	text_bytes(text, task, length);
	for (; length < 24; length++)
		text_bytes(text, " ", 1);
	for (uintptr_t i = 1; i < level; i++)
		text_bytes(text, "  ", 2);
	r->rows++;
}

/* The beginning that waits is one of a block: something follows within the call. */
static void print_pending(struct replay *r)
{
	struct frame *f = &r->pending_frame;
	struct calls *c = r->pending;

	r->pending = NULL;
	if (!c)
		return;
	head(r, c->task, level_of(f), false, 0, 0);
	text_string(r->text, f->sym->name);
	text_string(r->text, "() {");
	text_string(r->text, kinds[f->kind]);
	text_string(r->text, "\n");
}

enum { ROLE_KNOWN = 1, ROLE_ONLY = 2, ROLE_WITHOUT = 4 };

/* Is it the function asked for, or one that is not wanted? Remembered with the function. */
static uintptr_t role(const struct replay *r, struct sym *s)
{
	uintptr_t is = ROLE_KNOWN;

	if (s->priv)
		return (uintptr_t)s->priv;
	if (!r->only || sym_is(s, r->only))
		is |= ROLE_ONLY;
	if (r->without && sym_is(s, r->without))
		is |= ROLE_WITHOUT;
	s->priv = (void *)is;
	return is;
}

/* Within the function asked for, and not within one that is not wanted. */
static uintptr_t new_level(const struct replay *r, const struct calls *c, const struct frame *f)
{
	uintptr_t above = 0;

	if (c->now.depth > 1)
		above = level_of(&c->now.frames[c->now.depth - 2]);
	if (role(r, f->sym) & ROLE_WITHOUT)
		return 0;
	/* A hidden frame hides what is within it; one above the function asked for does not. */
	if (c->now.depth > 1 && !above && !r->only)
		return 0;
	if (!above && !(role(r, f->sym) & ROLE_ONLY))
		return 0;
	if (!above && r->only && r->without) {
		for (uint32_t i = 0; i + 1 < c->now.depth; i++)
			if (role(r, c->now.frames[i].sym) & ROLE_WITHOUT)
				return 0;
	}
	return r->depth && above >= r->depth ? 0 : above + 1;
}

static void enter(struct calls *c, struct frame *f)
{
	struct replay *r = c->ctx;
	uintptr_t level = new_level(r, c, f);

	f->node = (void *)level;
	if (!level)
		return;
	r->found = true;
	print_pending(r);
	r->pending = c;
	r->pending_depth = c->now.depth;
	r->pending_frame = *f;
}

static void leave(struct calls *c, struct frame *f)
{
	struct replay *r = c->ctx;
	uintptr_t level = level_of(f);
	bool leaf = r->pending == c && r->pending_depth == c->now.depth;

	if (!level)
		return;
	if (!leaf)
		print_pending(r);
	r->pending = NULL;
	head(r, c->task, level, true, c->insns - f->insns_at, c->branches - f->branches_at);
	if (leaf) {
		text_string(r->text, f->sym->name);
		text_string(r->text, "();");
		text_string(r->text, kinds[f->kind]);
	} else {
		text_string(r->text, "} // ");
		text_string(r->text, f->sym->name);
	}
	if (c->closing)
		text_string(r->text, ", did not return");
	text_string(r->text, "\n");
}

/* Prints a line at the depth of the task's calls; nothing if the calls are hidden. */
static void note(struct calls *c, const char *text)
{
	struct replay *r = c->ctx;
	uintptr_t level = c->now.depth ? level_of(calls_top(c)) : 0;

	print_pending(r);
	if (!level && (c->now.depth || r->only))
		return;
	head(r, c->task, level + 1, false, 0, 0);
	text_string(r->text, "// ");
	text_string(r->text, text);
	text_string(r->text, "\n");
}

static void change(struct calls *c)
{
	char text[32];

	snprintf(text, sizeof(text), "stack %u", c->now.id);
	note(c, text);
}

static void guessed(struct calls *c)
{
	note(c, "stack guessed");
}

static const struct calls_ops ops = {
	.enter = enter, .leave = leave, .change = change, .guess = guessed,
};

static int enough(const struct replay *r)
{
	return r->text->failed || (r->pipe.options->head && r->rows >= r->pipe.options->head);
}

static int branch(void *ctx, struct task *t, struct step *s, uint64_t ts)
{
	struct replay *r = ctx;

	if (r->pipe.options->user && is_kernel(s->from) && is_kernel(s->to))
		return 0;
	if (r->pipe.options->kernel && !is_kernel(s->from) && !is_kernel(s->to))
		return 0;
	calls_step(calls_of(&r->pipe, t, &ops, r), s, ts);
	return enough(r);
}

static int row(void *ctx, struct task *t, const struct row *row)
{
	struct replay *r = ctx;
	struct calls *c = t ? calls_of(&r->pipe, t, &ops, r) : NULL;
	struct task of_cpu = { .comm = "cpu", .pid = row->cpu };
	uintptr_t level = c && c->now.depth ? level_of(calls_top(c)) : 0;

	if (row->type == ROW_MAP || (c && c->now.depth && !level)) {
		if (c)
			calls_row(c, row);
		return 0;
	}
	print_pending(r);
	head(r, t ? t : &of_cpu, level + 1, false, 0, 0);
	text_string(r->text, "// ");
	text_string(r->text, row_text(&r->pipe, t, row));
	text_string(r->text, "\n");
	if (c)
		calls_row(c, row);
	return enough(r);
}

/* The calls that have not ended do so now; after --head nothing of that is shown. */
static void end_calls(struct replay *r)
{
	static const struct calls_ops silent;

	for (struct task *t = r->pipe.tasks; t; t = t->list_next) {
		struct calls *c = t->priv;

		if (c && enough(r))
			c->ops = &silent;
		calls_free(t);
	}
}

static int run(void *ctx, const struct options *options)
{
	struct replay *r = ctx;
	int status, closed;

	r->pipe.consumer = (struct consumer) { .ctx = r, .branch = branch, .row = row };
	if (!pipe_open(&r->pipe, options->path, options))
		return STATUS_FAILURE;
	r->text = text_open(stdout);
	text_string(r->text, "  instructions   branches  task                  calls\n");
	status = pipe_run(&r->pipe);
	end_calls(r);
	text_close(r->text);
	if (r->only && !r->found)
		status = msg_error("replay", r->only, "no such function in the trace");
	pipe_bill(&r->pipe, stdout);
	closed = pipe_close(&r->pipe);
	return status ? status : closed;
}

static int option(void *ctx, int option, const char *command)
{
	struct replay *r = ctx;

	switch (option) {
	case 'F':
		r->only = optarg;
		return STATUS_OK;
	case 'N':
		r->without = optarg;
		return STATUS_OK;
	case 'D':
		return msg_number(command, "--depth", optarg, 1, &r->depth);
	}
	return STATUS_MISUSE;
}

int cmd_replay(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "function", required_argument, NULL, 'F' },
		{ "no", required_argument, NULL, 'N' },
		{ "depth", required_argument, NULL, 'D' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "F:N:D:h", .longs = longs,
		.option = option, .run = run,
	};
	struct replay r = {};

	return command_main(&command, &r, argc, argv);
}
