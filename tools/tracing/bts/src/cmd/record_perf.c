// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts record with perf, for kernels without the tracer and for users without access to the tracer.
 *
 * First, bts forks the command, which waits. Then bts opens perf events for the command, or for
 * each thread of the PIDs, and follows the tasks with ptrace(). During the recording, bts writes
 * perf's records into the file. When the targets have ended, or when bts gets a signal, bts
 * detaches from the tasks, completes the file, and prints the summary.
 *
 * As with the tracer, bts record writes a trace.dat file. In the BTS section, the line "backend:"
 * contains the backend and its limits. If branches may begin or end in the kernel, the line
 * "kernel_ends:" contains "present". Otherwise, this line contains "absent".
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/bytes.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "record/bill.h"
#include "record/made_formats.h"
#include "record/perf_events.h"
#include "record/perf_follow.h"
#include "record/writer.h"
#include "symbols/archive.h"
#include "symbols/kernel_code.h"
#include "cmd.h"
#include "recording.h"

enum {
	RING_POLL_MS	= 10,
	STOP_TRIES	= 10000,
	STOP_US		= 100,
	STOP_PASSES	= 100,
};

struct thread {
	pid_t			tid;
	int			status;		/* from waitpid(), if @stop is FOLLOW_STOPPED */
	enum follow_stop	stop;
};

struct threads {
	struct thread	*list;
	size_t		nr;
};

struct perf_recording {
	const struct record_options	*options;
	struct targets			targets;
	struct follow			follow;
	struct perf_events		events;
	struct perf_rows		rows;
	struct writer			*writer;
	struct threads			threads;	/* threads of the processes given with -p */
	char				*about;
	struct kernel_code		*code;		/* the kernel's code before recording */
	struct timespec			start;
	int				signals;
	bool				begun;		/* exec() has succeeded or failed */
};

/* --- Options -------------------------------------------------------------------------- */

/* Reject options that do not work with perf. */
static int judge(const struct record_options *o)
{
	const char *what = NULL, *why = "perf cannot do this";

	if (o->all)
		what = "-a", why = "perf would assign branches to the wrong tasks";
	else if (o->flight)
		what = "--flight";
	else if (o->events)
		what = "-e";
	else if (o->fork)
		what = "--fork";
	if (!what)
		return 0;
	msg_error("record", what, "%s; this needs the tracer, see bts check", why);
	return -1;
}

static bool has_kernel_side(const struct perf_recording *rec)
{
	return rec->options->backend == BACKEND_INTEL_BTS && rec->options->kernel;
}

/* Return a description of the backend, for messages and for bts info. */
static const char *way(const struct perf_recording *rec)
{
	if (rec->options->backend == BACKEND_INTEL_BTS)
		return "intel_bts (most task-switch rows lack the task's instruction pointer; "
		       "branches may be lost)";
	return "branches:u (user side only; most task-switch rows lack the task's instruction "
	       "pointer; branches may be lost)";
}

/* --- Prepare -------------------------------------------------------------------------- */

static void stands(void *ctx, pid_t tid, uint64_t user_ip, bool ends)
{
	struct perf_recording *rec = ctx;

	perf_events_read(&rec->events, &rec->rows);
	perf_rows_stands(&rec->rows, tid, user_ip, ends);
}

static bool is_new(const struct threads *all, pid_t tid)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].tid == tid)
			return false;
	return true;
}

static void add_thread(struct perf_recording *rec, struct threads *all, pid_t tid)
{
	struct thread t = { .tid = tid, .stop = follow_interrupt(&rec->follow, tid) };

	/* Without ptrace(), branches are recorded, but some may be attributed to the wrong task. */
	if (t.stop == FOLLOW_REFUSED)
		msg_warn("ptrace cannot follow task %d (%s), so branches of its children may be "
			 "attributed to the wrong task", tid, strerror(errno));
	all->list = mem_realloc(all->list, all->nr + 1, sizeof(t));
	all->list[all->nr++] = t;
}

