// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open and close a pipeline, and summarize the trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/bytes.h"
#include "lib/mem.h"
#include "private.h"

/* Return the time, in seconds, at which bts record started, or 0 if unknown. */
static int64_t began(const char *info)
{
	const char *date = info ? strstr(info, "\ndate: ") : NULL;
	struct tm tm = {};
	long east;

	if (!date || !strptime(date + strlen("\ndate: "), "%Y-%m-%d %H:%M:%S %z", &tm))
		return 0;
	/* Save tm_gmtoff, because timegm() overwrites this member. */
	east = tm.tm_gmtoff;
	return timegm(&tm) - east;
}

/* Return the time, in seconds, at which the recording ended, or 0 if unknown. */
static int64_t ended(const char *info)
{
	unsigned long long killed = stats_number(info, "killed_at");

	return killed ? killed : began(info) + stats_number(info, "seconds");
}

/* Report whether the trace states that a tracer option was set. */
static bool was_set(const char *info, const char *option)
{
	char *line = mem_format("\n%s: 1\n", option);
	bool found = info && strstr(info, line);

	free(line);
	return found;
}

bool pipe_begin(struct pipe *p, const char *path, const struct options *options)
{
	struct pipe_private *v = mem_zalloc(1, sizeof(*v));

	p->options = options;
	p->inlines = options->inlines;
	p->private = v;
	p->tasks = NULL;
	p->bill = (struct pipe_bill) {};
	p->error = (struct error) {};
	v->pipe = p;
	v->dat = dat_open(path, &p->error);
	if (!v->dat) {
		free(v);
		p->private = NULL;
		return false;
	}
	formats_read(&v->formats, v->dat);
	objects_init(&p->objects, path, v->dat->uname.text);
	p->objects.began = began(v->dat->info.text);
	p->objects.ended = ended(v->dat->info.text);
	/*
	 * If the trace's info lacks bts-user and bts-kernel, the pipeline sets seen_user at the
	 * first branch within user space, and seen_kernel at the first branch within the kernel.
	 */
	v->seen_user = was_set(v->dat->info.text, "bts-user");
	v->seen_kernel = was_set(v->dat->info.text, "bts-kernel");
	p->user_only = v->dat->info.text && strstr(v->dat->info.text, "\nkernel_ends: absent\n");
	p->objects.user_only = p->user_only;
	if (v->dat->kallsyms.text)
		kernel_syms(&p->objects, v->dat->kallsyms.text);
	spaces_init(&v->spaces, &p->objects);
	comms_read(v);
	v->streams = mem_zalloc(v->dat->nr_cpus, sizeof(*v->streams));
	p->bill.bytes = v->dat->data_size;
	if (pipe_vmlinux(p, options->vmlinux) &&
	    layout_find(&v->layout, &v->formats, v->dat, &p->error))
		return true;
	pipe_end(p);
	return false;
}

bool pipe_vmlinux(struct pipe *p, const char *path)
{
	return objects_vmlinux(&p->objects, path, p->private->dat->kallsyms.text, &p->error);
}

int pipe_check(struct pipe *p)
{
	const struct dat *dat = p->private->dat;

	if (dat->error)
		error_set(&p->error, EBADMSG, "read", dat->path, "%s", dat->error);
	return p->error.code;
}

void pipe_end(struct pipe *p)
{
	struct pipe_private *v = p->private;

	if (!v)
		return;
	pipe_stop(v);
	steps_clear(&v->steps, NULL, NULL);
	tasks_free(v);
	spaces_free(&v->spaces);
	objects_free(&p->objects);
	formats_free(&v->formats);
	if (v->dat)
		dat_close(v->dat);
	free(v->streams);
	free(v);
	p->private = NULL;
}

/* Append the average size of a branch in bytes. %f would use the locale's decimal point. */
static void add_bytes_each(const struct pipe_bill *b, struct bytes *out)
{
	uint64_t hundredths = 0;

	if (b->branches)
		hundredths = (100 * b->bytes + b->branches / 2) / b->branches;
	bytes_format(out, "%llu.%02llu", (unsigned long long)hundredths / 100,
		     (unsigned long long)hundredths % 100);
}

static void add_count(struct bytes *out, uint64_t count, const char *one, const char *many)
{
	bytes_format(out, "%llu %s, ", (unsigned long long)count, count == 1 ? one : many);
}

