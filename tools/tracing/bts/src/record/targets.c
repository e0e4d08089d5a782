// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace the targets of bts record: PIDs, or a command, which bts starts and may terminate.
 *
 * bts forks a command before the recording, so that the command's PID can be written to
 * set_ftrace_pid. The child then waits on a pipe. If exec() fails, the child writes the errno into
 * a second pipe. If exec() succeeds, it closes this pipe. A pidfd reports the end of each process.
 * To trace a PID, bts writes the IDs of the process's existing threads into set_ftrace_pid. The
 * option function-fork makes the kernel add the IDs of new threads.
 *
 * Until exec(), the child executes code of bts. After exec(), ptrace() stops the child before the
 * first instruction of the new program, and bts turns tracing on. So the trace begins with the
 * program's first branch, and contains no branch of bts. With --fork, the child turns tracing on
 * before it calls exec().
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "instance.h"
#include "record.h"

enum { KILL_WAIT_MS = 2000 };

struct target {
	pid_t	pid;
	int	fd;		/* pidfd; -1 after targets_note_end() */
};

static int add_target(struct targets *targets, pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct target *target;

	if (fd < 0) {
		char *text = mem_format("%d", pid);

		/* EINVAL means that the ID belongs to a thread that is not the leader. */
		msg_error("trace", text, "%s",
			  errno == EINVAL ? "this is a thread, not a process" : strerror(errno));
		free(text);
		return -1;
	}
	targets->list = mem_realloc(targets->list, targets->nr + 1, sizeof(*target));
	target = &targets->list[targets->nr++];
	target->pid = pid;
	target->fd = fd;
	return 0;
}

int targets_cannot_execute(struct targets *targets, const char *name, int error)
{
	targets->error = error;
	errno = error;
	msg_errno("execute", name);
	return -1;
}

/* Find a program as execvp() does. Return an allocated path, or return NULL and set errno. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");
	int error = ENOENT;

	if (strchr(name, '/'))
		return mem_strdup(name);
	for (path = path ? path : "/bin:/usr/bin"; *path; path += *path == ':') {
		size_t length = strcspn(path, ":");
		char *file = mem_format("%.*s/%s", (int)length, length ? path : ".", name);
		struct stat st;

		if (!access(file, X_OK) && !stat(file, &st) && !S_ISDIR(st.st_mode))
			return file;
		error = errno == EACCES ? EACCES : error;
		free(file);
		path += length;
	}
	errno = error;
	return NULL;
}

static int become_user(const struct record_options *options)
{
	if (!options->as)
		return options->job ? vm_job_become(options->job) : 0;
	return initgroups(options->as, options->gid) || setgid(options->gid) ||
	       setuid(options->uid) ? -1 : 0;
}

/* In the child, wait for a byte from the parent, then execute the command. */
static void run_command(const char *file, const struct record_options *options, int go, int failed,
			int tracing_on)
{
	sigset_t none;
	int saved;
	char byte;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (read(go, &byte, 1) != 1)
		_exit(0);
	/* Because @file contains a slash, execvp() does not search PATH. */
	if (!become_user(options) && (tracing_on < 0 || write(tracing_on, "1", 1) == 1))
		execvp(file, options->command);
	saved = errno;
	if (write(failed, &saved, sizeof(saved)) < 0)
		_exit(126);
	_exit(127);
}

static int fork_with(struct targets *targets, const char *file,
		     const struct record_options *options, int tracing_on)
{
	const char *name = options->command[0];
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)) {
		msg_errno("create pipes for", name);
		return -1;
	}
	fflush(NULL);
	targets->child = fork();
	if (targets->child < 0) {
		msg_errno("fork", name);
		targets->child = 0;
		return -1;
	}
	if (!targets->child) {
		close(go[1]);
		close(failed[0]);
		run_command(file, options, go[0], failed[1], tracing_on);
	}
	close(go[0]);
	close(failed[1]);
	targets->go = go[1];
	targets->failed = failed[0];
	return add_target(targets, targets->child);
}

static int open_tracing_on(const struct instance *inst)
{
	char *path = instance_file(inst, "tracing_on");
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		msg_errno("open", path);
	free(path);
	return fd;
}

static int fork_command(struct targets *targets, const struct instance *inst,
			const struct record_options *options)
{
	char *file = find_program(options->command[0]);
	int tracing_on = -1, ret = -1;

	if (!file)
		return targets_cannot_execute(targets, options->command[0], errno);
	if (options->fork)
		tracing_on = open_tracing_on(inst);
	if (!options->fork || tracing_on >= 0)
		ret = fork_with(targets, file, options, tracing_on);
	if (tracing_on >= 0)
		close(tracing_on);
	free(file);
	return ret;
}

int targets_prepare(struct targets *targets, const struct instance *inst,
		    const struct record_options *options)
{
	if (options->as && geteuid()) {
		msg_error("run as", options->as, "bts needs root to change the user");
		return -1;
	}
	if (options->command && fork_command(targets, inst, options))
		return -1;
	for (size_t i = 0; i < options->nr_pids; i++)
		if (add_target(targets, options->pids[i]))
			return -1;
	return 0;
}

