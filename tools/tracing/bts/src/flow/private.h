/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by the files of the pipeline.
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

#define TASK_BUCKETS	(1U << 16)

/**
 * struct pipe_stream - the stream of a CPU, during the merge
 * @done:	number of delivered branches of the batch at the head of the queue
 * @time:	time of the next branch or row
 * @time_known:	@time is valid
 * @ended:	the stream has ended
 * @maps:	the stream contains only mappings (see DAT_MAPS)
 * @position:	number of bytes that were read from the stream
 */
struct pipe_stream {
	struct cpu_reader	reader;
	uint32_t		done;
	uint64_t		time;
	bool			time_known;
	bool			ended;
	bool			maps;
	uint64_t		position;
};

/* The name of a task at the end of the recording. */
struct comm {
	int	pid;
	char	name[16];
};

/**
 * struct pipe_private - the pipeline's private data
 * @seen_kernel:	the trace's info or a branch shows that the kernel was recorded
 * @seen_user:		the trace's info or a branch shows that user space was recorded
 * @loss_seq:		number of losses so far
 * @cpu_lost:		for each CPU, the value of @loss_seq after the CPU's last loss
 * @cpu_pid:		for each CPU, the PID of the last task on the CPU
 * @by_address:		the filter needs the addresses in each process, so do not share steps
 * @shown:		at least one step passes the filters
 * @departs:		the trace contains bts_departs rows
 * @departures:		number of bts_departs rows of chosen tasks
 * @text:		the result of the last row_text()
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
	bool			by_address;
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

/* pipeline.c: end the threads that read the streams. */
void pipe_stop(struct pipe_private *v);

/* rows.c: handle non-branch rows. */
int pipe_other(struct pipe_private *v, struct batch *b);
int pipe_row(struct pipe_private *v, struct task *t, const struct row *row);
/* Report a gap if @cpu or the task's previous CPU may have lost branches of the task. */
int task_lost(struct pipe_private *v, struct task *t, int cpu, uint64_t ts);

/* pipeline.c: return the step that starts at @start and ends with the branch @b. */
struct step *step_from(struct pipe_private *v, struct task *t, uint64_t start,
		       const struct branch *b);

/*
 * infer.c: called if the trace contains only user space and no path leads from the last branch to
 * @b. Find the signal, rt_sigreturn or exec() before @b. Report a signal or rt_sigreturn as a row,
 * and set *@ret to the result of the consumer's row(). Return the step that ends with @b, or NULL.
 */
struct step *infer_way(struct pipe_private *v, struct task *t, const struct branch *b, uint64_t ts,
		       int *ret);
/* Handle a bts_arrives row with an address: the task starts, calls exec() or handles a signal. */
int infer_start(struct pipe_private *v, struct task *t, const struct row *arrives);
/* Handle the end of the task, whose last address in user space is @user_ip. */
void infer_end(struct pipe_private *v, struct task *t, uint64_t user_ip);
/* Handle a call of exec() by the task. */
void infer_exec(struct task *t);

/* tasks.c */
/* Find or create a task. All idle tasks have PID 0, so @cpu tells them apart. */
struct task *task_get(struct pipe_private *v, int pid, int cpu);
/* Enlarge the arrays cpu_lost and cpu_pid so that each has at least @nr elements. */
void tasks_more_cpus(struct pipe_private *v, size_t nr);
void task_is_on(struct pipe_private *v, struct task *t, int cpu);
void task_named(struct pipe_private *v, struct task *t, const char *comm);
void task_of(struct pipe_private *v, struct task *t, int tgid);
void task_find_space(struct pipe_private *v, struct task *t, const struct branch *b);
/*
 * Store @at, the address to which a signal handler returns. If NESTED_MAX addresses are already
 * stored, drop the oldest address: its signal handler has probably ended with siglongjmp().
 */
void task_interrupt(struct task *t, uint64_t at);
void tasks_free(struct pipe_private *v);
void comms_read(struct pipe_private *v);

/* options.c */
bool options_want_cpu(const struct options *o, int cpu);
bool options_want_task(const struct options *o, const struct task *t);
/* Report whether o->from or o->to is an address, not the name of a function. */
bool options_by_address(const struct options *o);
bool options_match_place(const struct place *place, uint64_t addr, const char *wanted);

#endif
