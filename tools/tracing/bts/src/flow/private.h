/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the pipeline share.
 *
 * Included by: flow/.
 */
#ifndef BTS_PRIVATE_H
#define BTS_PRIVATE_H

#include "file/cpu_reader.h"
#include "file/dat.h"
#include "file/format.h"
#include "pipeline.h"
#include "space.h"
#include "steps.h"

#define TASK_BUCKETS	1024

/**
 * struct pipe_stream - a CPU's stream, as the merge sees it
 * @done:	of its first batch, so many branches have been delivered
 * @time:	of the next one
 * @time_known:	@time is right
 * @ended:	it has no more
 */
struct pipe_stream {
	struct cpu_reader	reader;
	uint32_t		done;
	uint64_t		time;
	bool			time_known;
	bool			ended;
};

/* A task's name at the end of recording. */
struct comm {
	int	pid;
	char	name[16];
};

/**
 * struct pipe_private - the pipeline's own
 * @seen_kernel:	the kernel is recorded: the trace says so, or there was a branch within it
 * @seen_user:		the same of user space
 * @loss_seq:		losses so far whose tasks are not known
 * @cpu_lost:		of each CPU, @loss_seq of the last
 * @cpu_pid:		of each CPU, the task that was there last
 * @shown:		a step is one that the options want
 * @departs:		there are rows bts_departs:
 * @departures:		those of the tasks that are wanted are the switches then
 * @text:		of the last row_text()
 */
struct pipe_private {
	struct pipe		*pipe;
	struct dat		*dat;
	struct formats		formats;
	struct layout		layout;
	struct spaces		spaces;
	struct steps		steps;
	struct pipe_stream	*streams;
	size_t			nr_streams;
	struct task		*buckets[TASK_BUCKETS];
	struct comm		*comms;
	size_t			nr_comms;
	bool			seen_kernel;
	bool			seen_user;
	bool			shown;
	uint64_t		loss_seq;
	uint64_t		*cpu_lost;
	int			*cpu_pid;
	size_t			nr_cpus;
	uint64_t		time_from;
	uint64_t		time_to;
	bool			departs;
	uint64_t		departures;
	char			text[2304];
};

/* pipeline.c: ends the threads. */
void pipe_stop(struct pipe_private *v);

/* rows.c: rows that are no branches. */
int pipe_other(struct pipe_private *v, struct batch *b);
int pipe_row(struct pipe_private *v, struct task *t, const struct row *row);
/* A gap, if a loss on its CPUs may have been this task's. */
int task_lost(struct pipe_private *v, struct task *t, int cpu, uint64_t ts);

/* pipeline.c: the step of a branch of the task from @start on. */
struct step *step_from(struct pipe_private *v, struct task *t, uint64_t start,
		       const struct branch *b);

/*
 * infer.c, for a trace with user_only. Find the way to a branch to which the code does not
 * lead, and note it in a row. Return its step, or NULL if there is no such way; @ret is what the
 * consumer returns.
 */
struct step *infer_way(struct pipe_private *v, struct task *t, const struct branch *b, uint64_t ts,
		       int *ret);
/* The task arrives at a known address: it is new, has executed a program, or gets a signal. */
int infer_start(struct pipe_private *v, struct task *t, const struct row *arrives);
/* The task has ended: its last address in user space. */
void infer_end(struct pipe_private *v, struct task *t, uint64_t user_ip);
/* The task executes another program. */
void infer_exec(struct task *t);

/* tasks.c */
struct task *task_get(struct pipe_private *v, int pid);
void task_is_on(struct pipe_private *v, struct task *t, int cpu);
void task_named(struct pipe_private *v, struct task *t, const char *comm);
void task_of(struct pipe_private *v, struct task *t, int tgid);
void task_find_space(struct pipe_private *v, struct task *t, const struct branch *b);
void tasks_free(struct pipe_private *v);
void comms_read(struct pipe_private *v);

/* options.c */
bool options_want_cpu(const struct options *o, int cpu);
bool options_want_task(const struct options *o, const struct task *t);
bool options_match_place(const struct place *place, uint64_t addr, const char *wanted);

#endif
