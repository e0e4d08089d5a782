// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening and closing a pipeline, and the bill: what was in the trace and what was not.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "private.h"

#define NSEC_PER_SEC	1e9

static uint64_t seconds(double time, uint64_t otherwise)
{
	return time > 0 ? (uint64_t)(time * NSEC_PER_SEC + .5) : otherwise;
}

/* When bts record began, in seconds; 0 if the trace does not say. */
static int64_t began(const char *info)
{
	const char *date = info ? strstr(info, "\ndate: ") : NULL;
	struct tm tm = {};
	long east;

	if (!date || !strptime(date + strlen("\ndate: "), "%Y-%m-%d %H:%M:%S %z", &tm))
		return 0;
	/* timegm() forgets it. */
	east = tm.tm_gmtoff;
	return timegm(&tm) - east;
}

bool pipe_open(struct pipe *p, const char *path, const struct options *options)
{
	struct pipe_private *v = mem_zalloc(1, sizeof(*v));

	p->options = options;
	p->private = v;
	p->tasks = NULL;
	p->bill = (struct pipe_bill) {};
	v->pipe = p;
	v->time_from = seconds(options->time_from, 0);
	v->time_to = seconds(options->time_to, UINT64_MAX);
	v->dat = dat_open(path);
	if (!v->dat) {
		free(v);
		p->private = NULL;
		return false;
	}
	formats_read(&v->formats, v->dat);
	objects_init(&p->objects, path, v->dat->uname.text);
	p->objects.began = began(v->dat->info.text);
	if (v->dat->kallsyms.text)
		kernel_syms(&p->objects, v->dat->kallsyms.text);
	v->spaces.objects = &p->objects;
	if (!objects_vmlinux(&p->objects, options->vmlinux, v->dat->kallsyms.text)) {
		pipe_close(p);
		return false;
	}
	comms_read(v);
	v->streams = mem_zalloc(v->dat->nr_cpus, sizeof(*v->streams));
	if (layout_find(&v->layout, &v->formats, v->dat)) {
		p->bill.bytes = v->dat->data_size;
		return true;
	}
	/* layout_find() has said why. */
	free(v->dat->error);
	v->dat->error = NULL;
	pipe_close(p);
	return false;
}

int pipe_close(struct pipe *p)
{
	struct pipe_private *v = p->private;
	int status = STATUS_OK;

	if (!v)
		return STATUS_OK;
	if (v->dat->error)
		status = msg_error("read", v->dat->path, "%s", v->dat->error);
	steps_clear(&v->steps, NULL, NULL);
	tasks_free(v);
	spaces_free(&v->spaces);
	objects_free(&p->objects);
	formats_free(&v->formats);
	dat_close(v->dat);
	free(v->streams);
	free(v);
	p->private = NULL;
	return status;
}

static bool lost_anything(const struct pipe_bill *b)
{
	for (unsigned int i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i] || b->lost_times[i])
			return true;
	return false;
}

static void print_lost(const struct pipe_bill *b, FILE *out)
{
	const char *comma = "";

	if (!lost_anything(b)) {
		fputs("lost 0", out);
		return;
	}
	fputs("lost ", out);
	for (unsigned int i = 0; i < LOSS_CAUSES; i++) {
		if (b->lost[i])
			fprintf(out, "%s%llu (%s)", comma, (unsigned long long)b->lost[i],
				loss_cause_names[i]);
		if (b->lost[i])
			comma = ", ";
		if (b->lost_times[i])
			fprintf(out, "%s? (%s, %llu times)", comma, loss_cause_names[i],
				(unsigned long long)b->lost_times[i]);
		if (b->lost_times[i])
			comma = ", ";
	}
}

static double bytes_each(const struct pipe_bill *b)
{
	return b->branches ? (double)b->bytes / b->branches : 0;
}

static void print_count(FILE *out, uint64_t count, const char *one, const char *many)
{
	fprintf(out, "%llu %s, ", (unsigned long long)count, count == 1 ? one : many);
}

