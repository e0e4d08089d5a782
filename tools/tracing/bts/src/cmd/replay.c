// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts replay: print the call tree.
 *
 *	  instructions  branches  task     calls
 *	                          fib-49   fib() {
 *	             5         2  fib-49     fib();
 *	            ...
 *	           121        25  fib-49   } // fib
 *
 * The counts of a function include its callees. These counts are printed in the function's last
 * line, because they are not final before the function ends. If no other line comes between the
 * first and the last line of a function, a single line replaces both. So delay the first line until
 * the function ends or another line must be printed.
 *
 * This file reads the trace only through libbts.h.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/msg.h"
#include "lib/text.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
	"Usage: bts replay [OPTIONS] [FILE]\n\n"
	"Prints the call tree, with the instructions and branches of each call.\n\n"
	"  -F, --function FUNC  only calls of this function, and the calls inside them\n"
	"  -N, --no FUNC        leave out calls of this function\n"
	"  -D, --depth N        at most N nested calls\n"
	"  --json               print one JSON object per line\n"
	"  -h, --help           this text\n";

struct replay {
	struct bts_trace	*trace;
	struct text		*text;
	const char		*only;
	const char		*without;
	unsigned long		depth;
	bool			json;
	uint64_t		head;
	uint64_t		rows;
	bool			found;		/* a call was shown */
	/* The task and the frame of a call whose first line has not been printed yet. */
	const struct bts_task	*pending;
	struct bts_frame	pending_frame;
};

/* If -D hides a frame and its callees, bts_frame.user has this value. */
#define LEVEL_DEEP	UINTPTR_MAX

/* Return the level at which the frame is printed, or 0 if the frame is hidden. */
static uintptr_t level_of(const struct bts_frame *f)
{
	return f->user == (void *)LEVEL_DEEP ? 0 : (uintptr_t)f->user;
}

/* Return the level of the task's innermost frame, or 0 if the task has no frame. */
static uintptr_t top_level(const struct replay *r, const struct bts_task *t)
{
	const struct bts_frame *f = bts_frame(r->trace, t, bts_depth(t) - 1);

	return f ? level_of(f) : 0;
}

static const char *const kinds[] = {
	[BTS_FRAME_ROOT]	= "  // running before",
	[BTS_FRAME_CALL]	= "",
	[BTS_FRAME_TAIL]	= "  // jump",
	[BTS_FRAME_SYSCALL]	= "  // system call",
	[BTS_FRAME_INTERRUPT]	= "  // interrupt",
	[BTS_FRAME_SIGNAL]	= "  // signal",
	[BTS_FRAME_GUESS]	= "  // after a gap",
	[BTS_FRAME_INLINED]	= "",
};

static const char *const kind_names[] = {
	[BTS_FRAME_ROOT]	= "root",
	[BTS_FRAME_CALL]	= "call",
	[BTS_FRAME_TAIL]	= "jump",
	[BTS_FRAME_SYSCALL]	= "system call",
	[BTS_FRAME_INTERRUPT]	= "interrupt",
	[BTS_FRAME_SIGNAL]	= "signal",
	[BTS_FRAME_GUESS]	= "guess",
	[BTS_FRAME_INLINED]	= "inlined",
};

/* Print the beginning of a line. If @task is NULL, print the CPU in place of the task. */
static void head(struct replay *r, const struct bts_task *task, int cpu, uintptr_t level,
		 const struct bts_frame *counts)
{
	struct text *text = r->text;
	char name[32];
	int length;

	text_room(text, 512);
	if (counts) {
		text_padded(text, counts->insns, 14, ' ');
		text_padded(text, counts->branches, 11, ' ');
	} else {
		text_bytes(text, "                                        ", 25);
	}
	length = snprintf(name, sizeof(name), "  %s-%d", task ? bts_task_comm(task) : "cpu",
			  task ? bts_task_pid(task) : cpu);
	text_bytes(text, name, length);
	for (; length < 24; length++)
		text_bytes(text, " ", 1);
	for (uintptr_t i = 1; i < level; i++)
		text_bytes(text, "  ", 2);
	r->rows++;
}

