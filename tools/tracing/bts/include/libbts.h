/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libbts: read the traces of bts record(1).
 *
 *	struct bts_trace *trace;
 *
 *	if (!bts_open(&trace, "trace.dat")) {
 *		bts_set(trace, "pid", "1234");
 *		bts_on_branch(trace, each_branch);
 *		bts_run(trace, NULL);
 *	}
 *	if (bts_error(trace))
 *		fprintf(stderr, "%s\n", bts_error(trace));
 *	bts_close(trace);
 *
 * bts_run() reads the trace once, and calls the functions that were set: for each branch, for
 * each row between branches, for each beginning and end of a call. The branches of a task
 * are in their order, across CPUs. Branches of different tasks are in the order of time.
 *
 * Errors: a function that can fail returns 0 or a negative number of errno's, and bts_error() the
 * first failure as text. The library prints nothing and ends no program. If there is no memory,
 * the call returns -ENOMEM; the trace can only be closed then, and what that call had allocated
 * may be lost.
 *
 * Threads: a trace belongs to one thread at a time, and each of several threads may have its own
 * traces. Functions that bts_run() calls are called in its thread. They may ask for names,
 * lines, tasks and frames of the trace.
 *
 * Versions: later versions may add members at the end of the structures that the library hands
 * out, and constants to the enums. Programs do not make such structures themselves. The exception
 * is struct bts_place, which stays as it is.
 *
 * If DEBUGINFOD_URLS is in the environment, debug information is also fetched from there.
 */
#ifndef LIBBTS_H
#define LIBBTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* A trace that is open; a task of the trace; a function, or what stands for one. */
struct bts_trace;
struct bts_task;
struct bts_sym;

/**
 * enum bts_kind - kinds of branches
 * @BTS_UNKNOWN:	the code is not known
 * @BTS_COND:		conditional jump
 * @BTS_JUMP:		jump
 * @BTS_JUMP_IND:	jump to an address in a register or in memory
 * @BTS_CALL:		call
 * @BTS_CALL_IND:	call of an address in a register or in memory
 * @BTS_RET:		return
 * @BTS_SYSCALL:	into the kernel by the program
 * @BTS_SYSRET:		out of the kernel by sysret or sysexit
 * @BTS_IRET:		out of an interrupt or exception
 * @BTS_INTERRUPT:	interrupt or exception: the instruction at from has not run
 * @BTS_FAR:		to another code segment
 * @BTS_EXIT:		out of the kernel, in a way that is not known
 */
enum bts_kind {
	BTS_UNKNOWN,
	BTS_COND,
	BTS_JUMP,
	BTS_JUMP_IND,
	BTS_CALL,
	BTS_CALL_IND,
	BTS_RET,
	BTS_SYSCALL,
	BTS_SYSRET,
	BTS_IRET,
	BTS_INTERRUPT,
	BTS_FAR,
	BTS_EXIT,
};

/**
 * struct bts_place - an address, and what is there
 * @addr:	address as the CPU saw it
 * @object_addr: the same as the file counts addresses; @addr for the kernel
 * @sym:	function; never NULL
 */
struct bts_place {
	uint64_t		addr;
	uint64_t		object_addr;
	const struct bts_sym	*sym;
};

/*
 * Flags of a branch: no way leads from start to from; no code; nothing is known before from; the
 * trace has no branch here, because from is a system call that does not return (only in totals).
 */
#define BTS_BRANCH_GAP		1
#define BTS_BRANCH_NO_CODE	2
#define BTS_BRANCH_HEAD		4
#define BTS_BRANCH_END		8

/**
 * struct bts_branch - a branch, and the straight run that led to it
 * @time:	nanoseconds, by the trace's clock; 0 in a bts_total_fn
 * @start:	where the branch before it led; the same as @from if that is not known
 * @from:	the branch instruction, or the instruction that an interrupt came before
 * @to:		where the branch led
 * @kind:	kind of the branch
 * @flags:	BTS_BRANCH_*
 * @insns:	instructions executed from @start on, the branch included
 * @count:	how often this run and branch were taken, so far
 * @user:	the program's own pointer: NULL at first, then as the program leaves it, for all
 *		branches with the same run, until a bts_total_fn has seen it
 */
struct bts_branch {
	uint64_t		time;
	struct bts_place	start;
	struct bts_place	from;
	struct bts_place	to;
	enum bts_kind		kind;
	unsigned int		flags;
	uint32_t		insns;
	uint64_t		count;
	void			*user;
};

