/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pipeline reads a trace and passes its contents to a command.
 *
 *	struct pipe pipe = { .consumer = { .ctx = ..., .branch = ..., .row = ... } };
 *
 *	pipe_open(&pipe, path, &options) ... pipe_run(&pipe) ...
 *	pipe_bill(&pipe, stdout) ... return pipe_close(&pipe)
 *
 * The tool calls pipe_open(), pipe_bill() and pipe_close(), which print messages (cmd/print.c). The
 * library libbts (api/) must not print. Instead of pipe_open(), libbts calls pipe_begin(), which
 * stores an error in pipe.error. Instead of pipe_close(), libbts calls pipe_end().
 *
 * A command receives the branches of each task in order, even if the task moves between CPUs. Each
 * branch is part of a step, which consists of a straight run and the branch at its end. The
 * pipeline looks up the functions, instructions and kind of each step only once, and then counts
 * how often the step is taken. If branches are missing, the command receives a row about the loss.
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

/* The upper half of the address space belongs to the kernel. */
static inline bool is_kernel(uint64_t addr)
{
	return (int64_t)addr < 0;
}

enum branch_kind {
	BRANCH_UNKNOWN,		/* the code is not available */
	BRANCH_COND,		/* conditional jump */
	BRANCH_JUMP,
	BRANCH_JUMP_IND,
	BRANCH_CALL,
	BRANCH_CALL_IND,
	BRANCH_RET,
	BRANCH_SYSCALL,		/* syscall, sysenter, int n */
	BRANCH_SYSRET,		/* sysret, sysexit */
	BRANCH_IRET,
	BRANCH_INTERRUPT,	/* interrupt or exception; the instruction at @from has not run */
	BRANCH_FAR,
	BRANCH_EXIT,		/* a branch out of the kernel; its instruction is unknown */
	BRANCH_KINDS
};

extern const char *const branch_kind_names[BRANCH_KINDS];

/* A resolved address: a function (never NULL), and the address in the function's object. */
struct place {
	struct sym	*sym;
	uint64_t	addr;
};

enum {
	STEP_GAP	= 1,	/* the code that begins at @start cannot lead to this branch */
	STEP_BLIND	= 2,	/* the code is not available, so @insns is 0 */
	STEP_SHOWN	= 4,	/* the step passes the filters */
	STEP_HEAD	= 8,	/* the run is unknown, so the step contains only the branch */
	STEP_END	= 16,	/* the run does not end with a branch (see infer.c) */
	STEP_SIGRETURN	= 32,	/* the branch is the system call rt_sigreturn() */
};

/**
 * struct step - a straight run (instructions without a taken branch) and the branch at its end
 *
 * Processes that map the same file share the steps of this file. These steps contain shared
 * addresses (see space.h). pipe_addr() converts a shared address to the address in a process.
 *
 * @start:	address of the first instruction
 * @from:	address of the branch instruction
 * @to:		address to which the branch leads
 * @next:	the step that followed this step last time, and will probably follow again
 * @count:	number of times that the step was taken
 * @diverted:	how often the kernel did not return, but started, for example, a signal handler
 * @at_start:	the place of @start; if STEP_GAP is set, the place of @from
 * @at_from:	the place of @from
 * @at_to:	the place of @to
 * @priv:	the command's data, valid until the consumer's fold() has returned
 * @insns:	instructions executed from @start on, including the branch
 * @space:	number of the address space; 0 if processes may share the step
 * @flags:	STEP_*
 * @length:	length of the branch instruction; 0 if unknown
 * @from_file:	number of the file that contains @from; see space.h
 * @to_file:	number of the file that contains @to
 */
struct step {
	uint64_t		start;
	uint64_t		from;
	uint64_t		to;
	struct step		*next;
	uint64_t		count;
	uint64_t		diverted;
	struct place		at_start;
	struct place		at_from;
	struct place		at_to;
	void			*priv;
	uint32_t		insns;
	uint32_t		space;
	uint8_t			kind;
	uint8_t			flags;
	uint8_t			length;
	uint16_t		from_file;
	uint16_t		to_file;
};

struct space;

/**
 * struct task - a task of the trace; only the pipeline uses the members @space to @hash_next
 * @tgid:	PID of the task's process; until a row states it, @tgid is @pid or a guess
 * @comm:	current name of the task
 * @cpu:	current or last CPU of the task
 * @idle_cpu:	if @pid is 0, the CPU of this idle task; otherwise 0
 * @switches:	number of switches to the task
 * @priv:	data of the command
 * @hidden:	a number that changes whenever filters hide branches of the task
 */
