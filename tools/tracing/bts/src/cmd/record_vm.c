// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts record --backend vm: record a command in the emulated machine.
 *
 * This file starts the emulated machine, waits until the machine stops, and moves the trace to
 * FILE. Inside the machine, the same bts program records with the tracer. These files are used:
 *
 *	FILE.vm-XXXXXX/		a directory beside the trace, shared with the machine
 *		job		see record/vm.c
 *		trace.dat	renamed to FILE, and its archive to FILE.archive
 *		trace.dat.1	with --rearm, renamed to FILE.1, and so on
 *
 * If root records into another user's directory, that user could replace FILE.vm-XXXXXX. So the
 * machine and the code below access FILE.vm-XXXXXX through a descriptor, not by name.
 *
 * bts forwards signals to the bts inside the machine, and the inner bts then ends the recording.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "lib/process.h"
#include "record/vm.h"
#include "symbols/archive.h"
#include "cmd.h"
#include "recording.h"

/* The path of the shared directory inside the machine, and the names of the files there. */
#define SHARED		"/run/bts-vm"
#define JOB		"job"
#define TRACE		"trace.dat"

enum {
	/* Use high descriptors, because the shell of the start script may use low descriptors. */
	FIRST_FD	= 20,
	COPY_STEP	= 1 << 16,
};

struct vm_recording {
	const struct record_options	*options;
	char				*run;		/* the program that starts the machine */
	char				*dir;		/* FILE.vm-XXXXXX */
	int				dir_fd;
	int				device;		/* descriptor of a special file, or -1 */
	int				signals;
	pid_t				child;
	int				status;		/* from waitpid() */
	bool				interrupted;
	bool				keep;		/* @dir contains a trace, so keep @dir */
	char				**args;
	size_t				nr_args;
};

/* --- Prepare -------------------------------------------------------------------------- */

/* Open a non-regular output, such as /dev/null. Reject links to regular files. */
static int open_device(struct vm_recording *rec)
{
	const char *path = rec->options->output;
	struct stat st;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	/* If the output is a FIFO, O_WRONLY would wait for a reader, so use O_RDWR. */
	rec->device = open(path, O_RDWR | O_CLOEXEC);
	if (rec->device >= 0 && !fstat(rec->device, &st) && !S_ISREG(st.st_mode))
		return 0;
	errno = rec->device < 0 ? errno : ELOOP;
	msg_errno("create", path);
	return -1;
}

static int make_directory(struct vm_recording *rec)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;
	int fd = -1;

	if (rec->device < 0)
		rec->dir = mem_format("%s.vm-XXXXXX", rec->options->output);
	else
		rec->dir = mem_format("%s/bts.vm-XXXXXX", tmp ? tmp : "/tmp");
	if (mkdtemp(rec->dir))
		fd = open(rec->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid())
		rec->dir_fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (rec->dir_fd < 0)
		msg_errno("create", rec->options->output);
	if (fd >= 0)
		close(fd);
	return rec->dir_fd < 0 ? -1 : 0;
}

static int write_job(struct vm_recording *rec)
{
	size_t size;
	char *job = vm_job_write(rec->options->output, &size);
	int fd = path_create_at(rec->dir_fd, JOB);
	int ret = fd < 0 || path_write_all(fd, job, size) ? -1 : 0;

	if (ret)
		msg_errno("write", rec->dir);
	if (fd >= 0)
		close(fd);
	free(job);
	return ret;
}

static int prepare(struct vm_recording *rec)
{
	rec->run = vm_find();
	if (!rec->run) {
		msg_error("record", NULL, "the emulated machine is not installed; " VM_ADVICE);
		return -1;
	}
	if (rec->options->as && geteuid()) {
		msg_error("run as", rec->options->as, "bts needs root to change the user");
		return -1;
	}
	rec->signals = recording_signals(true);
	return rec->signals < 0 || open_device(rec) || make_directory(rec) || write_job(rec) ?
	       -1 : 0;
}

/* --- The command line ----------------------------------------------------------------- */

/* Add an argument for the machine. To end the list, add NULL. */
static void add(struct vm_recording *rec, char *word)
{
	rec->args = mem_realloc(rec->args, rec->nr_args + 1, sizeof(char *));
	rec->args[rec->nr_args++] = word;
}

static void add_if(struct vm_recording *rec, bool given, const char *word)
{
	if (given)
		add(rec, mem_strdup(word));
}

