// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follow tasks with ptrace(), because perf alone may attribute branches to the wrong task.
 *
 * New tasks inherit perf's events, so each new task is recorded from its beginning. But if a CPU
 * switches between two tasks that inherited their events from the same task, Linux only swaps the
 * two sets of events and does not stop the hardware. Branches of the first task that are still in
 * the hardware's buffer are then attributed to the second task. An exec() causes a similar error:
 * the last branches of the old program are recorded after the new program's mappings, and are
 * attributed to the new program.
 *
 * To prevent both errors, bts gives each task a guard: an event that counts nothing and that
 * children do not inherit. Because of the guards, no two tasks have the same set of events, so
 * Linux does not swap the sets. An exec() enables the guard. To enable the guard, Linux first
 * removes all events of the task from the CPU. This removal drains the hardware's buffer before the
 * new program is mapped. A guard works only once, so the task gets a new guard after each exec().
 *
 *	new task	stops before its first instruction in user space, and gets a guard
 *	exec()		stops before the new program's first instruction, and gets a new guard
 *	signal		stops before the delivery and, after a single step, before the first
 *			instruction of the handler
 *	end		stops in the kernel
 *
 * At each stop in this table, bts reads the task's register rip, because perf's records do not
 * contain it. The only exception is the stop before a signal's delivery. If the task ends, rip is
 * the task's last address in user space. Otherwise, the task will continue in user space at rip.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/mem.h"
#include "perf_events.h"
#include "perf_follow.h"

#define BUCKETS		256
#define LET_GO_TRIES	1000
#define LET_GO_US	1000

struct followed {
	struct followed	*next;
	pid_t		tid;
	int		guard;
	bool		stepping;	/* making a single step after a signal */
};

void follow_init(struct follow *f)
{
	f->buckets = mem_zalloc(BUCKETS, sizeof(*f->buckets));
}

static struct followed **place_of(struct follow *f, pid_t tid)
{
	struct followed **at = &f->buckets[tid % BUCKETS];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

static void forget(struct follow *f, pid_t tid)
{
	struct followed **at = place_of(f, tid), *gone = *at;

	if (!gone)
		return;
	*at = gone->next;
	if (gone->guard >= 0)
		close(gone->guard);
	free(gone);
}

static void guard(struct follow *f, pid_t tid)
{
	struct followed *new;

	forget(f, tid);
	new = mem_zalloc(1, sizeof(*new));
	new->tid = tid;
	new->guard = perf_events_guard(tid);
	*place_of(f, tid) = new;
}

int follow_seize(struct follow *f, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT))
		return -1;
	guard(f, tid);
	return 0;
}

enum follow_stop follow_interrupt(struct follow *f, pid_t tid)
{
	int saved;

	if (!follow_seize(f, tid)) {
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		return FOLLOW_RUNS;
	}
	if (errno == ESRCH)
		return FOLLOW_ENDED;
	saved = errno;
	/* A task created by a followed task is already followed, and needs no PTRACE_INTERRUPT. */
	if (!waitid(P_PID, tid, NULL, __WALL | WSTOPPED | WEXITED | WNOHANG | WNOWAIT))
		return FOLLOW_RUNS;
	errno = saved;
	return FOLLOW_REFUSED;
}

enum follow_stop follow_stopped(struct follow *f, pid_t tid, int *status)
{
	pid_t got = waitpid(tid, status, __WALL | WNOHANG);

	if (!got)
		return FOLLOW_RUNS;
	if (got == tid && WIFSTOPPED(*status))
		return FOLLOW_STOPPED;
	forget(f, tid);
	return FOLLOW_ENDED;
}