struct task {
	int			pid;
	int			tgid;
	char			comm[16];
	int			cpu;
	int			idle_cpu;
	uint64_t		branches;
	uint64_t		switches;
	void			*priv;
	unsigned int		hidden;

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
	ROW_LOST,		/* the tracer or the ring buffer lost branches here */
	ROW_GAP,		/* branches may be missing here, but no ROW_LOST names the task */
	ROW_DEPARTS,
	ROW_ARRIVES,
	ROW_MAP,
	ROW_EVENT,
	ROW_SIGNAL,		/* a signal handler begins without a recorded branch */
	ROW_SIGRETURN,		/* a signal handler has ended without a recorded branch */
};

/**
 * struct row - a row that is not a branch
 * @ts:		time in nanoseconds
 * @count:	in ROW_LOST, the number of lost branches, or 0 if unknown
 * @cause:	in ROW_LOST, the cause of the loss
 * @from:	in ROW_GAP, the target of the previous branch; in ROW_MAP, the first address; in
 *		ROW_SIGNAL, the start of the straight run that the signal interrupted
 * @to:		in ROW_GAP, the source of the next branch, or 0 after a loss; in ROW_MAP, the end
 *		address; in ROW_SIGNAL, the address of the handler
 * @inferred:	in ROW_SIGNAL and ROW_SIGRETURN, true if the event was inferred from the code
 * @voluntary:	in ROW_DEPARTS, true if the task gave up the CPU voluntarily
 * @state:	in ROW_DEPARTS, the state of the task, in the kernel's encoding
 * @dead:	in ROW_DEPARTS, true if the task has ended
 * @user_ip:	in ROW_DEPARTS and ROW_ARRIVES, the task's instruction pointer in user space
 * @kernel_ip:	in ROW_DEPARTS, the task's instruction pointer in the kernel
 * @text:	in ROW_MAP and ROW_EVENT, the row's text, valid only during the row() callback
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
 * struct consumer - the callbacks of a command; each callback may be NULL
 * @ctx:	argument of the callbacks
 * @branch:	receives the branches of each task in order. If STEP_SHOWN is not set, the filters
 *		exclude the branch, so the command must not show it. A non-zero return value ends
 *		pipe_run(), and a negative value makes pipe_run() fail
 * @row:	receives each row that is not a branch; @task may be NULL
 * @fold:	receives each step with its final count before the pipeline frees the step. Later,
 *		the pipeline may create another step with the same @start, @from and @to. Only
 *		fold() receives steps with STEP_END
 */
struct consumer {
	void	*ctx;
	int	(*branch)(void *ctx, struct task *task, struct step *step, uint64_t ts);
	int	(*row)(void *ctx, struct task *task, const struct row *row);
	void	(*fold)(void *ctx, struct step *step);
};

/*
 * The filters that all commands accept (options.c). libbts does not use @head, @path or @given.
 * Times are in nanoseconds. @time_to is valid only if @time_given is true.
 */
