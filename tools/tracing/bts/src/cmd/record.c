// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts record: record the branches of a command, of PIDs or of all tasks.
 *
 *	prepare		set up an instance, and fork the child that will execute the command
 *	start		start the reader threads, start tracing, and let the child continue
 *	wait		wait until the targets have ended, a signal arrives, the file cannot be
 *			written or, with --on, a trigger has switched tracing off
 *	stop		stop tracing the targets, wait for held entries, switch tracing off, and
 *			let the reader threads read the remaining entries
 *	write		write the file, and print the summary
 *
 * With --flight, the reader threads run only while the file is written. With --rearm, the flight
 * recorder starts again after the file is written.
 *
 * bts reads signals from a signalfd, so that the file is complete even after a signal. When bts
 * ends, for whatever reason, undo.c restores all settings.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/bytes.h"
#include "lib/causes.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/process.h"
#include "lib/text.h"
#include "record/bill.h"
#include "record/collector.h"
#include "record/instance.h"
#include "record/perf_events.h"
#include "record/record.h"
#include "record/vm.h"
#include "record/writer.h"
#include "symbols/archive.h"
#include "symbols/kernel_code.h"
#include "cmd.h"
#include "recording.h"
#include "record_repeat.h"

enum {
	TRIGGER_POLL_MS	= 20,
	HELD_POLL_US	= 2000,
	HELD_TRIES	= 5000,
};

struct record {
	struct record_options	options;
	struct targets		targets;
	struct instance		*inst;
	struct collector	*collector;
	struct writer		*writer;
	char			*path;
	char			*name;		/* the trace's name in messages */
	char			*about;		/* command, user, date, machine */
	char			*stats;		/* bts_stats when the previous file was written */
	struct kernel_code	*code;		/* the kernel's code before tracing begins */
	int			signals;
	unsigned int		nr_written;
	bool			by_trigger;	/* the event given with --on ended the recording */
	struct timespec		start;
};

enum reason { ENDED, INTERRUPTED, TRIGGERED, TROUBLE };

/* --- Start -------------------------------------------------------------------------- */

int recording_signals(bool children)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	/* Under nohup(1), still ignore SIGHUP. */
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (taken[i] != SIGHUP || !process_ignores_hangup())
			sigaddset(&set, taken[i]);
	if (children)
		sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Background jobs ignore SIGINT. Restore SIGINT, so that kill -INT ends the recording. */
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		msg_errno("create a descriptor for signals", NULL);
	return fd;
}

static char *numbered(const struct record *rec, const char *file)
{
	return rec->nr_written ? mem_format("%s.%u", file, rec->nr_written) : mem_strdup(file);
}

/* Create the next file (FILE, FILE.1, FILE.2 ...), and write the event formats into the file. */
static int open_file(struct record *rec)
{
	long long page_kb = instance_read_number(rec->inst, "buffer_subbuf_size_kb");
	unsigned int page = page_kb > 0 ? page_kb * 1024 : sysconf(_SC_PAGESIZE);
	char **systems = record_systems(rec->inst);
	int ret = -1;

	free(rec->path);
	free(rec->name);
	rec->path = numbered(rec, rec->options.output);
	rec->name = numbered(rec, rec->options.job ? rec->options.job->name : rec->options.output);
	rec->writer = writer_create(rec->path, page);
	if (rec->writer)
		ret = writer_write_formats(rec->writer, instance_tracefs(), systems) ||
		      writer_write_draft(rec->writer, rec->about) ? -1 : 0;
	for (char **system = systems; *system; system++)
		free(*system);
	free(systems);
	return ret;
}

static int prepare(struct record *rec)
{
	struct record_options *options = &rec->options;

	if (record_check())
		return -1;
	rec->signals = recording_signals(false);
	if (rec->signals < 0)
		return -1;
	on_prepare(options);
	rec->inst = instance_create();
	if (!rec->inst || record_setup(rec->inst, options) ||
	    targets_prepare(&rec->targets, rec->inst, options) ||
	    targets_write(&rec->targets, rec->inst, options))
		return -1;
	rec->about = record_describe(rec->inst, options);
	if (options->kernel)
		rec->code = kernel_code_take();
	return open_file(rec);
}

static int start(struct record *rec)
{
	if (!rec->options.flight) {
		rec->collector = collector_start(rec->inst, rec->writer, true);
		if (!rec->collector)
			return -1;
	}
	if (rec->options.all && targets_write(&rec->targets, rec->inst, &rec->options))
		return -1;
	if (on_arm(rec->inst, &rec->options))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &rec->start);
	return targets_go(&rec->targets, rec->inst, &rec->options);
}

/* --- Wait --------------------------------------------------------------------------- */

static bool triggered(const struct record *rec)
{
	return rec->options.on && !instance_read_number(rec->inst, "tracing_on");
}