static void add_value(struct vm_recording *rec, const char *option, const char *value)
{
	if (!value)
		return;
	add(rec, mem_strdup(option));
	add(rec, mem_strdup(value));
}

static void add_number(struct vm_recording *rec, const char *option, unsigned long number)
{
	if (!number)
		return;
	add(rec, mem_strdup(option));
	add(rec, mem_format("%lu", number));
}

/* Report whether bts runs in the foreground of a terminal. */
static bool on_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) &&
	       tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void add_machine(struct vm_recording *rec)
{
	const struct vm_options *vm = &rec->options->vm;

	add(rec, mem_strdup(rec->run));
	add_if(rec, true, "--overlay");
	add_if(rec, true, "--signals");
	add_if(rec, on_terminal(), "--tty");
	add_if(rec, vm->icount, "--icount");
	add_number(rec, "--smp", vm->smp);
	add_number(rec, "--mem", vm->mem);
	add_value(rec, "--model", vm->cpu);
	for (const char **dir = vm->writable; dir && *dir; dir++)
		add_value(rec, "--share", *dir);
	add(rec, mem_strdup("--share-fd"));
	add(rec, mem_format("%d:" SHARED, rec->dir_fd));
	add_if(rec, true, "--");
}

static void add_record(struct vm_recording *rec)
{
	const struct record_options *o = rec->options;

	add_if(rec, true, "record");
	add_value(rec, "--vm-job", SHARED "/" JOB);
	add_value(rec, "--backend", "tracer");
	add_value(rec, "-o", SHARED "/" TRACE);
	add_if(rec, o->user, "-u");
	add_if(rec, o->kernel, "-k");
	add_if(rec, o->fork, "--fork");
	add_if(rec, o->no_block, "--no-block");
	add_value(rec, "-C", o->cpus);
	add_value(rec, "--as", o->as);
	for (const char **event = o->events; event && *event; event++)
		add_value(rec, "-e", *event);
	if (o->flight)
		add(rec, o->circular ? mem_strdup("--flight") :
		    mem_format("--flight=%lluk", (unsigned long long)o->buffer_kb));
	if (o->buffer_kb && (!o->flight || o->circular))
		add(rec, mem_format("-m%lluk", (unsigned long long)o->buffer_kb));
	add_value(rec, "--on", o->on);
	add_number(rec, "--rearm", o->rearm);
	add_if(rec, true, "--");
}

static int make_args(struct vm_recording *rec)
{
	char *exe = realpath("/proc/self/exe", NULL);

	if (!exe) {
		msg_errno("find", "/proc/self/exe");
		return -1;
	}
	add_machine(rec);
	add(rec, exe);
	add_record(rec);
	for (char **word = rec->options->command; *word; word++)
		add(rec, mem_strdup(*word));
	add(rec, NULL);
	return 0;
}

/* --- Run ------------------------------------------------------------------------------ */

static void say_start(const struct vm_recording *rec)
{
	const char **dir = rec->options->vm.writable;

	fprintf(stderr, "bts: recording in the emulated machine, which has no network and discards "
		"written files%s", dir ? ", except in" : "");
	for (; dir && *dir; dir++)
		fprintf(stderr, " %s", *dir);
	fputc('\n', stderr);
}

/*
 * In the child process, execute the program that runs the machine. If bts is killed, the kernel
 * sends SIGTERM to this program.
 */