/**
 * enum bts_row_type - what lies between branches
 * @BTS_ROW_LOST:	branches were lost
 * @BTS_ROW_GAP:	no way leads from the branch before to the next, or a loss on the CPU may
 *			be this task's
 * @BTS_ROW_DEPARTS:	the task leaves its CPU
 * @BTS_ROW_ARRIVES:	the task gets a CPU
 * @BTS_ROW_MAP:	the process maps code
 * @BTS_ROW_EVENT:	another event of the trace
 * @BTS_ROW_SIGNAL:	a signal's handler begins, in a trace without branches into the kernel
 * @BTS_ROW_SIGRETURN:	and ends
 */
enum bts_row_type {
	BTS_ROW_LOST,
	BTS_ROW_GAP,
	BTS_ROW_DEPARTS,
	BTS_ROW_ARRIVES,
	BTS_ROW_MAP,
	BTS_ROW_EVENT,
	BTS_ROW_SIGNAL,
	BTS_ROW_SIGRETURN,
};

/**
 * struct bts_row - a row that is not a branch
 * @type:	type of the row
 * @cpu:	CPU
 * @time:	nanoseconds, by the trace's clock
 * @count:	lost branches; 0 if their number is not known
 * @ended:	the task leaves its CPU for good
 * @text:	the row as bts report(1) prints it
 */
struct bts_row {
	enum bts_row_type	type;
	int			cpu;
	uint64_t		time;
	uint64_t		count;
	bool			ended;
	const char		*text;
};

/**
 * enum bts_frame_kind - how a function was entered
 * @BTS_FRAME_ROOT:	it ran before the trace began, or nothing is known
 * @BTS_FRAME_CALL:	by a call
 * @BTS_FRAME_TAIL:	by a jump: it returns where the frame below it returns
 * @BTS_FRAME_SYSCALL:	by a system call
 * @BTS_FRAME_INTERRUPT: by an interrupt or exception
 * @BTS_FRAME_SIGNAL:	by the kernel: a signal's handler
 * @BTS_FRAME_GUESS:	it was met after a gap
 * @BTS_FRAME_INLINED:	its code lies within the code of the frame below it; with the filter inline
 */
enum bts_frame_kind {
	BTS_FRAME_ROOT,
	BTS_FRAME_CALL,
	BTS_FRAME_TAIL,
	BTS_FRAME_SYSCALL,
	BTS_FRAME_INTERRUPT,
	BTS_FRAME_SIGNAL,
	BTS_FRAME_GUESS,
	BTS_FRAME_INLINED,
};

/**
 * struct bts_frame - a call
 * @sym:	function
 * @kind:	how it was entered
 * @depth:	frames below it on its stack
 * @stack:	number of the task's stack; most tasks have only stack 0
 * @time:	when it was entered
 * @ret:	address that it returns to; 0 if that is not known
 * @insns:	instructions since it was entered, on this stack, with all that it called
 * @branches:	branches, in the same way
 * @unfinished:	it ends because the task or the trace does
 * @user:	the program's own pointer: NULL at first, then as the program leaves it
 */
struct bts_frame {
	const struct bts_sym	*sym;
	enum bts_frame_kind	kind;
	unsigned int		depth;
	unsigned int		stack;
	uint64_t		time;
	uint64_t		ret;
	uint64_t		insns;
	uint64_t		branches;
	bool			unfinished;
	void			*user;
};

/**
 * struct bts_totals - what was in the trace, and what was not
 * @branches:	branches, after the filters on task, CPU and time
 * @tasks:	tasks that took them
 * @switches:	switches from one task to another
 * @lost:	lost branches whose number is known
 * @losses:	losses of a number that is not known
 * @gaps:	places where no way leads from a branch to the next
 * @no_code:	branches whose code is not known
 * @guessed:	stacks that branches do not say for certain
 */
struct bts_totals {
	uint64_t	branches;
	uint64_t	tasks;
	uint64_t	switches;
	uint64_t	lost;
	uint64_t	losses;
	uint64_t	gaps;
	uint64_t	no_code;
	uint64_t	guessed;
};

/* What bts_run() calls. If the function returns a number that is not 0, bts_run() ends with it. */
typedef int (*bts_branch_fn)(void *ctx, const struct bts_task *task, struct bts_branch *branch);
/* The task is NULL if the row is a CPU's. */
typedef int (*bts_row_fn)(void *ctx, const struct bts_task *task, const struct bts_row *row);
typedef int (*bts_frame_fn)(void *ctx, const struct bts_task *task, struct bts_frame *frame);
/* The task continues on this stack; or, if it is guessed, its stack is a guess from here on. */
typedef int (*bts_stack_fn)(void *ctx, const struct bts_task *task, unsigned int stack,
			    bool guessed);