struct options {
	char		*task;
	int		*pids;
	size_t		nr_pids;
	uint64_t	*cpus;
	size_t		cpu_words;
	bool		time_given;
	uint64_t	time_from;
	uint64_t	time_to;
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
 * Set a filter. Its name is "task", "pid", "cpu", "time", "dso", "from", "to", "user", "kernel",
 * "inline" or "vmlinux". If @name or @value is invalid, return the reason. Otherwise, return NULL.
 */
const char *options_set(struct options *o, const char *name, const char *value);
void options_free(struct options *o);

/**
 * struct pipe_bill - totals of the trace, including the number of missing branches
 * @branches:	branches that pass the filters on task, CPU and time
 * @tasks:	tasks that took these branches
 * @switches:	switches from one task to another
 * @losses:	lost branches, by cause
 * @gaps:	places at which the code does not lead from one branch to the next
 * @blind:	branches whose code is not available
 * @guessed:	number of guesses in call stacks; 0 if the command does not follow calls
 * @bytes:	size of the trace data in the file
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
 * struct pipe - an open trace
 * @inlines:	show inlined functions
 * @user_only:	the trace contains only branches within user space
 * @progress:	NULL, or a function that pipe_run() calls from time to time, when it has read @done
 *		of @total bytes. In the last call, @done is equal to @total
 * @progress_ctx: first argument of @progress
 * @error:	the last failure, for example a damaged file
 */
struct pipe {
	struct consumer			consumer;
	bool				inlines;
	const struct options		*options;
	bool				user_only;
	void	(*progress)(void *ctx, uint64_t done, uint64_t total);
	void				*progress_ctx;
	struct pipe_bill		bill;
	struct task			*tasks;
	struct objects			objects;
	struct error			error;
	struct pipe_private		*private;
};

/*
 * Open a trace. On failure, set p->error and return false. After a failure, pipe_end() is not
 * needed. Until pipe_run(), the caller may still change all options except @vmlinux.
 */
bool pipe_begin(struct pipe *p, const char *path, const struct options *options);
/*
 * Use the file at @path for the kernel's source lines. If the file belongs to another kernel, set
 * p->error and return false.
 */
bool pipe_vmlinux(struct pipe *p, const char *path);
/* Read the trace. Return 0, or 1 if the consumer failed or a thread could not be started. */
int pipe_run(struct pipe *p);
/* Report whether branches in the kernel are recorded. Call pipe_run() first. */
bool pipe_has_kernel(const struct pipe *p);
/* Set p->error if the file is damaged. Return p->error.code. */
int pipe_check(struct pipe *p);
/* Free everything except p->error. */
void pipe_end(struct pipe *p);
/* Write the totals (p->bill) and a list of the files that may have changed, as text or JSON. */
void pipe_bill_text(const struct pipe *p, struct bytes *out);
void pipe_bill_object(const struct pipe *p, struct bytes *out);
/* If the filters match no branch, return a warning (the caller frees it), otherwise NULL. */
char *pipe_warning(const struct pipe *p);

/*
 * cmd/print.c: if the trace cannot be read, print a message and return false. If reading takes a
 * long time, show the progress on a terminal. To hide the progress, the caller sets p->progress to
 * NULL.
 */
bool pipe_open(struct pipe *p, const char *path, const struct options *options);
void pipe_bill(const struct pipe *p, FILE *out);
void pipe_bill_json(const struct pipe *p, FILE *out);
/* Report failures of the pipeline and damage to the file. Return STATUS_OK or STATUS_FAILURE. */
int pipe_close(struct pipe *p);

/* Write a place as function+0x12, libfoo.so+0x1234 or 0x1234. Return the text's length. */
int place_text(char *buffer, size_t size, const struct place *place, uint64_t addr);
/* Return a row's text. It is valid until the next row_text(), or until consumer.row() returns. */
const char *row_text(struct pipe *pipe, struct task *task, const struct row *row);
struct place place_find(struct pipe *p, struct task *task, uint64_t addr);
/*
 * Convert an address of a step or a frame to the address in the task's process. A shared address
 * (see struct step) is in a file. If @task is NULL, use the first process that mapped this file.
 */
uint64_t pipe_addr(const struct pipe *p, const struct task *task, uint64_t addr);
/* Convert an address in the task's process to the form that is stored in struct step. */
uint64_t pipe_step_addr(const struct pipe *p, const struct task *task, uint64_t addr);
/* Return a copy of @s. In the copy, @start, @from and @to are addresses in the task's process. */
struct step pipe_step(const struct pipe *p, const struct task *task, const struct step *s);
/*
 * Call @each for each instruction of a step, in order. Return the number of instructions, or 0 if
 * --user or --kernel excludes the step, or if the code of the step is not available.
 */
typedef void (*step_insn_fn)(void *ctx, struct sym *sym, uint64_t addr, uint32_t length);
uint32_t step_each(const struct pipe *p, const struct step *s, step_insn_fn each,
		   void *ctx);
/* Report whether @addr is on the side (user space or kernel) that an option hides. */
bool pipe_hides(const struct pipe *p, uint64_t addr);
/* Return how often the step's branch was taken. Return 0 if the step ends without a branch. */
uint64_t step_branches(const struct step *s);
/* Report whether the step ends an interrupt, an exception or a system call. */
bool step_returns(const struct step *s);
/*
 * The step was taken s->count times. Return how many of these times the branch entered a function.
 * The branch enters a function if it is a call or leads to the start of another function. But an
 * iret or sysret enters a function only if it starts a signal handler or a program.
 */
uint64_t step_calls(const struct pipe *p, const struct step *s);
/*
 * If the row reports the beginning of a signal handler, set *@s to a step that contains only the
 * branch to the handler. Return true if *@s was set and this step passes the filters.
 */
bool pipe_signal(struct pipe *p, struct task *task, const struct row *row, struct step *s);
/* Return the function inlined at @addr, or @sym if no function is inlined or if !p->inlines. */
struct sym *code_of(const struct pipe *p, struct sym *sym, uint64_t addr);
/* entries.c: call @enter for each inlined function that the step enters. */
typedef void (*step_enter_fn)(void *ctx, struct sym *inlined);
void step_enter(const struct pipe *p, const struct step *s, step_enter_fn enter, void *ctx);
/* Find the branch kind of an instruction. Return the instruction's length, or 0 if unknown. */
uint32_t branch_kind_at(struct object *o, uint64_t addr, enum branch_kind *kind);
#endif