static void become_machine(const struct vm_recording *rec, pid_t parent)
{
	sigset_t none;

	if (!process_ends_with(parent))
		_exit(RECORD_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	fcntl(rec->dir_fd, F_SETFD, 0);
	execv(rec->args[0], rec->args);
	msg_errno("execute", rec->args[0]);
	_exit(RECORD_FAILED);
}

static int start(struct vm_recording *rec)
{
	pid_t self = getpid();

	if (make_args(rec))
		return -1;
	say_start(rec);
	fflush(NULL);
	rec->child = fork();
	if (!rec->child)
		become_machine(rec, self);
	if (rec->child > 0)
		return 0;
	msg_errno("fork", NULL);
	return -1;
}

static int wait_for_end(struct vm_recording *rec)
{
	struct pollfd fd = { .fd = rec->signals, .events = POLLIN };
	struct signalfd_siginfo info;

	for (;;) {
		if (waitpid(rec->child, &rec->status, WNOHANG) == rec->child)
			return 0;
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return msg_errno("wait for", rec->run);
		if (read(rec->signals, &info, sizeof(info)) != sizeof(info) ||
		    info.ssi_signo == SIGCHLD)
			continue;
		rec->interrupted = true;
		kill(rec->child, info.ssi_signo);
	}
}

/* --- The trace ------------------------------------------------------------------------ */

static int copy_to_device(struct vm_recording *rec, const char *name)
{
	int in = openat(rec->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *buffer = mem_alloc(COPY_STEP);
	ssize_t n;

	do {
		n = read(in, buffer, COPY_STEP);
	} while (n > 0 && !path_write_all(rec->device, buffer, n));
	if (n)
		msg_errno("write", rec->options->output);
	if (in >= 0)
		close(in);
	free(buffer);
	return n ? -1 : 0;
}

/* Rename an old PATH to PATH.old. Then move the trace to PATH, and its archive to PATH.archive. */
static int move_trace(struct vm_recording *rec, const char *name, const char *path)
{
	char *old = mem_format("%s.old", path);
	char *from = archive_path(name), *to = archive_path(path);
	bool kept_old = !rename(path, old);
	int ret = 0;

	if ((!kept_old && errno != ENOENT) || renameat(rec->dir_fd, name, AT_FDCWD, path)) {
		ret = msg_errno("rename", path);
	} else {
		recording_leave_archive(kept_old, path);
		if (renameat(rec->dir_fd, from, AT_FDCWD, to) && errno != ENOENT)
			ret = msg_errno("rename", to);
	}
	free(to);
	free(from);
	free(old);
	return ret;
}

/* Move all traces to their final names. Return the number of traces, or -1 after a failure. */
static int place_traces(struct vm_recording *rec)
{
	const char *output = rec->options->output;
	unsigned int nr;
	int ret = 0;

	for (nr = 0; nr <= rec->options->rearm && !ret; nr++) {
		char *name = nr ? mem_format(TRACE ".%u", nr) : mem_strdup(TRACE);
		char *path = nr ? mem_format("%s.%u", output, nr) : mem_strdup(output);
		bool there = !faccessat(rec->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW);

		if (there)
			ret = rec->device < 0 ? move_trace(rec, name, path) :
						copy_to_device(rec, name);
		free(path);
		free(name);
		if (!there)
			break;
	}
	return ret ? -1 : (int)nr;
}

static struct record_result result_of(struct vm_recording *rec)
{
	int status = WIFEXITED(rec->status) ? WEXITSTATUS(rec->status) : RECORD_FAILED;
	int placed = place_traces(rec);

	if (placed < 0) {
		rec->keep = rec->device < 0;
		if (rec->keep)
			fprintf(stderr, "bts: the trace is in %s\n", rec->dir);
		return (struct record_result){ .status = RECORD_FAILED };
	}
	/* bts in the machine prints why it wrote no trace. But a killed machine prints nothing. */
	if (!placed && WIFSIGNALED(rec->status))
		msg_error("record", NULL, "signal %d killed the machine; there is no trace",
			  WTERMSIG(rec->status));
	/* Without a trace, or if bts was interrupted or failed, the command's status is unknown. */
	if (!placed || rec->interrupted || status == RECORD_FAILED)
		return (struct record_result){ .status = status };
	return (struct record_result){ .wait_status = rec->status, .ended = true };
}

static void clean_up(struct vm_recording *rec)
{
	if (rec->dir_fd >= 0) {
		if (!rec->keep) {
			archive_remove_tree(rec->dir_fd, ".");
			rmdir(rec->dir);
		}
		close(rec->dir_fd);
	}
	if (rec->device >= 0)
		close(rec->device);
	if (rec->signals >= 0)
		close(rec->signals);
	for (size_t i = 0; i < rec->nr_args; i++)
		free(rec->args[i]);
	free(rec->args);
	free(rec->dir);
	free(rec->run);
}

struct record_result record_with_vm(const struct record_options *options)
{
	struct vm_recording rec = {
		.options = options, .dir_fd = -1, .device = -1, .signals = -1,
	};
	struct record_result result = { .status = RECORD_FAILED };

	if (!prepare(&rec) && !start(&rec) && !wait_for_end(&rec))
		result = result_of(&rec);
	clean_up(&rec);
	return result;
}
