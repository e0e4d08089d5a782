// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set up the option --on EVENT: when EVENT occurs, tracing stops, and bts record writes the flight
 * recorder's contents to the trace.
 *
 * For each kind of --on event, bts sets a traceoff trigger on one trace event in its instance:
 *
 *	signal		signal:signal_deliver		kernel function		a kprobe
 *	end of a task	sched:sched_process_exit	program's function	a uprobe
 *
 * Each trigger has a condition, because a trigger without a condition ignores set_event_pid, and
 * fires for every task. Probes are global, so removing the instance does not remove them. A probe
 * cannot be removed while a trigger uses it, so undo.c first removes the instance and then the
 * probes.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "symbols/find.h"
#include "instance.h"
#include "record.h"
#include "undo.h"

#define ALWAYS "common_pid >= 0"

enum on_kind { ON_EVENT, ON_SIGNAL, ON_EXIT, ON_KERNEL, ON_FILE };

/* The parsed argument "WHAT if FILTER" of the option --on. */
struct on {
	enum on_kind	kind;
	char		*what;
	char		*filter;
	int		signal;
};

static int signal_number(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	if (end != name && !*end)
		return number > 0 && number < NSIG ? number : -1;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int i = 1; i < NSIG; i++)
		if (sigabbrev_np(i) && !strcasecmp(sigabbrev_np(i), name))
			return i;
	return -1;
}

/*
 * Return the length of FILE in "FILE:FUNCTION", or 0 if the text has another form. FILE and
 * FUNCTION may contain colons, so try each colon until the text before the colon is the name of an
 * existing file.
 */
static size_t file_length(const char *what)
{
	const char *slash = strchr(what, '/'), *colon;

	for (colon = slash ? strchr(slash, ':') : NULL; colon; colon = strchr(colon + 1, ':')) {
		char *file = mem_format("%.*s", (int)(colon - what), what);
		bool found = !access(file, F_OK);

		free(file);
		if (found)
			return colon - what;
	}
	colon = slash ? strchr(slash, ':') : NULL;
	return colon ? colon - what : 0;
}

static struct on on_split(const char *text)
{
	const char *filter = strstr(text, " if ");
	struct on on = {
		.what = filter ? mem_format("%.*s", (int)(filter - text), text) : mem_strdup(text),
		.filter = mem_strdup(filter ? filter + 4 : ALWAYS),
	};

	if (!strcmp(on.what, "exit")) {
		on.kind = ON_EXIT;
	} else if (!strncmp(on.what, "signal:", 7)) {
		on.kind = ON_SIGNAL;
		on.signal = signal_number(on.what + 7);
	} else if (file_length(on.what)) {
		on.kind = ON_FILE;
	} else {
		on.kind = strchr(on.what, ':') ? ON_EVENT : ON_KERNEL;
	}
	return on;
}

static void on_free(struct on *on)
{
	free(on->what);
	free(on->filter);
}

int on_parse(const char *text)
{
	struct on on = on_split(text);
	int ret = STATUS_OK;

	if (!*on.what || on.what[strlen(on.what) - 1] == ':')
		ret = msg_misuse("record", "--on %s: no event, function or signal given", text);
	else if (on.kind == ON_SIGNAL && on.signal < 0)
		ret = msg_misuse("record", "--on %s: no such signal", text);
	on_free(&on);
	return ret;
}

/* --- Probes ------------------------------------------------------------------------- */

static char *probe_group(void)
{
	return mem_format("bts_%d", getpid());
}

void on_prepare(const struct record_options *options)
{
	struct on on;

	if (!options->on)
		return;
	on = on_split(options->on);
	if (on.kind == ON_KERNEL || on.kind == ON_FILE) {
		char *path = mem_format("%s/dynamic_events", instance_tracefs());
		char *group = probe_group();
		char *text = mem_format("-:%s/on", group);

		undo_write(path, text);
		free(text);
		free(group);
		free(path);
	}
	on_free(&on);
}