/* If the filters match no branch, return a warning, because a filter is probably misspelt. */
char *pipe_warning(const struct pipe *p)
{
	const struct options *o = p->options;
	bool branches = p->bill.branches;
	char *filters, *text = NULL;

	if (!p->private || p->private->shown)
		return NULL;
	filters = mem_format("%s%s%s%s%s%s%s%s%s%s%s%s",
			     o->task ? " --task " : "", o->task ? o->task : "",
			     o->nr_pids ? " --pid" : "", o->cpu_words ? " --cpu" : "",
			     o->time_given ? " --time" : "",
			     branches && o->dso ? " --dso " : "", branches && o->dso ? o->dso : "",
			     branches && o->from ? " --from " : "",
			     branches && o->from ? o->from : "",
			     branches && o->to ? " --to " : "", branches && o->to ? o->to : "",
			     branches && o->user ? " -u" : branches && o->kernel ? " -k" : "");
	if (*filters)
		text = mem_format("no branch of the trace matches%s", filters);
	free(filters);
	return text;
}

/* Add a line to @out if the chosen trace clock (the one in brackets) does not count nanoseconds. */
static void add_clock(const struct pipe *p, struct bytes *out)
{
	const char *clock = p->private->dat->clock.text;

	if (clock && (strstr(clock, "[x86-tsc]") || strstr(clock, "[counter]")))
		bytes_format(out, "# the trace's clock does not count nanoseconds, so times "
			     "are wrong\n");
}

/* Add a line to @out for each file that is unreadable or may have changed since the recording. */
static void add_changed(const struct pipe *p, struct bytes *out)
{
	static const char * const words[] = {
		[OBJECT_UNPROVEN] =
			"may have changed since the recording, so its function names end in '?'",
		[OBJECT_CHANGED] =
			"has changed since the recording, so its function names are unknown",
		[OBJECT_MISSING] = "cannot be read, so its function names are unknown",
	};

	for (const struct object *o = p->objects.list; o; o = o->next)
		if (o->proof != OBJECT_PROVEN)
			bytes_format(out, "# %s: %s\n", object_names_path(o), words[o->proof]);
}

static void add_changed_json(const struct pipe *p, struct bytes *out)
{
	static const char * const words[] = {
		[OBJECT_UNPROVEN] = "may have changed",
		[OBJECT_CHANGED] = "changed",
		[OBJECT_MISSING] = "cannot be read",
	};
	const char *comma = "";

	bytes_format(out, ",\"files\":[");
	for (const struct object *o = p->objects.list; o; o = o->next) {
		if (o->proof == OBJECT_PROVEN)
			continue;
		bytes_format(out, "%s{\"path\":", comma);
		bytes_json(out, object_names_path(o));
		bytes_format(out, ",\"state\":\"%s\"}", words[o->proof]);
		comma = ",";
	}
	bytes_add8(out, ']');
}

void pipe_bill_text(const struct pipe *p, struct bytes *out)
{
	const struct pipe_bill *b = &p->bill;

	add_clock(p, out);
	add_changed(p, out);
	bytes_format(out, "# ");
	add_count(out, b->branches, "branch", "branches");
	add_count(out, b->tasks, "task", "tasks");
	add_count(out, b->switches, "switch", "switches");
	losses_text(&b->losses, out);
	bytes_format(out, ", ");
	add_count(out, b->gaps, "gap", "gaps");
	if (b->guessed)
		add_count(out, b->guessed, "stack guessed", "stacks guessed");
	if (b->blind)
		bytes_format(out, "%llu without code, ", (unsigned long long)b->blind);
	add_bytes_each(b, out);
	bytes_format(out, " bytes a branch\n");
}

void pipe_bill_object(const struct pipe *p, struct bytes *out)
{
	const struct pipe_bill *b = &p->bill;

	bytes_format(out, "{\"bill\":{\"branches\":%llu,\"tasks\":%llu,\"switches\":%llu,",
		     (unsigned long long)b->branches, (unsigned long long)b->tasks,
		     (unsigned long long)b->switches);
	bytes_format(out, "\"lost\":");
	losses_json(&b->losses, out);
	add_changed_json(p, out);
	bytes_format(out, ",\"gaps\":%llu,\"without_code\":%llu,\"stacks_guessed\":%llu,"
		     "\"bytes_a_branch\":", (unsigned long long)b->gaps,
		     (unsigned long long)b->blind, (unsigned long long)b->guessed);
	add_bytes_each(b, out);
	bytes_format(out, "}}\n");
}
