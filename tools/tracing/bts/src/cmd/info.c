// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts info: show the origin of a trace (command, user, date, machine, options) and its summary.
 *
 * bts record writes this information into a section of the file, so that bts info does not need to
 * decode branches. A trace from trace-cmd does not contain this section, so bts info counts the
 * branches.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/dat.h"
#include "file/trace_dat.h"
#include "flow/pipeline.h"
#include "lib/causes.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/text.h"
#include "record/bill.h"
#include "symbols/archive.h"
#include "cmd.h"
#include "command.h"

static const char usage[] =
"Usage: bts info [OPTIONS] [FILE]\n"
"\n"
"Prints the origin of a trace (command, user, date, machine, options), and its summary (the\n"
"numbers of recorded and lost branches).\n"
"\n"
"  -i, --input FILE   the trace (trace.dat)\n"
"      --stats        print the tracer's counters, too\n"
"      --json         print JSON: one object, or two objects if trace-cmd made the trace\n"
"  -h, --help         this text\n";

/* Return the value of the first line "KEY: value", or NULL. The value ends at the newline. */
static const char *find_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, length) && line[length] == ':') {
			line += length + 1;
			return line + (*line == ' ');
		}
	}
	return NULL;
}

/* Return a copy of the value that find_value() finds. The caller frees the copy. */
static char *value_of(const char *text, const char *key)
{
	const char *value = find_value(text, key);

	return value ? mem_format("%.*s", (int)strcspn(value, "\n"), value) : NULL;
}

static void print_value(const char *name, const char *text, const char *key)
{
	char *value = value_of(text, key);

	if (value && *value)
		printf("%-11s%s\n", name, value);
	free(value);
}

/* Print the value of each line "KEY: value" in @text. */
static void print_values(const char *name, const char *text, const char *key)
{
	const char *value = find_value(text, key);

	for (; value; value = find_value(strchr(value, '\n'), key))
		printf("%-11s%.*s\n", name, (int)strcspn(value, "\n"), value);
}

static void print_recorded(const char *info)
{
	char *date = value_of(info, "date"), *user = value_of(info, "user");
	char *host = value_of(info, "host"), *tool = value_of(info, "tool");
	char *seconds = value_of(info, "seconds");

	printf("%-11s%s, %s s, by %s on %s (%s)\n", "recorded", date ? date : "?",
	       seconds ? seconds : "?", user ? user : "?", host ? host : "?", tool ? tool : "?");
	free(seconds);
	free(tool);
	free(host);
	free(user);
	free(date);
}

static void print_machine(const char *info)
{
	char *cpu = value_of(info, "cpu");
	unsigned long long cpus = stats_number(info, "cpus");

	printf("%-11s%s, family %llu, model %llu, stepping %llu, %llu CPU%s\n", "machine",
	       cpu ? cpu : "?", stats_number(info, "cpu_family"),
	       stats_number(info, "cpu_model"), stats_number(info, "cpu_stepping"), cpus,
	       text_plural(cpus, "s"));
	free(cpu);
	cpu = value_of(info, "cpu_microcode");
	if (cpu)
		printf("%-11s%s\n", "microcode", cpu);
	free(cpu);
	print_value("kernel", info, "kernel");
}

static void print_options(const char *info)
{
	static const char * const names[] = {
		"bts-user", "bts-kernel", "bts-pack", "bts-block", "bts-circular",
		"bts-cpl-filter", "bts-sched", "bts-map", "bts-sync", "overwrite",
	};

	/* A trace from "bts import" has no buffer_size_kb and no other options of "bts record". */
	if (!stats_number(info, "buffer_size_kb"))
		return;
	printf("%-11s", "options");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (stats_number(info, names[i]))
			printf("%s ", names[i]);
	printf("buffer_size_kb=%llu\n", stats_number(info, "buffer_size_kb"));
}

