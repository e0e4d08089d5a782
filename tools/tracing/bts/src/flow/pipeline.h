/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pipeline: from a trace to what a command wants to know of it.
 *
 *	struct pipe pipe = { .consumer = { .ctx = ..., .branch = ..., .row = ... } };
 *
 *	pipe_open(&pipe, path, &options) ... pipe_run(&pipe) ...
 *	pipe_bill(&pipe, stdout) ... return pipe_close(&pipe)
 *
 * These are the tool's, and print messages (cmd/print.c). The library has pipe_begin() and
 * pipe_end() instead, which print nothing and leave the failure in the pipe.
 *
 * A command gets the branches of each task in their order, across CPUs, each as a step:
 * the straight run that led to the branch, and the branch. A step is made once, with its
 * functions, instructions and kind, and then only counted. What is missing is a row in
 * its place.
 *
 * Included by: api/, flow/, diff/, dump/, gdb/, tui/, cmd/.
 */
#ifndef BTS_PIPELINE_H
#define BTS_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/causes.h"
#include "lib/error.h"
#include "symbols/object.h"

/* Addresses of the upper half are the kernel's. */
static inline bool is_kernel(uint64_t addr)
{
	return (int64_t)addr < 0;
}

enum branch_kind {
	BRANCH_UNKNOWN,		/* no code at hand */
	BRANCH_COND,		/* conditional jump */
	BRANCH_JUMP,
	BRANCH_JUMP_IND,
	BRANCH_CALL,
	BRANCH_CALL_IND,
	BRANCH_RET,
	BRANCH_SYSCALL,		/* syscall, sysenter, int n: into the kernel by the program */
	BRANCH_SYSRET,		/* out of the kernel by sysret or sysexit */
	BRANCH_IRET,
	BRANCH_INTERRUPT,	/* interrupt or exception: the instruction at from has not run */
	BRANCH_FAR,
	BRANCH_EXIT,		/* out of the kernel, in a way that is not known */
	BRANCH_KINDS
};

extern const char *const branch_kind_names[BRANCH_KINDS];

/* An address, looked up: the function is never NULL, @addr is as its object counts. */
struct place {
	struct sym	*sym;
	uint64_t	addr;
};

enum {
	STEP_GAP	= 1,	/* the code cannot have led from start to from */
	STEP_BLIND	= 2,	/* no code at hand: insns is 0 */
	STEP_SHOWN	= 4,	/* the options want it */
	STEP_HEAD	= 8,	/* what led to from is not in the trace: only the branch */
	STEP_END	= 16,	/* no branch: the system call does not return here */
};

/**
 * struct step - a straight run, and the branch at its end
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
 * @flags:	STEP_*
 * @length:	of the branch instruction; 0 if that is not known
 */
struct step {
	uint64_t		start;
	uint64_t		from;
	uint64_t		to;
	struct step		*next;
	uint64_t		count;
	struct place		at_start;
	struct place		at_from;
	struct place		at_to;
	void			*priv;
	uint32_t		insns;
	uint32_t		space;
	uint8_t			kind;
	uint8_t			flags;
	uint8_t			length;
};

struct space;

/**
 * struct task - a task of the trace
 * @pid:	its number
 * @tgid:	its process; @pid, until a row has said otherwise
 * @comm:	its name at this place of the trace
 * @cpu:	where it is, or was last
 * @branches:	so many
 * @switches:	times it got a CPU
 * @priv:	a command's own
 * Others are the pipeline's.
 */
struct task {
	int			pid;
	int			tgid;
	char			comm[16];
	int			cpu;
	uint64_t		branches;
	uint64_t		switches;
	void			*priv;

	struct space		*space;
	struct step		*step;
	uint64_t		at;
	uint64_t		resume;
	uint64_t		*interrupted;
	unsigned int		nr_interrupted;
	uint64_t		loss_seq;
	bool			known;
	bool			executes;
	bool			tgid_known;
	bool			chosen;
	struct task		*hash_next;
	struct task		*list_next;
};

enum row_type {
	ROW_LOST,		/* the tracer or the ring buffer has lost branches here */
	ROW_GAP,		/* the code cannot have led to the next branch, or a loss on a
				 * CPU may have been this task's as well
				 */
	ROW_DEPARTS,
	ROW_ARRIVES,
	ROW_MAP,
	ROW_EVENT,
	ROW_SIGNAL,		/* no branch says so: a signal's handler begins */
	ROW_SIGRETURN,		/* the same: the handler has ended */
};

/**
 * struct row - what is no branch
 * @type:	what it is
 * @cpu:	where
 * @ts:		when, in nanoseconds
 * @count:	of a loss: branches, 0 if that is not known
 * @cause:	of a loss
 * @from:	of a gap: where the branch before it led; of a mapping: where it begins. Of a
 *		signal: as of a gap; the program was interrupted there or further on
 * @to:		of a gap: where the branch after it begins; 0 if a loss is the reason. Of a
 *		mapping: where it ends. Of a signal: its handler
 * @inferred:	of a signal: from the code alone
 * @voluntary:	of a departure
 * @state:	of a departure, as the kernel has it
 * @dead:	of a departure: the task has ended
 * @user_ip:	of departures and arrivals
 * @kernel_ip:	of a departure
 * @text:	of maps and events; valid during the call
 */
struct row {
	enum row_type		type;
	int			cpu;
	uint64_t		ts;
	uint64_t		count;
	unsigned int		cause;
	uint64_t		from;
	uint64_t		to;
	bool			inferred;
	bool			voluntary;
	bool			dead;
	unsigned int		state;
	uint64_t		user_ip;
	uint64_t		kernel_ip;
	const char		*text;
};