/* Print the first members of the JSON object for a line. */
static void json_head(struct replay *r, const struct bts_task *task, int cpu, uintptr_t level)
{
	struct text *text = r->text;

	if (task) {
		text_string(text, "{\"task\":");
		text_json(text, bts_task_comm(task));
		text_string(text, ",\"pid\":");
		text_number(text, bts_task_pid(task));
	} else {
		text_string(text, "{\"cpu\":");
		text_number(text, cpu);
	}
	text_string(text, ",\"level\":");
	text_number(text, level);
	r->rows++;
}

static void json_name(struct replay *r, const char *what, const struct bts_frame *f)
{
	text_string(r->text, what);
	text_json(r->text, bts_sym_name(f->sym));
	text_string(r->text, ",\"dso\":");
	text_json(r->text, bts_sym_object(f->sym));
}

static void json_enter(struct replay *r, const struct bts_task *t, const struct bts_frame *f)
{
	json_head(r, t, 0, level_of(f));
	json_name(r, ",\"call\":", f);
	text_string(r->text, ",\"kind\":\"");
	text_string(r->text, kind_names[f->kind]);
	text_string(r->text, "\"}\n");
}

static void json_leave(struct replay *r, const struct bts_task *t, const struct bts_frame *f)
{
	json_head(r, t, 0, level_of(f));
	json_name(r, ",\"return\":", f);
	text_string(r->text, ",\"instructions\":");
	text_number(r->text, f->insns);
	text_string(r->text, ",\"branches\":");
	text_number(r->text, f->branches);
	text_string(r->text, f->unfinished ? ",\"finished\":false}\n" : ",\"finished\":true}\n");
}

static int enough(const struct replay *r)
{
	return r->text->failed || (r->head && r->rows >= r->head);
}

/* If the first line of a call is still delayed, print it. Call this before printing other lines. */
static void print_pending(struct replay *r)
{
	const struct bts_frame *f = &r->pending_frame;
	const struct bts_task *task = r->pending;

	r->pending = NULL;
	if (!task)
		return;
	head(r, task, 0, level_of(f), NULL);
	text_string(r->text, bts_sym_name(f->sym));
	text_string(r->text, "() {");
	text_string(r->text, kinds[f->kind]);
	text_string(r->text, "\n");
}

enum { ROLE_KNOWN = 1, ROLE_ONLY = 2, ROLE_WITHOUT = 4 };

/* Return the ROLE_* flags (for -F and -N) of the traced function @s. *user caches the flags. */
static uintptr_t role(const struct replay *r, const struct bts_sym *s)
{
	void **user = bts_sym_user(s);
	uintptr_t is = ROLE_KNOWN;

	if (*user)
		return (uintptr_t)*user;
	if (!r->only || bts_sym_is(s, r->only))
		is |= ROLE_ONLY;
	if (r->without && bts_sym_is(s, r->without))
		is |= ROLE_WITHOUT;
	*user = (void *)is;
	return is;
}

/* Report whether one of the outer frames belongs to a function that -N names. */
static bool within_unwanted(const struct replay *r, const struct bts_task *t, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		if (role(r, bts_frame(r->trace, t, i)->sym) & ROLE_WITHOUT)
			return true;
	return false;
}

/* Return the frame's level. Return 0 if -F or -N hides the frame, or LEVEL_DEEP if -D hides it. */
static uintptr_t new_level(const struct replay *r, const struct bts_task *t,
			   const struct bts_frame *f)
{
	uintptr_t above = 0;

	if (f->depth)
		above = (uintptr_t)bts_frame(r->trace, t, f->depth - 1)->user;
	if (above == LEVEL_DEEP)
		return LEVEL_DEEP;
	if (role(r, f->sym) & ROLE_WITHOUT)
		return 0;
	/* If a frame is hidden, hide its callees, except those that -F names. */
	if (f->depth && !above && !r->only)
		return 0;
	if (!above && !(role(r, f->sym) & ROLE_ONLY))
		return 0;
	if (!above && r->only && r->without && within_unwanted(r, t, f->depth))
		return 0;
	return r->depth && above >= r->depth ? LEVEL_DEEP : above + 1;
}

static int enter(void *ctx, const struct bts_task *t, struct bts_frame *f)
{
	struct replay *r = ctx;

	f->user = (void *)new_level(r, t, f);
	if (!level_of(f))
		return 0;
	r->found = true;
	if (r->json) {
		json_enter(r, t, f);
		return enough(r);
	}
	print_pending(r);
	r->pending = t;
	r->pending_frame = *f;
	return enough(r);
}