/* Wait until all threads have stopped, but no longer than a second. */
static void wait_for_threads(struct perf_recording *rec, struct threads *all)
{
	bool runs = true;

	for (int i = 0; runs && i < STOP_TRIES; i++) {
		if (i)
			usleep(STOP_US);
		runs = false;
		for (size_t n = 0; n < all->nr; n++) {
			struct thread *t = &all->list[n];

			if (t->stop == FOLLOW_RUNS)
				t->stop = follow_stopped(&rec->follow, t->tid, &t->status);
			runs |= t->stop == FOLLOW_RUNS;
		}
	}
}

/* Stop all threads that are not in the list yet. Return true if there were such threads. */
static bool stop_threads(struct perf_recording *rec, struct threads *all, pid_t pid)
{
	char *dir = mem_format("/proc/%d/task", pid);
	DIR *stream = opendir(dir);
	struct dirent *entry;
	size_t before = all->nr;

	free(dir);
	while (stream && (entry = readdir(stream)))
		if (entry->d_name[0] != '.' && is_new(all, atoi(entry->d_name)))
			add_thread(rec, all, atoi(entry->d_name));
	if (stream)
		closedir(stream);
	wait_for_threads(rec, all);
	return all->nr > before;
}

/*
 * A new thread inherits only the events that its creator already has. So stop threads until no new
 * thread appears, open the events, and then let the threads continue.
 */
static int add_threads(struct perf_recording *rec, pid_t pid)
{
	struct threads *all = &rec->threads;
	size_t first = all->nr;
	int ret = 0;

	/* Do not retry forever: threads that ptrace cannot stop may keep creating threads. */
	for (int i = 0; i < STOP_PASSES && stop_threads(rec, all, pid); i++)
		;
	for (size_t i = first; i < all->nr && !ret; i++)
		if (all->list[i].stop != FOLLOW_ENDED)
			ret = perf_events_open(&rec->events, rec->options, all->list[i].tid, false);
	return ret;
}

/* Let stopped threads continue. Call this after open_file(), because follow_go() may write rows. */
static void let_threads_go(struct perf_recording *rec)
{
	for (size_t i = 0; i < rec->threads.nr; i++) {
		const struct thread *t = &rec->threads.list[i];

		if (t->stop == FOLLOW_STOPPED)
			follow_go(&rec->follow, t->tid, t->status);
	}
	free(rec->threads.list);
	rec->threads = (struct threads) {};
}

static int add_command(struct perf_recording *rec)
{
	pid_t child = rec->targets.child;

	rec->follow.child = child;
	if (follow_seize(&rec->follow, child)) {
		msg_errno("follow", rec->options->command[0]);
		return -1;
	}
	return perf_events_open(&rec->events, rec->options, child, true);
}

/* Return those lines of the BTS section that are known when the recording starts. */
static char *begin_info(const struct perf_recording *rec)
{
	return mem_format("%sbackend: perf, %s\nkernel_ends: %s\nbuffer_size_kb: %zu\n", rec->about,
			  way(rec), has_kernel_side(rec) ? "present" : "absent",
			  (rec->events.aux_size ?: rec->events.size) / 1024);
}

static int open_file(struct perf_recording *rec)
{
	char *info = begin_info(rec);
	int ret = 0;

	rec->writer = writer_create(rec->options->output, MADE_PAGE);
	if (!rec->writer || made_formats_write(rec->writer, has_kernel_side(rec)) ||
	    writer_write_draft(rec->writer, info) ||
	    perf_events_write_to(&rec->events, rec->writer))
		ret = -1;
	free(info);
	return ret;
}