/* Return descriptors for poll(). They report signals, failed writes and ended targets. */
static struct pollfd *poll_set(const struct record *rec)
{
	struct pollfd *fds = mem_zalloc(2 + rec->targets.nr, sizeof(*fds));

	fds[0] = (struct pollfd){ .fd = rec->signals, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (rec->collector)
		fds[1].fd = collector_trouble_fd(rec->collector);
	for (size_t i = 0; i < rec->targets.nr; i++)
		fds[2 + i] = (struct pollfd){
			.fd = targets_fd(&rec->targets, i),
			.events = POLLIN,
		};
	return fds;
}

static bool note_ends(struct record *rec, struct pollfd *fds)
{
	bool all = false;

	for (size_t i = 0; i < rec->targets.nr; i++) {
		if (fds[2 + i].fd < 0 || !fds[2 + i].revents)
			continue;
		fds[2 + i].fd = -1;
		all |= targets_note_end(&rec->targets, i);
	}
	return all;
}

static enum reason wait_for_end(struct record *rec)
{
	struct pollfd *fds = poll_set(rec);
	enum reason reason;

	for (;;) {
		int n = poll(fds, 2 + rec->targets.nr, rec->options.on ? TRIGGER_POLL_MS : -1);

		reason = INTERRUPTED;
		if (fds[0].revents)
			break;
		reason = TROUBLE;
		if ((n < 0 && errno != EINTR) || fds[1].revents)
			break;
		reason = TRIGGERED;
		if (triggered(rec))
			break;
		reason = ENDED;
		if (n > 0 && note_ends(rec, fds))
			break;
	}
	free(fds);
	/* Check the trigger again, because it may have fired just before the targets ended. */
	return reason == ENDED && triggered(rec) ? TRIGGERED : reason;
}

/* --- Stop and write ----------------------------------------------------------------- */

/*
 * With bts-block, the tracer holds branches and rows until the reader threads make room in the ring
 * buffer. Wait for the delivery, because the tracer drops held branches and rows when tracing is
 * switched off. Branches are delivered in order, so wait until the counter "delivered" has grown by
 * the number of branches that are held now. For rows, wait until the counter "rows_held" is 0.
 */
static void wait_for_held(const struct record *rec)
{
	unsigned long long until = 0;

	for (int tries = 0; tries < HELD_TRIES; tries++) {
		char *stats = instance_read(rec->inst, "bts_stats");
		unsigned long long delivered = stats_number(stats, "delivered");
		unsigned long long held = stats_number(stats, "held");
		unsigned long long rows = stats_number(stats, "rows_held");

		free(stats);
		if (!until)
			until = delivered + held;
		if (!rows && (!held || delivered >= until))
			return;
		usleep(HELD_POLL_US);
	}
	msg_warn("some branches or rows waited too long for room in the ring buffer, and are lost");
}

/*
 * Stop tracing the tasks that are still running. Then wait until the tracer has delivered the
 * branches that it holds for these tasks, because switching tracing off drops held branches. Read
 * the PIDs of the tasks from the tracer, because function-fork may have added tasks.
 */
static int stop_tracing(const struct record *rec)
{
	char *pids = NULL;

	if (!rec->options.all && !rec->options.flight)
		pids = instance_read(rec->inst, "set_ftrace_pid");
	if (pids && strspn(pids, "0123456789") &&
	    instance_append(rec->inst, "set_ftrace_notrace_pid", pids)) {
		free(pids);
		return -1;
	}
	free(pids);
	wait_for_held(rec);
	return instance_write(rec->inst, "tracing_on", "0");
}

void recording_leave_archive(bool kept_old, const char *path)
{
	char *old = mem_format("%s.old", path);

	if (kept_old)
		archive_keep(path, old);
	/* A directory without a vDSO may belong to another program, so do not remove it. */
	else if (archive_has(path, "vdso.so"))
		archive_remove(path);
	free(old);
}

void recording_save_archive(const struct writer *w, const char *path,
			    const struct kernel_code *code, const struct names *names, uid_t user)
{
	if (!writer_is_file(w))
		return;
	recording_leave_archive(writer_kept_old(w), path);
	if (code)
		kernel_code_save(path, code);
	archive_tasks(path, names, user, INT64_MAX);
}

char *recording_cmdlines(const struct names *names)
{
	struct bytes text = {};

	for (size_t i = 0; i < names->nr_slots; i++) {
		const struct name *name = &names->slots[i];
		char *line;

		if (name->pid <= 0 || !name->comm[0])
			continue;
		line = mem_format("%d %.*s\n", name->pid, NAME_LENGTH, name->comm);
		bytes_add(&text, line, strlen(line));
		free(line);
	}
	bytes_add8(&text, 0);
	return text.data;
}

/* Return the contents of all CPUs' stats files, as a NULL-terminated list. */
static char **cpu_stats(const struct instance *inst, int *nr_cpus)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF), used = 0;
	char **stats = mem_zalloc(nr + 1, sizeof(*stats));

	for (int cpu = 0; cpu < nr; cpu++) {
		char *file = mem_format("per_cpu/cpu%d/stats", cpu);
		char *text = instance_read(inst, file);

		if (text)
			stats[used++] = mem_format("CPU: %d\n%s", cpu, text);
		free(text);
		free(file);
	}
	*nr_cpus = nr;
	return stats;
}

