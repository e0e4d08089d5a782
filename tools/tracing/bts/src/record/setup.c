// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set up the instance of bts record. Describe the recording (date, command, options) for bts info.
 *
 * While set_ftrace_pid is empty, the tracer traces every task, so tracing_on stays 0 until
 * set_ftrace_pid contains the targets' PIDs. With bts-block, targets wait until the ring buffer has
 * room for their branches, so a trace of user space is complete. Without bts-block, branches are
 * dropped and counted while the ring buffer is full. Only a flight recorder overwrites old entries.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <tracefs.h>

#include "lib/bytes.h"
#include "lib/cpus.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "instance.h"
#include "record.h"

enum {
	/* By default, all buffers share 1/PART of free memory. The limits of a CPU's buffer: */
	MOST_KB		= 16384,
	LEAST_KB	= 1024,
	/* The default size of a flight recorder on each CPU. */
	FLIGHT_KB	= 4096,
	MAPS_KB		= 1024,
	PART		= 8,
};

int record_check(void)
{
	const char *root = instance_tracefs();
	char *path, *tracers;
	bool there;

	if (!root)
		return -1;
	path = mem_format("%s/available_tracers", root);
	tracers = path_read(path, NULL);
	if (!tracers) {
		msg_errno("read", path);
		free(path);
		return -1;
	}
	free(path);
	there = strstr(tracers, "bts");
	free(tracers);
	if (there)
		return 0;
	msg_error("record", NULL, "this kernel has no bts tracer; see bts check");
	return -1;
}

bool record_has_tracer(void)
{
	const char *root = tracefs_tracing_dir();
	char *path = mem_format("%s/instances", root ? root : "");
	bool there = root && !access(path, W_OK);
	char *tracers = NULL;

	free(path);
	path = mem_format("%s/available_tracers", root ? root : "");
	if (there)
		tracers = path_read(path, NULL);
	there = tracers && strstr(tracers, "bts");
	free(tracers);
	free(path);
	return there;
}

static uint64_t default_kb(const struct record_options *options)
{
	uint64_t cpus = sysconf(_SC_NPROCESSORS_CONF), kb = LEAST_KB;
	struct sysinfo info;

	if (!sysinfo(&info))
		kb = (uint64_t)info.freeram * info.mem_unit / 1024 / PART / cpus;
	if (options->flight)
		return FLIGHT_KB;
	return kb > MOST_KB ? MOST_KB : kb < LEAST_KB ? LEAST_KB : kb;
}

static int set_buffer(const struct instance *inst, const struct record_options *options)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)
		 (options->buffer_kb ? options->buffer_kb : default_kb(options)));
	return instance_write(inst, "buffer_size_kb", text);
}

/* Convert a list of CPUs to a mask for the kernel, for example "0-2,5" to "00000027". */
static char *cpumask(const char *list)
{
	uint32_t words[CPUS_MAX / 32] = {};
	struct bytes mask = {};
	int top = 0;
	long from, to;

	while (cpus_next(&list, &from, &to) > 0) {
		for (long cpu = from; cpu <= to; cpu++)
			words[cpu / 32] |= 1U << cpu % 32;
		top = to / 32 > top ? to / 32 : top;
	}
	for (int i = top; i >= 0; i--) {
		char word[16];

		snprintf(word, sizeof(word), "%s%08x", i == top ? "" : ",", words[i]);
		bytes_add(&mask, word, strlen(word));
	}
	bytes_add8(&mask, 0);
	return mask.data;
}

static int set_cpus(const struct instance *inst, const char *list)
{
	char *mask;
	int ret;

	if (!list)
		return 0;
	mask = cpumask(list);
	ret = instance_write(inst, "tracing_cpumask", mask);
	free(mask);
	return ret;
}

static bool one_side(const struct record_options *options)
{
	return options->user != options->kernel;
}

/*
 * Enable the option bts-map, unless another instance records the mappings. If the kernel rejects
 * the option because of PREEMPT_RT, only warn.
 */
static int set_maps(const struct instance *inst)
{
	char *path = instance_file(inst, "options/bts-map");
	int ret = path_write(path, inst->maps ? "0" : "1");

	if (ret && errno == EOPNOTSUPP) {
		msg_warn("this kernel has PREEMPT_RT and records no mappings (bts-map), so "
			 "user addresses will have no names");
		ret = 0;
	} else if (ret) {
		msg_errno("write", path);
	}
	free(path);
	return ret;
}