/* A run and branch with the number of times that it was taken; nothing can be returned. */
typedef void (*bts_total_fn)(void *ctx, struct bts_branch *branch);

/* --- Traces ------------------------------------------------------------------------- */

/**
 * bts_open - open a trace
 * @trace:	where to put the trace; NULL is put there if there is no memory for it
 * @path:	the file, a trace.dat; its archive, PATH.archive, is used if it is there
 *
 * Return: 0 or a negative number of errno's. A trace that could not be opened has its error, and
 * is to be closed as well.
 */
int bts_open(struct bts_trace **trace, const char *path);

/**
 * bts_close - close a trace
 * @trace:	the trace, or NULL
 *
 * All that the trace has handed out is invalid after this.
 */
void bts_close(struct bts_trace *trace);

/**
 * bts_error - the first failure, as text
 * @trace:	the trace; NULL stands for one for which there was no memory
 *
 * Return: "what: file: reason", or NULL if nothing has failed.
 */
const char *bts_error(const struct bts_trace *trace);

/**
 * bts_set - set a filter
 * @trace:	the trace, before bts_run()
 * @name:	"task", "pid", "cpu", "time", "dso", "from", "to", "user", "kernel" or "vmlinux"; or
 *		"inline": calls of inlined functions, too
 * @value:	as the option of that name of bts(1) takes it; NULL for "user", "kernel", "inline"
 *
 * Return: 0 or a negative number of errno's.
 */
int bts_set(struct bts_trace *trace, const char *name, const char *value);

/**
 * bts_on_branch - have a function called for each branch, before the calls change by it
 * @trace:	the trace
 * @fn:		function, or NULL
 */
void bts_on_branch(struct bts_trace *trace, bts_branch_fn fn);

/**
 * bts_on_total - have a function called for each different run and branch, with its count
 * @trace:	the trace
 * @fn:		function, or NULL. It is called at the end, and earlier if there are very many
 *		different branches, so the same addresses may come several times. It is the last
 *		function to see @user of the branch
 *
 * Without another function this is fast: branches are only counted.
 */
void bts_on_total(struct bts_trace *trace, bts_total_fn fn);

/**
 * bts_on_row - have a function called for each row that is not a branch
 * @trace:	the trace
 * @fn:		function, or NULL
 */
void bts_on_row(struct bts_trace *trace, bts_row_fn fn);

/**
 * bts_on_call - have a function called when a function of the trace is entered
 * @trace:	the trace
 * @fn:		function, or NULL
 *
 * Calls are followed if there is such a function, or one of bts_on_return() or bts_on_stack().
 */
void bts_on_call(struct bts_trace *trace, bts_frame_fn fn);

/**
 * bts_on_return - have a function called when a function of the trace ends
 * @trace:	the trace
 * @fn:		function, or NULL. The frame is still the innermost one
 */
void bts_on_return(struct bts_trace *trace, bts_frame_fn fn);

/**
 * bts_on_stack - have a function called when a task changes its stack, or when its stack is a guess
 * @trace:	the trace
 * @fn:		function, or NULL
 */
void bts_on_stack(struct bts_trace *trace, bts_stack_fn fn);

/**
 * bts_run - read the trace
 * @trace:	the trace; it can be read once
 * @ctx:	first argument of the functions
 *
 * At the end, the frames that are left end. They do so without a call of the function of
 * bts_on_return() if a function has ended the run.
 *
 * Return: 0 at the end of the trace; the number with which a function has ended the run; or a
 * negative number of errno's. It is -EBADMSG if the file is damaged or cut, and all that can
 * be read was read.
 */
int bts_run(struct bts_trace *trace, void *ctx);

/**
 * bts_totals - what was in the trace
 * @trace:	the trace, after bts_run()
 *
 * Return: the totals.
 */
const struct bts_totals *bts_totals(struct bts_trace *trace);

/**
 * bts_bill - the totals, as the last lines of bts report(1)
 * @trace:	the trace, after bts_run()
 * @json:	as a JSON object
 *
 * Return: text with a newline at its end, valid until the next call; NULL after a failure.
 */
const char *bts_bill(struct bts_trace *trace, bool json);

/**
 * bts_warning - a remark about filters that nothing matches
 * @trace:	the trace, after bts_run()
 *
 * Return: text, valid until the next call, or NULL.
 */
const char *bts_warning(struct bts_trace *trace);

/* --- Tasks -------------------------------------------------------------------------- */

/**
 * bts_next_task - the tasks of the trace, one after the other
 * @trace:	the trace
 * @task:	the task before; NULL for the first one
 *
 * Return: a task, or NULL after the last one. In bts_run(): one of those met so far.
 */
