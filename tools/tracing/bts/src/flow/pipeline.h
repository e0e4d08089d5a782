/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pipeline: from a trace to what a command wants to know of it. This is all that a
 * command knows.
 *
 *	struct bts_pipe pipe = { .consumer = { .ctx = ..., .branch = ..., .row = ... } };
 *
 *	bts_pipe_open(&pipe, path, &options) ... bts_pipe_run(&pipe) ...
 *	bts_pipe_bill(&pipe, stdout) ... return bts_pipe_close(&pipe)
 *
 * A command gets the branches of each task in their order, across CPUs, each as a step:
 * the straight run that led to the branch, and the branch. A step is made once, with its
 * functions, instructions and kind, and then only counted. What is missing is a row in
 * its place.
 */
#ifndef BTS_PIPELINE_H
#define BTS_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symbols/object.h"

/* Addresses of the upper half are the kernel's. */
#define BTS_KERNEL(addr) ((int64_t)(addr) < 0)

enum bts_kind {
	BTS_UNKNOWN,		/* no code at hand */
	BTS_COND,		/* conditional jump */
	BTS_JUMP,
	BTS_JUMP_IND,
	BTS_CALL,
	BTS_CALL_IND,
	BTS_RET,
	BTS_SYSCALL,		/* syscall, sysenter, int n: into the kernel by the program */
	BTS_SYSRET,		/* out of the kernel by sysret or sysexit */
	BTS_IRET,
	BTS_INTERRUPT,		/* interrupt or exception: the instruction at from has not run */
	BTS_FAR,
	BTS_EXIT,		/* out of the kernel, in a way that is not known */
	BTS_KINDS
};

extern const char *const bts_kind_names[BTS_KINDS];

/* An address, looked up: the function is never NULL, @addr is as its object counts. */
struct bts_place {
	struct sym	*sym;
	uint64_t	addr;
};

enum {
	BTS_STEP_GAP	= 1,	/* the code cannot have led from start to from */
	BTS_STEP_BLIND	= 2,	/* no code at hand: insns is 0 */
	BTS_STEP_SHOWN	= 4,	/* the options want it */
	BTS_STEP_HEAD	= 8,	/* what led to from is not in the trace: only the branch */
};

/**
 * struct bts_step - a straight run, and the branch at its end
 * @start:	where the branch before led
 * @from:	of the branch
 * @to:		of the branch
 * @next:	the step that followed it last: a guess at the next one
 * @count:	how often
 * @at_start:	@start, looked up; that of @from, if start is not the run's
 * @at_from:	@from, looked up
 * @at_to:	@to, looked up
 * @priv:	a command's own; the consumer's fold() is the last to see it
 * @insns:	instructions executed from start on, the branch included
 * @space:	the addresses are of this space; 0: the kernel's, which all share
 * @kind:	of the branch
 * @flags:	BTS_STEP_*
 * @length:	of the branch instruction; 0 if that is not known
 */
struct bts_step {
	uint64_t		start;
	uint64_t		from;
	uint64_t		to;
	struct bts_step		*next;
	uint64_t		count;
	struct bts_place	at_start;
	struct bts_place	at_from;
	struct bts_place	at_to;
	void			*priv;
	uint32_t		insns;
	uint32_t		space;
	uint8_t			kind;
	uint8_t			flags;
	uint8_t			length;
};

struct bts_space;

/**
 * struct bts_task - a task of the trace
 * @pid:	its number
 * @tgid:	its process; @pid, until a row has said otherwise
 * @comm:	its name at this place of the trace
 * @cpu:	where it is, or was last
 * @branches:	so many
 * @switches:	times it got a CPU
 * @priv:	a command's own
 * Others are the pipeline's.
 */
struct bts_task {
	int			pid;
	int			tgid;
	char			comm[16];
	int			cpu;
	uint64_t		branches;
	uint64_t		switches;
	void			*priv;

	struct bts_space	*space;
	struct bts_step		*step;
	uint64_t		at;
	uint64_t		resume;
	uint64_t		loss_seq;
	bool			known;
	bool			tgid_known;
	bool			chosen;
	struct bts_task		*hash_next;
	struct bts_task		*list_next;
};

enum bts_row_type {
	BTS_ROW_LOST,		/* the tracer or the ring buffer has lost branches here */
	BTS_ROW_GAP,		/* the code cannot have led to the next branch, or a loss on a
				 * CPU may have been this task's as well
				 */
	BTS_ROW_DEPARTS,
	BTS_ROW_ARRIVES,
	BTS_ROW_MAP,
	BTS_ROW_EVENT,
};

#define BTS_CAUSES	8
#define BTS_MISSED	7	/* overwritten in the ring buffer */

extern const char *const bts_cause_names[BTS_CAUSES];