static int prepare(struct perf_recording *rec)
{
	const struct record_options *o = rec->options;
	int ret = 0;

	if (judge(o))
		return -1;
	rec->signals = recording_signals(true);
	if (rec->signals < 0 || targets_prepare(&rec->targets, NULL, o))
		return -1;
	follow_init(&rec->follow);
	rec->follow.stands = stands;
	rec->follow.ctx = rec;
	perf_rows_init(&rec->rows);
	/* With -u, skip the branches into the kernel, which intel_bts records even with -u. */
	rec->rows.user_only = !has_kernel_side(rec);
	clock_gettime(CLOCK_MONOTONIC, &rec->start);
	if (rec->targets.child)
		ret = add_command(rec);
	for (size_t i = 0; i < o->nr_pids && !ret; i++)
		ret = add_threads(rec, o->pids[i]);
	rec->about = record_describe(NULL, o);
	if (has_kernel_side(rec))
		rec->code = kernel_code_take();
	if (ret || open_file(rec))
		return -1;
	let_threads_go(rec);
	return 0;
}

/* --- Run ------------------------------------------------------------------------------ */

static uint64_t start_time(const struct perf_recording *rec)
{
	return rec->start.tv_sec * 1000000000ULL + rec->start.tv_nsec;
}

static int start(struct perf_recording *rec)
{
	const struct record_options *o = rec->options;

	fprintf(stderr, "bts: recording with perf, %s\n", way(rec));
	for (size_t i = 0; i < o->nr_pids; i++)
		perf_rows_process(&rec->rows, perf_events_first_out(&rec->events), o->pids[i],
				  start_time(rec));
	if (!rec->targets.child || write(rec->targets.go, "", 1) == 1)
		return 0;
	msg_errno("start", o->command[0]);
	return -1;
}