static int set_options(const struct instance *inst, const struct record_options *options)
{
	bool blocks = !options->all && !options->flight && !options->no_block;
	const struct {
		const char	*name;
		bool		value;
		bool		optional;	/* some kernels lack the option */
	} wanted[] = {
		{ "bts-user",		options->user, false },
		{ "bts-kernel",		options->kernel, false },
		{ "bts-sched",		true, false },
		{ "bts-pack",		true, true },
		{ "bts-sync",		!!options->events, false },
		{ "bts-circular",	options->circular, false },
		/* In a circular DS buffer, unwanted branches would overwrite wanted branches. */
		{ "bts-cpl-filter",	options->circular && one_side(options), false },
		{ "overwrite",		options->flight, false },
		{ "bts-block",		blocks, false },
		{ "function-fork",	!options->all, false },
		{ "event-fork",		!options->all, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		char *file = mem_format("options/%s", wanted[i].name);
		bool skip = wanted[i].optional && !instance_has(inst, file);
		int ret = skip ? 0 : instance_write(inst, file, wanted[i].value ? "1" : "0");

		free(file);
		if (ret)
			return -1;
	}
	return set_maps(inst);
}

/* Enable an event "SYSTEM:NAME" or "SYSTEM:NAME if FILTER". */
static int set_event(const struct instance *inst, const char *event)
{
	const char *filter = strstr(event, " if ");
	char *name = filter ? mem_format("%.*s", (int)(filter - event), event) : mem_strdup(event);
	char *colon = strchr(name, ':');
	int ret = 0;

	if (filter && !colon) {
		msg_error("filter", name, "to filter an event, specify its system: SYSTEM:NAME");
		ret = -1;
	} else if (filter) {
		char *file = mem_format("events/%.*s/%s/filter", (int)(colon - name), name,
					colon + 1);

		ret = instance_write(inst, file, filter + 4);
		free(file);
	}
	if (!ret && instance_append(inst, "set_event", name)) {
		msg_error("enable", name,
			  "the event does not exist or cannot be enabled; see available_events");
		ret = -1;
	}
	free(name);
	return ret;
}

static int choose_tracer(const struct instance *inst)
{
	char *path = instance_file(inst, "current_tracer"), *why;
	int ret = path_write(path, "bts"), saved = errno;

	free(path);
	if (!ret)
		return 0;
	why = instance_error(inst);
	msg_error("start the tracer", inst->name, "%s%s%s", why ? why : strerror(saved),
		  why ? ": " : "", why ? strerror(saved) : "");
	free(why);
	return -1;
}

/*
 * A flight recorder would soon overwrite the mappings, because it overwrites its oldest rows. So
 * record the mappings in a second instance, which records no branches.
 */
static int set_up_maps(struct instance *inst, const struct record_options *options)
{
	static const char *const off[] = {
		"bts-user", "bts-kernel", "bts-sched", "bts-circular", "bts-block", "bts-pack",
	};
	struct instance *maps = instance_create();
	char size[32];

	inst->maps = maps;
	if (!maps)
		return -1;
	snprintf(size, sizeof(size), "%d", MAPS_KB);
	if (instance_write(maps, "tracing_on", "0") || instance_write(maps, "buffer_size_kb", size))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
		char *file = mem_format("options/%s", off[i]);
		int ret = instance_has(maps, file) ? instance_write(maps, file, "0") : 0;

		free(file);
		if (ret)
			return -1;
	}
	if (instance_write(maps, "options/overwrite", "1") ||
	    instance_write(maps, "options/function-fork", options->all ? "0" : "1") ||
	    set_maps(maps))
		return -1;
	return choose_tracer(maps);
}

int record_setup(struct instance *inst, const struct record_options *options)
{
	if (options->flight && set_up_maps(inst, options))
		return -1;
	if (instance_write(inst, "tracing_on", "0") || set_buffer(inst, options) ||
	    set_options(inst, options) || set_cpus(inst, options->cpus))
		return -1;
	for (const char **event = options->events; event && *event; event++)
		if (set_event(inst, *event))
			return -1;
	return choose_tracer(inst);
}

/* --- The description ---------------------------------------------------------------- */

static void add_system(char ***systems, size_t *nr, const char *name, size_t length)
{
	for (size_t i = 0; i < *nr; i++)
		if (strlen((*systems)[i]) == length && !strncmp((*systems)[i], name, length))
			return;
	*systems = mem_realloc(*systems, *nr + 2, sizeof(char *));
	(*systems)[(*nr)++] = mem_format("%.*s", (int)length, name);
	(*systems)[*nr] = NULL;
}