/**
 * struct consumer - a command's part
 * @ctx:	for the calls
 * @branch:	each branch, in order; NULL if it is enough to count them. Not-NULL
 *		commands look at STEP_SHOWN themselves. Non-zero ends the run
 * @row:	what is no branch; @task may be NULL. May be NULL
 * @fold:	a step and how often it was taken; it is forgotten after this, with all that
 *		@priv points to. May come several times for the same addresses. May be NULL.
 *		Steps with STEP_END come here alone
 */
struct consumer {
	void	*ctx;
	int	(*branch)(void *ctx, struct task *task, struct step *step, uint64_t ts);
	int	(*row)(void *ctx, struct task *task, const struct row *row);
	void	(*fold)(void *ctx, struct step *step);
};

/* The filters that all commands have, options.c; @head, @path and @given are the command's. */
struct options {
	char		*task;
	int		*pids;
	size_t		nr_pids;
	uint64_t	*cpus;
	size_t		cpu_words;
	double		time_from;
	double		time_to;
	bool		user;
	bool		kernel;
	bool		inlines;
	char		*dso;
	char		*from;
	char		*to;
	uint64_t	head;
	char		*vmlinux;
	char		*path;
	struct given {
		const char	*name;
		const char	*value;
	}		*given;
	size_t		nr_given;
};

/*
 * Set one of the filters: task, pid, cpu, time, dso, from, to, user, kernel, or vmlinux. False
 * if there is no such filter, or if it does not take the value.
 */
bool options_set(struct options *o, const char *name, const char *value);
void options_free(struct options *o);

/**
 * struct pipe_bill - what was in the trace, and what was not
 * @branches:	in the trace, after the filters on task, CPU and time
 * @tasks:	that took them
 * @switches:	from one task to another
 * @losses:	branches that are missing, by cause
 * @gaps:	places that the code cannot have led to
 * @blind:	branches whose code is not at hand
 * @guessed:	stacks that branches do not say for certain, if calls are followed
 * @bytes:	of the file's data
 */
struct pipe_bill {
	uint64_t	branches;
	uint64_t	tasks;
	uint64_t	switches;
	struct losses	losses;
	uint64_t	gaps;
	uint64_t	blind;
	uint64_t	guessed;
	uint64_t	bytes;
};

struct bytes;
struct pipe_private;

/**
 * struct pipe - a trace that is open
 * @inlines:	inlined functions are shown, by calls.h and by commands
 * @user_only:	the trace has no branches between user space and the kernel
 * @error:	why something failed, or what is wrong with the file
 */
struct pipe {
	struct consumer			consumer;
	bool				inlines;
	const struct options		*options;
	bool				user_only;
	struct pipe_bill		bill;
	struct task			*tasks;
	struct objects			objects;
	struct error			error;
	struct pipe_private		*private;
};

/*
 * False, with p->error set and nothing left to end, if there is nothing to read. The options
 * may change until pipe_run().
 */
bool pipe_begin(struct pipe *p, const char *path, const struct options *options);
/* Take the kernel's lines from this file. False, with p->error set, if it is another's. */
bool pipe_vmlinux(struct pipe *p, const char *path);
/* 0, or 1 if the consumer, or a thread, has failed. */
int pipe_run(struct pipe *p);
/* Whether the kernel's side is recorded. After pipe_run(). */
bool pipe_has_kernel(const struct pipe *p);
/* The number of p->error, which is now set if the file is damaged. */
int pipe_check(struct pipe *p);
/* Frees all but p->error. */
void pipe_end(struct pipe *p);
/* The bill as a line of text, after the files that have changed; and as a JSON object. */
void pipe_bill_text(const struct pipe *p, struct bytes *out);
void pipe_bill_object(const struct pipe *p, struct bytes *out);
/* What is to be said about filters that match nothing, to be freed; or NULL. */
char *pipe_warning(const struct pipe *p);

/* cmd/print.c: false, after a message, if there is nothing to read. */
bool pipe_open(struct pipe *p, const char *path, const struct options *options);
void pipe_bill(const struct pipe *p, FILE *out);
void pipe_bill_json(const struct pipe *p, FILE *out);
/* Reports what has failed, and damage of the file. STATUS_OK or STATUS_FAILURE. */
int pipe_close(struct pipe *p);

/* A place as text: function+0x12, or libfoo.so+0x1234, or the number. Returns the length. */
int place_text(char *buffer, size_t size, const struct place *place, uint64_t addr);
/* What a row says: departs, arrives, LOST, GAP ... Valid until the next call. */
const char *row_text(struct pipe *pipe, struct task *task, const struct row *row);
/* Where an address of the task is. */
struct place place_find(struct pipe *p, struct task *task, uint64_t addr);
/*
 * Calls @each for the instructions of a step, in order, as often as each was executed:
 * once. Those of the kernel or of user space are left out with @options->user or ->kernel.
 * Returns how many there were.
 */
typedef void (*step_insn_fn)(void *ctx, struct sym *sym, uint64_t addr, uint32_t length);
uint32_t step_each(const struct pipe *p, const struct step *s, step_insn_fn each,
		   void *ctx);
/* The function whose code is at the address: @sym, or with @inlines one that is inlined there. */
struct sym *code_of(const struct pipe *p, struct sym *sym, uint64_t addr);
/* What the instruction at an address of the object is; its length, 0 if it is not known. */
uint32_t branch_kind_at(struct object *o, uint64_t addr, enum branch_kind *kind);
#endif