/**
 * struct bts_row - what is no branch
 * @type:	what it is
 * @cpu:	where
 * @ts:		when, in nanoseconds
 * @count:	of a loss: branches, 0 if that is not known
 * @cause:	of a loss
 * @from:	of a gap: where the branch before it led
 * @to:		of a gap: where the branch after it begins; 0 if a loss is the reason
 * @voluntary:	of a departure
 * @state:	of a departure, as the kernel has it
 * @dead:	of a departure: the task has ended
 * @user_ip:	of departures and arrivals
 * @kernel_ip:	of a departure
 * @text:	of maps and events; valid during the call
 */
struct bts_row {
	enum bts_row_type	type;
	int			cpu;
	uint64_t		ts;
	uint64_t		count;
	unsigned int		cause;
	uint64_t		from;
	uint64_t		to;
	bool			voluntary;
	bool			dead;
	unsigned int		state;
	uint64_t		user_ip;
	uint64_t		kernel_ip;
	const char		*text;
};

/**
 * struct bts_consumer - a command's part
 * @ctx:	for the calls
 * @branch:	each branch, in order; NULL if it is enough to count them. Not-NULL
 *		commands look at BTS_STEP_SHOWN themselves. Non-zero ends the run
 * @row:	what is no branch; @task may be NULL. May be NULL
 * @fold:	a step and how often it was taken; it is forgotten after this, with all that
 *		@priv points to. May come several times for the same addresses. May be NULL
 */
struct bts_consumer {
	void	*ctx;
	int	(*branch)(void *ctx, struct bts_task *task, struct bts_step *step, uint64_t ts);
	int	(*row)(void *ctx, struct bts_task *task, const struct bts_row *row);
	void	(*fold)(void *ctx, struct bts_step *step);
};

/* The filters that all commands have, options.c. */
struct bts_options {
	char		*task;
	int		*pids;
	size_t		nr_pids;
	uint64_t	*cpus;
	size_t		cpu_words;
	double		time_from;
	double		time_to;
	bool		user;
	bool		kernel;
	char		*dso;
	char		*from;
	char		*to;
	uint64_t	head;
	char		*vmlinux;
	char		*path;
};

/* Help for the common filters, one line each. */
extern const char bts_options_help[];

/*
 * Takes the common options out of the arguments, and -i FILE. Short and long ones of the
 * command's own stay, with all else. Returns STATUS_OK or, after a message, STATUS_MISUSE.
 */
int bts_options_parse(struct bts_options *o, const char *command, int *argc, char **argv);
void bts_options_free(struct bts_options *o);

/**
 * struct bts_bill - what was in the trace, and what was not
 * @branches:	in the trace, after the filters on task, CPU and time
 * @tasks:	that took them
 * @switches:	from one task to another
 * @lost:	branches, by cause
 * @lost_times:	losses whose number is not known, by cause
 * @gaps:	places that the code cannot have led to
 * @blind:	branches whose code is not at hand
 * @bytes:	of the file's data
 */
struct bts_bill {
	uint64_t	branches;
	uint64_t	tasks;
	uint64_t	switches;
	uint64_t	lost[BTS_CAUSES];
	uint64_t	lost_times[BTS_CAUSES];
	uint64_t	gaps;
	uint64_t	blind;
	uint64_t	bytes;
};

struct pipe_private;

struct bts_pipe {
	struct bts_consumer		consumer;
	const struct bts_options	*options;
	struct bts_bill			bill;
	struct bts_task			*tasks;
	struct objects			objects;
	struct pipe_private		*private;
};

/* False, after a message, if there is nothing to read. */
bool bts_pipe_open(struct bts_pipe *p, const char *path, const struct bts_options *options);
/* STATUS_OK, or STATUS_FAILURE if the consumer has failed. */
int bts_pipe_run(struct bts_pipe *p);
void bts_pipe_bill(const struct bts_pipe *p, FILE *out);
void bts_pipe_bill_json(const struct bts_pipe *p, FILE *out);
/* Reports damage of the file. STATUS_OK or STATUS_FAILURE. */
int bts_pipe_close(struct bts_pipe *p);

/* A place as text: function+0x12, or libfoo.so+0x1234, or the number. Returns the length. */
int bts_place_text(char *buffer, size_t size, const struct bts_place *place, uint64_t addr);
/* What a row says: departs, arrives, LOST, GAP ... Static buffer. */
const char *row_text(struct bts_pipe *pipe, struct bts_task *task, const struct bts_row *row);
/* Where an address of the task is. */
struct bts_place bts_place(struct bts_pipe *p, struct bts_task *task, uint64_t addr);
/*
 * Calls @each for the instructions of a step, in order, as often as each was executed:
 * once. Those of the kernel or of user space are left out with @options->user or ->kernel.
 * Returns how many there were.
 */
typedef void (*bts_insn_fn)(void *ctx, struct sym *sym, uint64_t addr, uint32_t length);
uint32_t bts_step_each(const struct bts_pipe *p, const struct bts_step *s, bts_insn_fn each,
		       void *ctx);
/* What the instruction at an address of the object is; its length, 0 if it is not known. */
uint32_t bts_insn(struct object *o, uint64_t addr, enum bts_kind *kind);
#endif