/* All probes get the same group and the same name, "on", so they share one event. */
static int add_probe(const char *group, const char *where)
{
	char *path = mem_format("%s/dynamic_events", instance_tracefs());
	char *text = mem_format("p:%s/on %s", group, where);
	int ret = path_append(path, text);

	if (ret)
		msg_errno("add a probe at", where);
	free(text);
	free(path);
	return ret;
}

static int probe_file(const struct on *on, const char *group)
{
	size_t length = file_length(on->what), nr;
	char *file = mem_format("%.*s", (int)length, on->what);
	char *path = realpath(file, NULL);
	uint64_t *offsets = NULL;
	int ret = -1;

	nr = path ? file_functions(path, on->what + length + 1, &offsets) : 0;
	if (!path)
		msg_errno("open", file);
	else if (!nr)
		msg_error("find a function", on->what + length + 1, "not in %s", file);
	for (size_t i = 0; i < nr; i++) {
		char *where = mem_format("%s:%#llx", path, (unsigned long long)offsets[i]);

		ret = add_probe(group, where);
		free(where);
		if (ret)
			break;
	}
	free(offsets);
	free(path);
	free(file);
	return ret;
}

static char *make_probe(const struct on *on)
{
	char *group = probe_group(), *event = NULL;
	int ret = on->kind == ON_KERNEL ? add_probe(group, on->what) : probe_file(on, group);

	if (!ret)
		event = mem_format("%s/on", group);
	free(group);
	return event;
}

/* --- The trigger -------------------------------------------------------------------- */

/* Report whether the default action of the signal ends the process without a core dump. */
static bool ends_without_core(int signal)
{
	switch (signal) {
	case SIGHUP:
	case SIGINT:
	case SIGKILL:
	case SIGUSR1:
	case SIGUSR2:
	case SIGPIPE:
	case SIGALRM:
	case SIGTERM:
	case SIGSTKFLT:
	case SIGVTALRM:
	case SIGPROF:
	case SIGIO:
	case SIGPWR:
		return true;
	}
	return signal >= 32;
}

/*
 * If a fatal signal causes no core dump, the kernel delivers SIGKILL instead, so only the event
 * signal_generate shows the original signal. A trigger on signal_generate fires only if the sender
 * is a traced task. The condition "result == 0" excludes signals that are ignored or already
 * pending.
 */
static int arm_sender(const struct instance *inst, const struct on *on)
{
	char *trigger;
	int ret;

	if (!ends_without_core(on->signal))
		return 0;
	trigger = mem_format("traceoff if sig == %d && result == 0 && (%s)", on->signal,
			     on->filter);
	ret = instance_append(inst, "events/signal/signal_generate/trigger", trigger);

	free(trigger);
	return ret;
}

/* Return the event as "SYSTEM/NAME" in allocated memory, or print a message and return NULL. */
static char *on_event(const struct on *on)
{
	char *event;

	switch (on->kind) {
	case ON_SIGNAL:
		return mem_strdup("signal/signal_deliver");
	case ON_EXIT:
		return mem_strdup("sched/sched_process_exit");
	case ON_EVENT:
		event = mem_strdup(on->what);
		*strchr(event, ':') = '/';
		return event;
	default:
		return make_probe(on);
	}
}

int on_arm(const struct instance *inst, const struct record_options *options)
{
	char *event, *file, *trigger;
	struct on on;
	int ret = -1;

	if (!options->on)
		return 0;
	on = on_split(options->on);
	event = on_event(&on);
	if (event) {
		file = mem_format("events/%s/trigger", event);
		trigger = on.kind == ON_SIGNAL ?
			  mem_format("traceoff if sig == %d && (%s)", on.signal, on.filter) :
			  mem_format("traceoff if %s", on.filter);
		ret = instance_append(inst, file, trigger);
		if (!ret && on.kind == ON_SIGNAL)
			ret = arm_sender(inst, &on);
		free(trigger);
		free(file);
		free(event);
	}
	on_free(&on);
	return ret;
}
