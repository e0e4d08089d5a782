/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follow tasks with ptrace(), so that each branch is attributed to the right task and program.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_PERF_FOLLOW_H
#define BTS_PERF_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct followed;

/**
 * struct follow - the followed tasks
 * @stands:	called when a task has stopped because the task is new, has called exec(), enters a
 *		signal handler, or ends. If the task ends, @user_ip is its last address in user
 *		space. Otherwise, the task will continue at @user_ip
 * @child:	the command
 * @execs:	how many times the command called exec()
 * @status:	the command's status from waitpid(), if @ended
 */
struct follow {
	void		(*stands)(void *ctx, pid_t tid, uint64_t user_ip, bool ends);
	void		*ctx;
	pid_t		child;
	unsigned int	execs;
	int		status;
	bool		ended;
	struct followed	**buckets;
};

/* The state of a task after follow_interrupt(). */
enum follow_stop {
	FOLLOW_STOPPED,
	FOLLOW_RUNS,		/* followed, but not stopped yet */
	FOLLOW_REFUSED,		/* cannot be followed, for the reason in errno */
	FOLLOW_ENDED,
};

void follow_init(struct follow *f);
/* Start following a running task. Return 0, or return -1 and set errno. */
int follow_seize(struct follow *f, pid_t tid);
/* Start following a running task, and tell it to stop. For FOLLOW_REFUSED, errno is the reason. */
enum follow_stop follow_interrupt(struct follow *f, pid_t tid);
/*
 * Return the new state of a task whose last state was FOLLOW_RUNS. A task in uninterruptible sleep
 * does not stop until it wakes up. If the task has stopped, pass *@status to follow_go().
 */
enum follow_stop follow_stopped(struct follow *f, pid_t tid, int *status);
void follow_go(struct follow *f, pid_t tid, int status);
/* Handle each task that has stopped or ended. Call this function after SIGCHLD. */
void follow_events(struct follow *f);
/* Detach all tasks. */
void follow_end(struct follow *f);

#endif