static void print_end(const char *info)
{
	char *text = value_of(info, "wait_status");
	int status = text ? atoi(text) : 0;

	if (text && WIFSIGNALED(status))
		printf("%-11skilled by signal %d (%s)\n", "status", WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (text)
		printf("%-11s%d\n", "status", WEXITSTATUS(status));
	free(text);
}

static void print_our_info(const char *info)
{
	print_recorded(info);
	print_value("command", info, "command");
	print_end(info);
	print_values("pid", info, "pid");
	print_value("backend", info, "backend");
	print_value("targets", info, "targets");
	print_value("on CPUs", info, "on_cpus");
	print_values("event", info, "event");
	print_value("written on", info, "written_on");
	print_machine(info);
	print_options(info);
}

static void print_file(const struct dat *dat)
{
	char *archive = archive_path(dat->path);

	printf("%-11s%s, trace.dat version %u, %s, %s bytes\n", "file", dat->path, dat->version,
	       dat->compression, text_commas(dat->size));
	if (!access(archive, F_OK))
		printf("%-11s%s\n", "archive", archive);
	for (size_t i = 0; i < dat->nr_cpus; i++)
		printf("%-11s%d: %s bytes%s%s\n", "cpu", dat->cpus[i].cpu,
		       text_commas(dat->cpus[i].size), *dat->cpus[i].instance ? " of " : "",
		       dat->cpus[i].instance);
	if (dat->uname.text && !dat->info.text)
		printf("%-11s%s\n", "machine", dat->uname.text);
	free(archive);
}

static void json_file(const struct dat *dat)
{
	const char *comma = "";

	fputs("{\"file\":", stdout);
	text_print_json(stdout, dat->path);
	printf(",\"version\":%u,\"compression\":", dat->version);
	text_print_json(stdout, dat->compression);
	printf(",\"bytes\":%llu,\"uname\":", (unsigned long long)dat->size);
	text_print_json(stdout, dat->uname.text ? dat->uname.text : "");
	fputs(",\"cpus\":[", stdout);
	for (size_t i = 0; i < dat->nr_cpus; i++) {
		printf("%s{\"cpu\":%d,\"instance\":", comma, dat->cpus[i].cpu);
		text_print_json(stdout, dat->cpus[i].instance);
		printf(",\"bytes\":%llu}", (unsigned long long)dat->cpus[i].size);
		comma = ",";
	}
	fputs("]", stdout);
}

/* Print the "KEY: VALUE" lines before @end as an array, because an object cannot repeat a key. */
static void json_lines(const char *text, const char *end)
{
	const char *comma = "";

	fputs(",\"recorded\":[", stdout);
	for (size_t length; text < end; text += length + (text[length] == '\n')) {
		size_t key = strcspn(text, ":\n");
		char *name = mem_format("%.*s", (int)key, text), *value;

		length = strcspn(text, "\n");
		value = mem_format("%.*s", key + 2 <= length ? (int)(length - key - 2) : 0,
				   text + key + 2);
		printf("%s{\"key\":", comma);
		text_print_json(stdout, name);
		fputs(",\"value\":", stdout);
		text_print_json(stdout, value);
		fputs("}", stdout);
		comma = ",";
		free(value);
		free(name);
	}
	fputs("],", stdout);
}

/* Print JSON. @stats is NULL, or points to the tracer's counters at the end of dat->info.text. */
static void show_json(const struct dat *dat, const char *stats, bool with_stats)
{
	const char *info = dat->info.text;
	struct bill bill = bill_of_info(dat->info.text, dat->size);

	json_file(dat);
	if (info) {
		json_lines(info, stats && !with_stats ? stats : info + strlen(info));
		bill_json(stdout, &bill);
	}
	puts("}");
}

static void show_text(const struct dat *dat, const char *stats, bool with_stats)
{
	struct bill bill = bill_of_info(dat->info.text, dat->size);

	print_file(dat);
	if (!dat->info.text)
		return;
	print_our_info(dat->info.text);
	if (with_stats && stats)
		fputs(stats, stdout);
	bill_print(stdout, NULL, &bill);
}

/* For a trace without a BTS section, count the branches and print the summary. */
static int print_counted_bill(struct options *options, bool json)
{
	struct pipe pipe = {};
	int ret;

	if (!pipe_open(&pipe, options->path, options))
		return STATUS_FAILURE;
	ret = pipe_run(&pipe);
	if (json)
		pipe_bill_json(&pipe, stdout);
	else
		pipe_bill(&pipe, stdout);
	return pipe_close(&pipe) || ret ? STATUS_FAILURE : STATUS_OK;
}

static int show(struct options *options, bool stats, bool json)
{
	struct error error = {};
	struct dat *dat = dat_open(options->path, &error);
	int ret = STATUS_OK;
	const char *from;

	if (!dat) {
		print_failure(options->path, error.code, error_text(&error));
		error_free(&error);
		return STATUS_FAILURE;
	}
	from = dat->info.text ? strstr(dat->info.text, "\nowner:") : NULL;
	(json ? show_json : show_text)(dat, from ? from + 1 : NULL, stats);
	if (!dat->info.text)
		ret = print_counted_bill(options, json);
	if (dat->info.text && dat->error)
		ret = msg_error("read", dat->path, "%s", dat->error);
	dat_close(dat);
	return ret;
}

int cmd_info(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "input",	required_argument,	NULL, 'i' },
		{ "stats",	no_argument,		NULL, 's' },
		{ "json",	no_argument,		NULL, 'J' },
		{ "help",	no_argument,		NULL, 'h' },
		{}
	};
	const char *path = DAT_NAME;
	struct options options = {};
	bool stats = false, json = false;
	int option;

	while ((option = getopt_long(argc, argv, "i:h", longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			path = optarg;
			break;
		case 's':
			stats = true;
			break;
		case 'J':
			json = true;
			break;
		case 'h':
			return msg_usage(usage);
		default:
			return STATUS_MISUSE;
		}
	}
	if (command_operand(&path, "info", argc, argv))
		return STATUS_MISUSE;
	options.path = (char *)path;
	return show(&options, stats, json);
}