const struct bts_task *bts_next_task(const struct bts_trace *trace, const struct bts_task *task);

/**
 * bts_task_pid - the number of a task
 * @task:	the task
 *
 * Return: its PID, which for a thread is the thread's.
 */
int bts_task_pid(const struct bts_task *task);

/**
 * bts_task_tgid - the process of a task
 * @task:	the task
 *
 * Return: the number of the process; the task's own if the trace does not say it.
 */
int bts_task_tgid(const struct bts_task *task);

/**
 * bts_task_comm - the name of a task
 * @task:	the task
 *
 * Return: the name that it has at this place of the trace.
 */
const char *bts_task_comm(const struct bts_task *task);

/**
 * bts_task_cpu - the CPU of a task
 * @task:	the task
 *
 * Return: the CPU on which it is, or was last; -1 if it was on none.
 */
int bts_task_cpu(const struct bts_task *task);

/**
 * bts_task_branches - how many branches a task has taken
 * @task:	the task
 *
 * Return: their number so far.
 */
uint64_t bts_task_branches(const struct bts_task *task);

/* --- Names -------------------------------------------------------------------------- */

/**
 * bts_find - what is at an address of a task
 * @trace:	the trace
 * @task:	the task
 * @addr:	the address, with the mappings that the task has at this place of the trace
 * @place:	where to put it
 */
void bts_find(struct bts_trace *trace, const struct bts_task *task, uint64_t addr,
	      struct bts_place *place);

/**
 * bts_place_text - a place as text
 * @place:	the place
 * @buffer:	where to put it, with a 0 at its end
 * @size:	bytes there
 *
 * Return: the length of "function+0x12", "libfoo.so+0x1234", or of the address; the text is cut
 * if that is not less than @size.
 */
size_t bts_place_text(const struct bts_place *place, char *buffer, size_t size);

/**
 * bts_line - file and line of a place
 * @trace:	the trace
 * @place:	the place
 * @file:	where to put the path of the source file
 * @line:	where to put the line
 *
 * Return: 0; -ENOENT if there is no such information; or another negative number of errno's.
 */
int bts_line(struct bts_trace *trace, const struct bts_place *place, const char **file,
	     unsigned int *line);

/**
 * bts_kind_name - a short word for a kind of branches
 * @kind:	the kind
 *
 * Return: as bts report(1) prints it, such as "jcc" or "call".
 */
const char *bts_kind_name(enum bts_kind kind);

/**
 * bts_sym_name - the name of a function
 * @sym:	the function
 *
 * Return: its name in the source, longer if its file has others of that name; "[libfoo.so]" if
 * there is no symbol.
 */
const char *bts_sym_name(const struct bts_sym *sym);

/**
 * bts_sym_linked - the name of a function for the linker
 * @sym:	the function
 *
 * Return: the name in the table of symbols.
 */
const char *bts_sym_linked(const struct bts_sym *sym);

/**
 * bts_sym_object - the file of a function
 * @sym:	the function
 *
 * Return: the file's name without its directory, "[kernel]", or the name of a module.
 */
const char *bts_sym_object(const struct bts_sym *sym);

/**
 * bts_sym_path - the path of the file of a function
 * @sym:	the function
 *
 * Return: the path by which the file was mapped.
 */
const char *bts_sym_path(const struct bts_sym *sym);

/**
 * bts_sym_addr - where a function begins
 * @sym:	the function
 *
 * Return: the address, as its file counts addresses; 0 if there is no symbol.
 */
uint64_t bts_sym_addr(const struct bts_sym *sym);

/**
 * bts_sym_is - compare a function with a name
 * @sym:	the function
 * @name:	one of its names, or a pattern with * or ? for one
 *
 * Return: true if the name, or the pattern, is the function's.
 */
bool bts_sym_is(const struct bts_sym *sym, const char *name);

/**
 * bts_sym_user - the program's own pointer beside a function
 * @sym:	the function
 *
 * Return: where the pointer is; it is NULL at first.
 */
void **bts_sym_user(const struct bts_sym *sym);

/* --- Calls -------------------------------------------------------------------------- */

/**
 * bts_depth - how many frames a task has
 * @task:	the task
 *
 * Return: the number on its current stack; 0 if calls are not followed.
 */
unsigned int bts_depth(const struct bts_task *task);

/**
 * bts_frame - a frame of a task
 * @trace:	the trace
 * @task:	the task
 * @depth:	0 for the outermost, bts_depth() - 1 for the innermost one
 *
 * Return: the frame, valid until the next call; NULL if there is none.
 */
const struct bts_frame *bts_frame(struct bts_trace *trace, const struct bts_task *task,
				  unsigned int depth);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