/* Write the IDs of a process's threads into a file of the instance. */
static int write_threads(const struct instance *inst, const char *file, pid_t pid)
{
	char *dir = mem_format("/proc/%d/task", pid);
	DIR *stream = opendir(dir);
	struct dirent *entry;
	int ret = 0;

	free(dir);
	/* If the process has ended, do nothing, because its pidfd reports the end. */
	if (!stream)
		return 0;
	while (!ret && (entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			ret = instance_append(inst, file, entry->d_name);
	closedir(stream);
	return ret;
}

static int write_targets(const struct targets *targets, const struct instance *inst,
			 const char *file)
{
	/* The first pass may miss a thread whose creator was not in @file yet. So do two passes. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < targets->nr; i++)
			if (write_threads(inst, file, targets->list[i].pid))
				return -1;
	return 0;
}

/* An empty set_ftrace_pid would trace all tasks, so fail if all targets have already ended. */
static int check_targets(const struct instance *inst)
{
	char *pids = instance_read(inst, "set_ftrace_pid");
	bool any = pids && strspn(pids, "0123456789");

	free(pids);
	if (any)
		return 0;
	errno = ESRCH;
	return msg_errno("record", "-p");
}

int targets_write(const struct targets *targets, const struct instance *inst,
		  const struct record_options *options)
{
	/* Exclude bts, whose own branches would otherwise fill the trace. */
	if (options->all)
		return write_threads(inst, "set_ftrace_notrace_pid", getpid());
	if (inst->maps && write_targets(targets, inst->maps, "set_ftrace_pid"))
		return -1;
	return write_targets(targets, inst, "set_ftrace_pid") || check_targets(inst) ||
	       write_targets(targets, inst, "set_event_pid") ? -1 : 0;
}

/* Turn on inst->maps first, so that mappings are recorded before branches in the mapped code. */
static int trace_on(const struct instance *inst)
{
	if (inst->maps && instance_write(inst->maps, "tracing_on", "1"))
		return -1;
	return instance_write(inst, "tracing_on", "1");
}

/* Turn tracing on at the command's exec(). Until then, let all signals reach the command. */
static int trace_from_exec(pid_t child, const struct instance *inst)
{
	siginfo_t info;

	for (;;) {
		int event, signal;

		if (waitid(P_PID, child, &info, WSTOPPED | WEXITED | WNOWAIT))
			return -1;
		/* The child has ended. The errno of the failed exec() is in the pipe @failed. */
		if (info.si_code != CLD_TRAPPED)
			return 0;
		event = info.si_status >> 8;
		signal = event ? 0 : info.si_status;
		if (event == PTRACE_EVENT_EXEC)
			break;
		ptrace(PTRACE_CONT, child, NULL, signal);
	}
	if (trace_on(inst))
		return -1;
	/* PTRACE_DETACH fails if the command was killed. The pidfd reports the command's end. */
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	return 0;
}

int targets_go(struct targets *targets, const struct instance *inst,
	       const struct record_options *options)
{
	const char *name = options->command ? options->command[0] : NULL;
	int error = 0;

	if (!targets->child)
		return trace_on(inst);
	/* With --fork, the child turns tracing on in @inst, but not in inst->maps. */
	if (options->fork && inst->maps && instance_write(inst->maps, "tracing_on", "1"))
		return -1;
	if (!options->fork && ptrace(PTRACE_SEIZE, targets->child, NULL, PTRACE_O_TRACEEXEC)) {
		msg_error("stop at execve", name,
			  "%s; with --fork, bts does not need to stop the command",
			  strerror(errno));
		return -1;
	}
	if (write(targets->go, "", 1) != 1 ||
	    (!options->fork && trace_from_exec(targets->child, inst))) {
		msg_errno("start", name);
		return -1;
	}
	if (read(targets->failed, &error, sizeof(error)) == sizeof(error))
		return targets_cannot_execute(targets, name, error);
	return 0;
}

int targets_fd(const struct targets *targets, size_t i)
{
	return targets->list[i].fd;
}

bool targets_ended(const struct targets *targets)
{
	for (size_t i = 0; i < targets->nr; i++)
		if (targets->list[i].fd >= 0)
			return false;
	return targets->nr;
}

bool targets_note_end(struct targets *targets, size_t i)
{
	close(targets->list[i].fd);
	targets->list[i].fd = -1;
	if (targets->list[i].pid == targets->child) {
		waitpid(targets->child, &targets->status, 0);
		targets->ended = true;
	}
	return targets_ended(targets);
}

/* If the recording ends before the command, terminate the command, because bts started it. */
static void end_command(struct targets *targets)
{
	if (!targets->child || targets->ended)
		return;
	kill(targets->child, SIGTERM);
	for (int i = 0; i < KILL_WAIT_MS / 10; i++) {
		if (waitpid(targets->child, &targets->status, WNOHANG) == targets->child) {
			targets->ended = true;
			return;
		}
		usleep(10000);
	}
}

void targets_finish(struct targets *targets)
{
	if (targets->go >= 0)
		close(targets->go);
	if (targets->failed >= 0)
		close(targets->failed);
	end_command(targets);
	for (size_t i = 0; i < targets->nr; i++)
		if (targets->list[i].fd >= 0)
			close(targets->list[i].fd);
	free(targets->list);
	targets->list = NULL;
	targets->nr = 0;
}