static void stands(struct follow *f, pid_t tid, bool ends)
{
	struct user_regs_struct regs;

	/* PTRACE_GETREGS waits until the task leaves its CPU. Then perf's records are complete. */
	if (!ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		f->stands(f->ctx, tid, regs.rip, ends);
}

/* Report whether a PTRACE_EVENT_STOP is a group-stop. If not, @signal is SIGTRAP. */
static bool is_group_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* A thread that calls exec() takes over the leader's PID. Forget the thread's old ID. */
static void executed(struct follow *f, pid_t tid)
{
	unsigned long before;

	if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &before) && before != (unsigned long)tid)
		forget(f, before);
	f->execs += tid == f->child;
	guard(f, tid);
	stands(f, tid, false);
}

/*
 * If the end of a single step caused the signal, return the signal's si_code. Otherwise, return 0.
 *
 *	SIGTRAP		the step ended before the first instruction of a signal's handler
 *	TRAP_TRACE	the step ended after an instruction
 *	TRAP_BRKPT	the step ended after a system call
 */
static int end_of_step(const struct followed *t, pid_t tid, int signal)
{
	siginfo_t info;

	if (!t || !t->stepping || signal != SIGTRAP || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return 0;
	if (info.si_code != SIGTRAP && info.si_code != TRAP_TRACE && info.si_code != TRAP_BRKPT)
		return 0;
	return info.si_code;
}

/*
 * Handle a signal, or the end of the single step after a signal. With a handler, the step ends
 * before the handler's first instruction. Without a handler, it ends after the next instruction.
 */
static void signalled(struct follow *f, pid_t tid, int signal)
{
	struct followed *t = *place_of(f, tid);
	int stepped = end_of_step(t, tid, signal);

	if (stepped == SIGTRAP)
		stands(f, tid, false);
	if (t)
		t->stepping = !stepped;
	ptrace(stepped ? PTRACE_CONT : PTRACE_SINGLESTEP, tid, NULL, stepped ? 0 : signal);
}

static void stopped(struct follow *f, pid_t tid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_STOP && is_group_stop(signal)) {
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return;
	}
	if (!event) {
		signalled(f, tid, signal);
		return;
	}
	if (event == PTRACE_EVENT_EXEC) {
		executed(f, tid);
	} else if (event == PTRACE_EVENT_EXIT) {
		stands(f, tid, true);
	} else if (event == PTRACE_EVENT_STOP && !*place_of(f, tid)) {
		guard(f, tid);
		stands(f, tid, false);
	}
	ptrace(PTRACE_CONT, tid, NULL, 0);
}

void follow_go(struct follow *f, pid_t tid, int status)
{
	stopped(f, tid, status);
}

static void ended(struct follow *f, pid_t tid, int status)
{
	forget(f, tid);
	if (tid != f->child)
		return;
	f->status = status;
	f->ended = true;
}

void follow_events(struct follow *f)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (WIFSTOPPED(status))
			stopped(f, tid, status);
		else
			ended(f, tid, status);
	}
}

/*
 * Detach a stopped task. If the task stopped for a signal, deliver it, unless the signal
 * reports the end of a single step.
 */
static void let_go(struct follow *f, pid_t tid, int status)
{
	int signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		ended(f, tid, status);
		return;
	}
	if (end_of_step(*place_of(f, tid), tid, signal))
		signal = 0;
	ptrace(PTRACE_DETACH, tid, NULL, signal);
	forget(f, tid);
}

static bool none_left(const struct follow *f)
{
	for (size_t i = 0; i < BUCKETS; i++)
		if (f->buckets[i])
			return false;
	return true;
}

void follow_end(struct follow *f)
{
	int status;
	pid_t tid;

	if (!f->buckets)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct followed *t = f->buckets[i]; t; t = t->next)
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	/* If a task does not stop in time, the kernel detaches the task when bts ends. */
	for (int i = 0; i < LET_GO_TRIES && !none_left(f); i++) {
		while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
			let_go(f, tid, status);
		if (!none_left(f))
			usleep(LET_GO_US);
	}
	for (size_t i = 0; i < BUCKETS; i++)
		while (f->buckets[i])
			forget(f, f->buckets[i]->tid);
	free(f->buckets);
	f->buckets = NULL;
}