static char *info_text(const struct record *rec, const struct look_counts *counts,
		       const char *stats)
{
	struct bytes text = {};
	struct timespec now;
	double seconds;
	char *line;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = now.tv_sec - rec->start.tv_sec + (now.tv_nsec - rec->start.tv_nsec) / 1e9;
	bytes_add(&text, rec->about, strlen(rec->about));
	line = mem_format("seconds: %.3f\nbranches: %llu\ntasks: %zu\nswitches: %llu\n"
			  "overwritten: %llu\ndata_bytes: %llu\n", seconds,
			  writer_branches(rec->writer), counts->names.nr, counts->switches,
			  counts->overwritten, writer_data_size(rec->writer));
	bytes_add(&text, line, strlen(line));
	free(line);
	if (rec->targets.ended) {
		line = mem_format("wait_status: %d\n", rec->targets.status);
		bytes_add(&text, line, strlen(line));
		free(line);
	}
	/* Append bts_stats, whose keys differ from the keys that were added above. */
	bytes_add(&text, stats, strlen(stats) + 1);
	return text.data;
}

static void print_bill(const struct record *rec, const struct look_counts *counts,
		       const char *stats)
{
	struct bill bill = {
		.branches	= writer_branches(rec->writer),
		.unwritten	= writer_unwritten(rec->writer),
		.tasks		= counts->names.nr,
		.switches	= counts->switches,
		.overwritten	= counts->overwritten,
		.blocked_ns	= stats_number(stats, "blocked_ns"),
		.data_bytes	= writer_data_size(rec->writer),
		.file_bytes	= writer_size(rec->writer),
		.flight		= rec->options.flight,
		.stats		= stats,
	};

	fflush(stdout);
	bill_print(stderr, rec->name, &bill);
}

/* Write the rest of the file after the reader threads have ended. */
static int finish_file(struct record *rec, const struct look_counts *counts, char *stats)
{
	char *names = recording_cmdlines(&counts->names);
	char *clock = instance_read(rec->inst, "trace_clock");
	char *info = info_text(rec, counts, stats);
	int nr_cpus, ret;
	char **cpus = cpu_stats(rec->inst, &nr_cpus);

	ret = writer_finish(rec->writer, names, clock ? clock : "", cpus, nr_cpus, info);
	if (!ret) {
		recording_save_archive(rec->writer, rec->path, rec->code, &counts->names,
				       rec->options.uid);
		print_bill(rec, counts, stats);
	}
	for (char **text = cpus; *text; text++)
		free(*text);
	free(cpus);
	free(info);
	free(clock);
	free(names);
	return ret;
}

/* Return bts_stats. With --rearm, subtract the counts that earlier files contain. */
static char *stats_of_file(struct record *rec)
{
	char *all = instance_read(rec->inst, "bts_stats");
	char *stats = all ? stats_since(all, rec->stats) : NULL;

	free(rec->stats);
	rec->stats = all;
	return stats;
}

static int write_file(struct record *rec)
{
	struct look_counts counts = {};
	char *stats;
	int ret = 0;

	if (stop_tracing(rec))
		ret = -1;
	if (!rec->collector)
		rec->collector = collector_start(rec->inst, rec->writer, false);
	if (!rec->collector || collector_finish(rec->collector, &counts))
		ret = -1;
	rec->collector = NULL;
	if (counts.maps_overwritten)
		msg_warn("%llu old mappings were overwritten, so early branches may lack symbols",
			 counts.maps_overwritten);
	stats = stats_of_file(rec);
	/* Finish the file even after a failure, because the existing data is valid. */
	if (!stats || finish_file(rec, &counts, stats))
		ret = -1;
	free(stats);
	names_free(&counts.names);
	writer_free(rec->writer);
	rec->writer = NULL;
	rec->nr_written++;
	return ret;
}

/*
 * Start the next file. Restart the instance that records mappings, so that the new file also
 * contains all mappings.
 */
static int rearm(struct record *rec)
{
	const struct instance *maps = rec->inst->maps;

	if (open_file(rec) || instance_write(rec->inst, "trace", "") ||
	    (maps && (instance_write(maps, "tracing_on", "0") ||
		      instance_write(maps, "tracing_on", "1"))) ||
	    instance_write(rec->inst, "tracing_on", "1"))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &rec->start);
	return 0;
}