char **record_systems(const struct instance *inst)
{
	char *events = instance_read(inst, "set_event");
	char **systems = NULL;
	size_t nr = 0;

	add_system(&systems, &nr, "bts", 3);
	for (char *line = events; line && *line; line += *line == '\n') {
		size_t length = strcspn(line, "\n"), name = strcspn(line, ":\n");

		if (name < length)
			add_system(&systems, &nr, line, name);
		line += length;
	}
	free(events);
	return systems;
}

static void add_value(struct bytes *text, const char *key, const char *value)
{
	char *line = mem_format("%s: %s\n", key, value ? value : "");

	bytes_add(text, line, strlen(line));
	free(line);
}

/* Add a command, quoted for a shell. */
static void add_command(struct bytes *text, char **command)
{
	bytes_add(text, "command:", strlen("command:"));
	for (; *command; command++) {
		const char *word = *command;
		bool plain = *word && !strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;!~#");

		bytes_add8(text, ' ');
		if (!plain)
			bytes_add8(text, '\'');
		for (; *word; word++) {
			if (*word == '\'')
				bytes_add(text, "'\\'", 3);
			bytes_add8(text, *word == '\n' ? ' ' : *word);
		}
		if (!plain)
			bytes_add8(text, '\'');
	}
	bytes_add8(text, '\n');
}

/* Find the first CPU's field @name in /proc/cpuinfo, and add the line "@key: VALUE" to @text. */
static void add_cpuinfo(struct bytes *text, const char *cpuinfo, const char *name, const char *key)
{
	char *pattern = mem_format("\n%s\t", name);
	const char *at = cpuinfo ? strstr(cpuinfo, pattern) : NULL;

	free(pattern);
	at = at ? strchr(at, ':') : NULL;
	if (at && at[1] == ' ') {
		char *value = mem_format("%.*s", (int)strcspn(at + 2, "\n"), at + 2);

		add_value(text, key, value);
		free(value);
	}
}

static void add_machine(struct bytes *text, const struct vm_job *job)
{
	char *cpuinfo = path_read("/proc/cpuinfo", NULL);
	struct passwd *user = getpwuid(job ? job->uid : getuid());
	struct utsname uts;
	char value[64];

	uname(&uts);
	add_value(text, "user", user ? user->pw_name : "");
	add_value(text, "host", uts.nodename);
	add_value(text, "kernel", uts.release);
	add_value(text, "kernel_version", uts.version);
	add_cpuinfo(text, cpuinfo, "model name", "cpu");
	add_cpuinfo(text, cpuinfo, "cpu family", "cpu_family");
	add_cpuinfo(text, cpuinfo, "model", "cpu_model");
	add_cpuinfo(text, cpuinfo, "stepping", "cpu_stepping");
	add_cpuinfo(text, cpuinfo, "microcode", "cpu_microcode");
	snprintf(value, sizeof(value), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	add_value(text, "cpus", value);
	free(cpuinfo);
}

static void add_file_line(struct bytes *text, const struct instance *inst, const char *file)
{
	char *value = instance_read(inst, file);
	const char *key = strrchr(file, '/');

	if (value) {
		value[strcspn(value, "\n")] = 0;
		add_value(text, key ? key + 1 : file, value);
	}
	free(value);
}

static void add_targets(struct bytes *text, const struct record_options *options)
{
	if (options->command)
		add_command(text, options->command);
	if (options->all)
		add_value(text, "targets", "all");
	for (size_t i = 0; i < options->nr_pids; i++) {
		char *value = mem_format("%d", options->pids[i]);

		add_value(text, "pid", value);
		free(value);
	}
	if (options->cpus)
		add_value(text, "on_cpus", options->cpus);
	add_value(text, "flight", options->flight ? "1" : "0");
	if (options->on)
		add_value(text, "written_on", options->on);
	for (const char **event = options->events; event && *event; event++)
		add_value(text, "event", *event);
}

char *record_describe(const struct instance *inst, const struct record_options *options)
{
	static const char * const files[] = {
		"options/bts-user", "options/bts-kernel", "options/bts-pack",
		"options/bts-block", "options/bts-circular", "options/bts-cpl-filter",
		"options/bts-sched", "options/bts-map", "options/bts-sync",
		"options/overwrite", "buffer_size_kb",
	};
	time_t now = time(NULL);
	struct bytes text = {};
	char date[64];

	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", localtime(&now));
	add_value(&text, "tool", "bts " VERSION);
	add_value(&text, "date", date);
	add_machine(&text, options->job);
	add_targets(&text, options);
	if (options->job)
		add_value(&text, "backend", "tracer, in the emulated machine");
	for (size_t i = 0; inst && i < ARRAY_SIZE(files); i++)
		add_file_line(&text, inst, files[i]);
	bytes_add8(&text, 0);
	return text.data;
}
