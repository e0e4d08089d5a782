/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows tasks by ptrace(), for perf's events: new tasks, and exec().
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
 * struct follow - the tasks that are followed
 * @stands:	a task is new, has executed a program, enters a signal's handler, or @ends, and
 *		stands still. It goes on at @user_ip after this, or would
 * @child:	the command
 * @execs:	how often the command has executed a program
 * @status:	of the command, as of waitpid(), if @ended
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

void follow_init(struct follow *f);
/* A task that runs. 0, or -1 with errno. */
int follow_seize(struct follow *f, pid_t tid);
/* What has happened to them, after SIGCHLD. */
void follow_events(struct follow *f);
/* Lets all go their own way. */
void follow_end(struct follow *f);

#endif
