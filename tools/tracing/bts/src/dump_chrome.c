// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls over time as trace events in JSON, which chrome://tracing, ui.perfetto.dev and
 * speedscope draw.
 *
 * BTS stores no time. A task's clock goes on by a nanosecond an instruction, and is set
 * to the time of its branches' row where that is later. So what is drawn is in order,
 * and its widths are instructions, within what is known of the time. A call and a return
 * take a nanosecond more: of two at the same time, speedscope takes the one for the other.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "dump.h"
#include "text.h"

struct chrome {
	struct dump	*dump;
	struct text	*text;
	uint64_t	begin;
	uint64_t	events;
};

/* A task's clock: the last time that was drawn, and the instructions then. */
struct clock {
	uint64_t	now;
	uint64_t	insns;
};

static struct clock *clock_of(struct calls *c)
{
	if (!c->node)
		c->node = bts_zalloc(1, sizeof(struct clock));
	return c->node;
}

/* The time, which passes by that. */
static uint64_t tick(struct calls *c)
{
	struct clock *k = clock_of(c);

	k->now += c->insns - k->insns;
	k->insns = c->insns;
	if (c->ts > k->now)
		k->now = c->ts;
	return k->now++;
}

static void micros(struct text *t, uint64_t ns)
{
	text_number(t, ns / 1000);
	text_bytes(t, ".", 1);
	text_padded(t, ns % 1000, 3, '0');
}

static void begin_event(struct chrome *ch, const struct bts_task *t, const char *phase)
{
	text_string(ch->text, ch->events++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	text_string(ch->text, phase);
	text_string(ch->text, "\",\"pid\":");
	text_number(ch->text, t->tgid);
	text_string(ch->text, ",\"tid\":");
	text_number(ch->text, t->pid);
	text_string(ch->text, ",\"name\":");
}

static void enter(struct calls *c, struct frame *f)
{
	f->ts = tick(c);
}

static void leave(struct calls *c, struct frame *f)
{
	struct chrome *ch = c->ctx;
	uint64_t end = tick(c);

	begin_event(ch, c->task, "X");
	text_json(ch->text, f->sym->name);
	text_string(ch->text, ",\"cat\":");
	text_json(ch->text, f->sym->object->name);
	text_string(ch->text, ",\"ts\":");
	micros(ch->text, f->ts > ch->begin ? f->ts - ch->begin : 0);
	text_string(ch->text, ",\"dur\":");
	micros(ch->text, end - f->ts);
	text_string(ch->text, ",\"args\":{\"instructions\":");
	text_number(ch->text, c->insns - f->insns_at);
	text_string(ch->text, ",\"branches\":");
	text_number(ch->text, c->branches - f->branches_at);
	text_string(ch->text, "}}");
}

static const struct calls_ops ops = { .enter = enter, .leave = leave };

static int branch(void *ctx, struct bts_task *t, struct bts_step *s, uint64_t ts)
{
	struct chrome *ch = ctx;

	if (!ch->begin)
		ch->begin = ts;
	if (s->flags & BTS_STEP_SHOWN)
		calls_step(calls_of(&ch->dump->pipe, t, &ops, ch), s, ts);
	return ch->text->failed;
}

/* What is no call is a mark in its task. */
static int row(void *ctx, struct bts_task *t, const struct bts_row *row)
{
	struct chrome *ch = ctx;
	struct calls *c;

	if (!t)
		return 0;
	c = calls_of(&ch->dump->pipe, t, &ops, ch);
	if (row->type != BTS_ROW_MAP) {
		uint64_t at = c->depth ? tick(c) : 0;

		if (row->ts > at)
			at = row->ts;
		begin_event(ch, t, "i");
		text_json(ch->text, command_row_text(&ch->dump->pipe, t, row));
		text_string(ch->text, ",\"s\":\"t\",\"ts\":");
		micros(ch->text, at > ch->begin && ch->begin ? at - ch->begin : 0);
		text_string(ch->text, "}");
	}
	calls_row(c, row);
	return ch->text->failed;
}

int dump_chrome(struct dump *d)
{
	struct chrome ch = { .dump = d, .text = text_open(d->out) };
	int status;

	d->pipe.consumer = (struct bts_consumer) { .ctx = &ch, .branch = branch, .row = row };
	text_string(ch.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	status = bts_pipe_run(&d->pipe);
	for (struct bts_task *t = d->pipe.tasks; t; t = t->list_next) {
		struct calls *c = t->priv;
		struct clock *k;

		begin_event(&ch, t, "M");
		text_string(ch.text, "\"thread_name\",\"args\":{\"name\":");
		text_json(ch.text, t->comm);
		text_string(ch.text, "}}");
		if (!c)
			continue;
		calls_end(c);
		k = c->node;
		calls_free(t);
		free(k);
	}
	text_string(ch.text, "\n]}\n");
	text_close(ch.text);
	return status;
}