static int run(struct record *rec)
{
	for (;;) {
		enum reason reason = wait_for_end(rec);

		rec->by_trigger = reason == TRIGGERED;
		if (reason == ENDED && rec->options.on) {
			fprintf(stderr, "bts: %s has not happened%s, so no trace is written\n",
				rec->options.on, rec->nr_written ? " again" : "");
			return 0;
		}
		if (write_file(rec) || reason == TROUBLE)
			return -1;
		if (reason != TRIGGERED || rec->nr_written > rec->options.rearm ||
		    targets_ended(&rec->targets))
			return 0;
		if (rearm(rec))
			return -1;
	}
}

int recording_failure(const struct targets *targets)
{
	if (!targets->error)
		return RECORD_FAILED;
	return targets->error == ENOENT ? RECORD_NOT_FOUND : RECORD_NOT_EXECUTED;
}

void recording_report_end(const struct record_options *options, const struct targets *targets)
{
	int status = targets->status;

	if (!targets->ended)
		return;
	if (WIFSIGNALED(status))
		fprintf(stderr, "bts: %s was killed by signal %d (%s)\n", options->command[0],
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		fprintf(stderr, "bts: %s returned %d\n", options->command[0],
			WEXITSTATUS(status));
	/* A shell returns 128 plus the number of the signal that ended its command. */
	if (options->job && (WIFSIGNALED(status) ? WTERMSIG(status) :
			     WEXITSTATUS(status) - 128) == SIGILL)
		vm_advise_model();
}

static void clean_up(struct record *rec)
{
	struct look_counts counts = {};

	if (rec->collector) {
		instance_write(rec->inst, "tracing_on", "0");
		collector_finish(rec->collector, &counts);
		names_free(&counts.names);
	}
	targets_finish(&rec->targets);
	if (rec->writer)
		writer_free(rec->writer);
	if (rec->inst)
		instance_remove(rec->inst);
	kernel_code_free(rec->code);
	free(rec->about);
	free(rec->stats);
	free(rec->name);
	free(rec->path);
}

static struct record_result record_with_tracer(const struct record_options *options)
{
	struct record rec = { .options = *options, .targets = { .go = -1, .failed = -1 } };
	struct record_result result = {};

	if (prepare(&rec) || start(&rec) || run(&rec))
		result.status = recording_failure(&rec.targets);
	recording_report_end(&rec.options, &rec.targets);
	result.ended = rec.targets.ended && !rec.by_trigger;
	result.wait_status = rec.targets.status;
	clean_up(&rec);
	return result;
}

/* Return the exit status. If the recording succeeded but the command has not ended, return 0. */
static int status_of(const struct record_result *result)
{
	int status = result->wait_status;

	if (result->status || !result->ended)
		return result->status;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static struct record_result record_once(const struct record_options *options)
{
	if (options->backend == BACKEND_TRACER)
		return record_with_tracer(options);
	if (options->backend == BACKEND_VM)
		return record_with_vm(options);
	return record_with_perf(options);
}

/* The emulated machine cannot record tasks of the host. */
static bool vm_can(const struct record_options *options)
{
	char *run = options->all || !options->command ? NULL : vm_find();
	bool can = run;

	free(run);
	return can;
}

/* Choose the first backend that this user can use: the tracer, perf, or the emulated machine. */
static int choose_backend(struct record_options *options)
{
	int error;
	char *why;

	if (options->backend != BACKEND_ANY)
		return 0;
	options->backend = record_has_tracer() ? BACKEND_TRACER :
			   options->user ? BACKEND_PERF : BACKEND_INTEL_BTS;
	error = options->backend == BACKEND_TRACER ? 0 : perf_events_try(options->backend);
	if (!error)
		return 0;
	if (vm_can(options)) {
		options->backend = BACKEND_VM;
		return 0;
	}
	why = perf_events_why(error);
	msg_error("record", NULL, "this kernel has no bts tracer, or this user cannot use the "
		  "tracer; perf cannot record: %s; see bts check", why);
	free(why);
	return -1;
}

int cmd_record(int argc, char **argv)
{
	struct record_options options;
	struct record_result result;
	int ret = record_parse(&options, argc, argv);

	if (ret)
		return ret < 0 ? STATUS_OK : RECORD_FAILED;
	if (choose_backend(&options)) {
		ret = RECORD_FAILED;
	} else if (options.repeat) {
		ret = record_repeat(&options, record_once);
	} else {
		result = record_once(&options);
		ret = status_of(&result);
	}
	free(options.pids);
	free(options.events);
	free(options.vm.writable);
	return ret;
}
