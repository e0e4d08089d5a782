// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write calls over time as JSON trace events, for chrome://tracing, ui.perfetto.dev and speedscope.
 */
#include "lib/text.h"
#include "timeline.h"

static void micros(struct text *t, uint64_t ns)
{
	text_number(t, ns / 1000);
	text_bytes(t, ".", 1);
	text_padded(t, ns % 1000, 3, '0');
}

static void begin_event(struct timeline *tl, const struct task *t, uint64_t track,
			const char *phase)
{
	uint64_t *events = tl->ctx;

	text_string(tl->text, (*events)++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	text_string(tl->text, phase);
	text_string(tl->text, "\",\"pid\":");
	text_number(tl->text, t->tgid);
	text_string(tl->text, ",\"tid\":");
	text_number(tl->text, track);
	text_string(tl->text, ",\"name\":");
}

static void leave(struct timeline *tl, struct calls *c, struct frame *f, uint64_t end)
{
	begin_event(tl, c->task, timeline_track(c), "X");
	text_json(tl->text, f->sym->name);
	text_string(tl->text, ",\"cat\":");
	text_json(tl->text, f->sym->object->name);
	text_string(tl->text, ",\"ts\":");
	micros(tl->text, f->ts);
	text_string(tl->text, ",\"dur\":");
	micros(tl->text, end - f->ts);
	text_string(tl->text, ",\"args\":{\"instructions\":");
	text_number(tl->text, c->insns - f->insns_at);
	text_string(tl->text, ",\"branches\":");
	text_number(tl->text, c->branches - f->branches_at);
	text_string(tl->text, "}}");
}

static void mark(struct timeline *tl, struct calls *c, const char *text, uint64_t at)
{
	begin_event(tl, c->task, timeline_track(c), "i");
	text_json(tl->text, text);
	text_string(tl->text, ",\"s\":\"t\",\"ts\":");
	micros(tl->text, at);
	text_string(tl->text, "}");
}

static void task(struct timeline *tl, struct task *t)
{
	begin_event(tl, t, timeline_first_track(t), "M");
	text_string(tl->text, "\"thread_name\",\"args\":{\"name\":");
	text_json(tl->text, t->comm);
	text_string(tl->text, "}}");
}

static void stack(struct timeline *tl, struct calls *c)
{
	begin_event(tl, c->task, timeline_track(c), "M");
	text_string(tl->text, "\"thread_name\",\"args\":{\"name\":\"stack ");
	text_number(tl->text, c->now.id);
	text_string(tl->text, " of ");
	text_number(tl->text, c->task->pid);
	text_string(tl->text, "\"}}");
}

int dump_chrome(struct dump *d)
{
	uint64_t events = 0;
	struct timeline tl = {
		.dump = d, .text = text_open(d->out), .leave = leave, .mark = mark, .stack = stack,
		.task = task,
		.ctx = &events,
	};
	int status;

	text_string(tl.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	status = timeline_run(&tl);
	text_string(tl.text, "\n]}\n");
	text_close(tl.text);
	return status;
}