/* Filters that leave no branch are more often misspelt than meant. */
static void warn_nothing_left(const struct pipe *p)
{
	const struct options *o = p->options;
	bool branches = p->bill.branches;
	char *filters;

	if (!p->private || p->private->shown)
		return;
	filters = mem_format("%s%s%s%s%s%s%s%s%s%s%s%s",
			     o->task ? " --task " : "", o->task ? o->task : "",
			     o->nr_pids ? " --pid" : "", o->cpu_words ? " --cpu" : "",
			     o->time_from > 0 || o->time_to > 0 ? " --time" : "",
			     branches && o->dso ? " --dso " : "", branches && o->dso ? o->dso : "",
			     branches && o->from ? " --from " : "",
			     branches && o->from ? o->from : "",
			     branches && o->to ? " --to " : "", branches && o->to ? o->to : "",
			     branches && o->user ? " -u" : branches && o->kernel ? " -k" : "");
	if (*filters)
		msg_warn("no branch of the trace matches%s", filters);
	free(filters);
}

/* Whose names are not those of the recording, or may not be. */
static void print_changed(const struct pipe *p, FILE *out)
{
	static const char * const words[] = {
		[OBJECT_UNPROVEN] = "may have changed since the recording: its names have a ?",
		[OBJECT_CHANGED] = "changed since the recording: its names are not known",
		[OBJECT_MISSING] = "cannot be read: its names are not known",
	};

	for (const struct object *o = p->objects.list; o; o = o->next)
		if (o->proof != OBJECT_PROVEN)
			fprintf(out, "# %s: %s\n", o->path, words[o->proof]);
}

static void print_changed_json(const struct pipe *p, FILE *out)
{
	static const char * const words[] = {
		[OBJECT_UNPROVEN] = "may have changed",
		[OBJECT_CHANGED] = "changed",
		[OBJECT_MISSING] = "cannot be read",
	};
	const char *comma = "";

	fputs(",\"files\":[", out);
	for (const struct object *o = p->objects.list; o; o = o->next) {
		if (o->proof == OBJECT_PROVEN)
			continue;
		fprintf(out, "%s{\"path\":", comma);
		text_print_json(out, o->path);
		fprintf(out, ",\"state\":\"%s\"}", words[o->proof]);
		comma = ",";
	}
	fputc(']', out);
}

void pipe_bill(const struct pipe *p, FILE *out)
{
	const struct pipe_bill *b = &p->bill;

	warn_nothing_left(p);
	print_changed(p, out);
	fputs("# ", out);
	print_count(out, b->branches, "branch", "branches");
	print_count(out, b->tasks, "task", "tasks");
	print_count(out, b->switches, "switch", "switches");
	print_lost(b, out);
	fputs(", ", out);
	print_count(out, b->gaps, "gap", "gaps");
	if (b->guessed)
		print_count(out, b->guessed, "stack guessed", "stacks guessed");
	if (b->blind)
		fprintf(out, "%llu without code, ", (unsigned long long)b->blind);
	fprintf(out, "%.2f bytes a branch\n", bytes_each(b));
}

void pipe_bill_json(const struct pipe *p, FILE *out)
{
	const struct pipe_bill *b = &p->bill;
	const char *comma = "";

	warn_nothing_left(p);
	fprintf(out, "{\"bill\":{\"branches\":%llu,\"tasks\":%llu,\"switches\":%llu,\"lost\":{",
		(unsigned long long)b->branches, (unsigned long long)b->tasks,
		(unsigned long long)b->switches);
	for (unsigned int i = 0; i < LOSS_CAUSES; i++) {
		if (!b->lost[i] && !b->lost_times[i])
			continue;
		fprintf(out, "%s\"%s\":{\"branches\":%llu,\"times_unknown\":%llu}", comma,
			loss_cause_names[i], (unsigned long long)b->lost[i],
			(unsigned long long)b->lost_times[i]);
		comma = ",";
	}
	fputc('}', out);
	print_changed_json(p, out);
	fprintf(out, ",\"gaps\":%llu,\"without_code\":%llu,\"stacks_guessed\":%llu,"
		"\"bytes_a_branch\":%.2f}}\n", (unsigned long long)b->gaps,
		(unsigned long long)b->blind, (unsigned long long)b->guessed, bytes_each(b));
}