/* Handle pending signals. Return 1 if a signal ends the recording. */
static int take_signals(struct perf_recording *rec)
{
	struct signalfd_siginfo info;

	while (read(rec->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			return 1;
	follow_events(&rec->follow);
	return 0;
}

/* If exec() failed in the child, read the error number from the pipe and report the error. */
static int note_begin(struct perf_recording *rec)
{
	int error = 0;

	if (rec->begun || !rec->targets.child || (!rec->follow.execs && !rec->follow.ended))
		return 0;
	rec->begun = true;
	if (read(rec->targets.failed, &error, sizeof(error)) != sizeof(error))
		return 0;
	return targets_cannot_execute(&rec->targets, rec->options->command[0], error);
}

static bool note_ends(struct perf_recording *rec, struct pollfd *fds)
{
	bool all = false;

	for (size_t i = 0; i < rec->targets.nr; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		fds[i].fd = -1;
		if (rec->follow.ended)
			rec->targets.status = rec->follow.status;
		all |= targets_note_end(&rec->targets, i);
	}
	return all;
}

/* Return descriptors for poll(). They report signals, data in rings, and ended targets. */
static struct pollfd *poll_set(const struct perf_recording *rec, size_t *nr)
{
	size_t rings = rec->events.nr_rings;
	struct pollfd *fds = mem_zalloc(1 + rings + rec->targets.nr, sizeof(*fds));

	fds[0] = (struct pollfd){ .fd = rec->signals, .events = POLLIN };
	for (size_t i = 0; i < rings; i++)
		fds[1 + i] = (struct pollfd){
			.fd = perf_events_fd(&rec->events, i), .events = POLLIN,
		};
	for (size_t i = 0; i < rec->targets.nr; i++)
		fds[1 + rings + i] = (struct pollfd){
			.fd = targets_fd(&rec->targets, i), .events = POLLIN,
		};
	*nr = 1 + rings + rec->targets.nr;
	return fds;
}

/*
 * After a task has ended, poll() always reports POLLHUP for the task's ring, although other tasks
 * may still write into the ring. So exclude this ring from poll(). If a ring is excluded, return a
 * timeout for poll(), so that the caller reads the ring regularly. Otherwise, return -1.
 */
static int leave_ended(struct pollfd *fds, size_t rings)
{
	int timeout = -1;

	for (size_t i = 0; i < rings; i++) {
		if (fds[i].revents & (POLLHUP | POLLERR))
			fds[i].fd = -1;
		if (fds[i].fd < 0)
			timeout = RING_POLL_MS;
	}
	return timeout;
}

static int run(struct perf_recording *rec)
{
	size_t nr, rings = rec->events.nr_rings;
	struct pollfd *fds = poll_set(rec, &nr);
	int ret = 0, timeout = -1;
	bool done = false;

	while (!done && !ret) {
		if (poll(fds, nr, timeout) < 0 && errno != EINTR)
			ret = msg_errno("wait for", "perf");
		done = take_signals(rec);
		perf_events_read(&rec->events, &rec->rows);
		if (writer_failed(rec->writer))
			ret = -1;
		timeout = leave_ended(fds + 1, rings);
		ret |= note_begin(rec);
		done |= note_ends(rec, fds + 1 + rings);
	}
	free(fds);
	return ret;
}

/* --- Finish --------------------------------------------------------------------------- */

static char *info_text(const struct perf_recording *rec)
{
	const struct perf_rows *rows = &rec->rows;
	struct bytes text = {};
	struct timespec now;
	char *begin = begin_info(rec), *lines;

	clock_gettime(CLOCK_MONOTONIC, &now);
	lines = mem_format("%sseconds: %.3f\nbranches: %llu\ntasks: %zu\n"
			   "switches: %llu\ndata_bytes: %llu\nperf_lost: %llu\n",
			   begin, now.tv_sec - rec->start.tv_sec +
			   (now.tv_nsec - rec->start.tv_nsec) / 1e9,
			   writer_branches(rec->writer), rows->names.nr,
			   (unsigned long long)rows->switches, writer_data_size(rec->writer),
			   (unsigned long long)rows->losses);
	bytes_add(&text, lines, strlen(lines));
	free(lines);
	free(begin);
	if (rec->targets.ended) {
		lines = mem_format("wait_status: %d\n", rec->targets.status);
		bytes_add(&text, lines, strlen(lines));
		free(lines);
	}
	bytes_add8(&text, 0);
	return text.data;
}

static int write_file(struct perf_recording *rec)
{
	static char *no_stats[] = { NULL };
	char *names = recording_cmdlines(&rec->rows.names), *info;
	struct bill bill = {
		.tasks = rec->rows.names.nr, .switches = rec->rows.switches,
	};
	int failed = perf_events_end(&rec->events, &rec->rows), ret;

	info = info_text(rec);
	ret = writer_finish(rec->writer, names, "[mono]", no_stats,
			    sysconf(_SC_NPROCESSORS_CONF), info);
	if (!ret) {
		recording_save_archive(rec->writer, rec->options->output, rec->code,
				       &rec->rows.names, rec->options->uid);
		bill.branches = writer_branches(rec->writer);
		bill.unwritten = writer_unwritten(rec->writer);
		bill.data_bytes = writer_data_size(rec->writer);
		bill.file_bytes = writer_size(rec->writer);
		bill.stats = info;
		fflush(stdout);
		bill_print(stderr, rec->options->output, &bill);
	}
	free(info);
	free(names);
	return failed | ret;
}

static void clean_up(struct perf_recording *rec)
{
	follow_end(&rec->follow);
	targets_finish(&rec->targets);
	perf_events_free(&rec->events);
	perf_rows_free(&rec->rows);
	if (rec->writer)
		writer_free(rec->writer);
	kernel_code_free(rec->code);
	free(rec->threads.list);
	free(rec->about);
}

struct record_result record_with_perf(const struct record_options *options)
{
	struct perf_recording rec = {
		.options = options, .targets = { .go = -1, .failed = -1 },
	};
	struct record_result result = {};

	/* Finish the file even after a failed write, because the existing data is valid. */
	if (prepare(&rec) || start(&rec) || (run(&rec) && !writer_failed(rec.writer))) {
		result.status = recording_failure(&rec.targets);
	} else {
		follow_end(&rec.follow);
		if (write_file(&rec))
			result.status = RECORD_FAILED;
	}
	recording_report_end(options, &rec.targets);
	result.ended = rec.targets.ended;
	result.wait_status = rec.targets.status;
	clean_up(&rec);
	return result;
}