static int leave(void *ctx, const struct bts_task *t, struct bts_frame *f)
{
	struct replay *r = ctx;
	bool leaf = r->pending == t && r->pending_frame.depth == f->depth;

	if (!level_of(f))
		return 0;
	if (r->json) {
		json_leave(r, t, f);
		return enough(r);
	}
	if (!leaf)
		print_pending(r);
	r->pending = NULL;
	if (enough(r))
		return 1;
	head(r, t, 0, level_of(f), f);
	if (leaf) {
		text_string(r->text, bts_sym_name(f->sym));
		text_string(r->text, "();");
		text_string(r->text, kinds[f->kind]);
	} else {
		text_string(r->text, "} // ");
		text_string(r->text, bts_sym_name(f->sym));
	}
	if (f->unfinished)
		text_string(r->text, ", did not return");
	text_string(r->text, "\n");
	return enough(r);
}

/* Print that the task has switched stacks, or that libbts has guessed the task's call stack. */
static int stack(void *ctx, const struct bts_task *t, unsigned int number, bool guessed)
{
	struct replay *r = ctx;
	uintptr_t level = top_level(r, t);

	print_pending(r);
	if (enough(r))
		return 1;
	if (!level && (bts_depth(t) || r->only))
		return 0;
	if (r->json) {
		json_head(r, t, 0, level + 1);
		text_format(r->text, ",\"stack\":%u,\"guessed\":%s}\n", number,
			    guessed ? "true" : "false");
		return enough(r);
	}
	head(r, t, 0, level + 1, NULL);
	text_string(r->text, guessed ? "// stack guessed" : "// stack ");
	if (!guessed)
		text_number(r->text, number);
	text_string(r->text, "\n");
	return enough(r);
}

static int row(void *ctx, const struct bts_task *t, const struct bts_row *row)
{
	struct replay *r = ctx;
	uintptr_t level = t ? top_level(r, t) : 0;

	if (row->type == BTS_ROW_MAP || (t && bts_depth(t) && !level))
		return 0;
	print_pending(r);
	if (enough(r))
		return 1;
	if (r->json) {
		json_head(r, t, row->cpu, level + 1);
		text_string(r->text, ",\"row\":");
		text_json(r->text, row->text);
		text_string(r->text, "}\n");
		return enough(r);
	}
	head(r, t, row->cpu, level + 1, NULL);
	text_string(r->text, "// ");
	text_string(r->text, row->text);
	text_string(r->text, "\n");
	return enough(r);
}

static int run(void *ctx, const struct options *options)
{
	struct replay *r = ctx;
	int ret, status;

	r->trace = command_trace(options);
	if (!r->trace)
		return STATUS_FAILURE;
	r->head = options->head;
	r->text = text_open(stdout);
	if (!r->json)
		text_string(r->text, "  instructions   branches  task                  calls\n");
	bts_on_row(r->trace, row);
	bts_on_call(r->trace, enter);
	bts_on_return(r->trace, leave);
	bts_on_stack(r->trace, stack);
	ret = bts_run(r->trace, r);
	text_close(r->text);
	status = ret < 0 ? STATUS_FAILURE : STATUS_OK;
	if (r->only && !r->found)
		status = msg_error("replay", r->only, "no such function in the trace");
	return command_trace_end(r->trace, r->json, status);
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
	case 'J':
		r->json = true;
		return STATUS_OK;
	case 'D':
		return msg_number(command, "--depth", optarg, 1, &r->depth);
	}
	return STATUS_MISUSE;
}

static int operands(void *ctx, struct options *o, int argc, char **argv)
{
	(void)ctx;
	if (command_no_places(o, argv[0]))
		return STATUS_MISUSE;
	return command_input(o, argv[0], argc, argv);
}

int cmd_replay(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "function", required_argument, NULL, 'F' },
		{ "no", required_argument, NULL, 'N' },
		{ "depth", required_argument, NULL, 'D' },
		{ "json", no_argument, NULL, 'J' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	static const struct command command = {
		.usage = usage, .shorts = "F:N:D:h", .longs = longs, .rows = true,
		.option = option, .operands = operands, .run = run,
	};
	struct replay r = {};

	return command_main(&command, &r, argc, argv);
}
