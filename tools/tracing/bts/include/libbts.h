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
 * bts_run() reads the trace once, and calls the program's callbacks for each branch, for each other
 * row of the trace, and at the beginning and end of each function call. The branches of a task are
 * reported in the order of execution, even if the task ran on several CPUs. The branches of
 * different tasks are reported in the order of their times.
 *
 * Errors: A function that can fail returns 0 or a negative errno value. bts_error() describes the
 * first failure. The library never prints a message or ends the program. A function that runs
 * out of memory returns -ENOMEM and may leak memory. The program can then only close the trace.
 *
 * Threads: Several threads may use different traces at the same time, but not the same trace. The
 * callbacks run in the thread that called bts_run(). Callbacks may look up names, lines, tasks and
 * frames of the trace with the functions below.
 *
 * Versions: Later versions may add constants to the enums, and members at the ends of the
 * structures. Therefore, a program must not create these structures itself, except struct
 * bts_place, which will not change.
 *
 * If the environment variable DEBUGINFOD_URLS lists servers, the library downloads missing debug
 * information from these servers.
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

/* Opaque handles: an open trace, a task, and a function (or code without a symbol). */
struct bts_trace;
struct bts_task;
struct bts_sym;

/**
 * enum bts_kind - the kind of a branch
 * @BTS_UNKNOWN:	unknown, because the library did not find the code at @from
 * @BTS_COND:		conditional jump
 * @BTS_JUMP:		jump
 * @BTS_JUMP_IND:	jump to an address in a register or in memory
 * @BTS_CALL:		call
 * @BTS_CALL_IND:	call to an address in a register or in memory
 * @BTS_RET:		return
 * @BTS_SYSCALL:	system call
 * @BTS_SYSRET:		exit from the kernel by sysret or sysexit
 * @BTS_IRET:		return from an interrupt or exception
 * @BTS_INTERRUPT:	interrupt or exception; the instruction at @from was not executed
 * @BTS_FAR:		far jump, call or return
 * @BTS_EXIT:		exit from the kernel by an unknown instruction
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
 * struct bts_place - an address and its function
 * @addr:	address in memory. A bts_total_fn gets the first address where this code was mapped
 * @object_addr: link-time address in the file; equal to @addr for the kernel
 * @sym:	function; never NULL
 */
struct bts_place {
	uint64_t		addr;
	uint64_t		object_addr;
	const struct bts_sym	*sym;
};

/*
 * Flags of a struct bts_branch. GAP: No path leads from @start to @from. NO_CODE: The library did
 * not find the code from @start to @from. HEAD: The trace does not show the code before @from. END:
 * The trace has no branch at @from. There, the task ended, or called exec() or rt_sigreturn().
 */
#define BTS_BRANCH_GAP		1
#define BTS_BRANCH_NO_CODE	2
#define BTS_BRANCH_HEAD		4
#define BTS_BRANCH_END		8

/**
 * struct bts_branch - a branch, and the straight run (the code from @start to @from) before it
 * @time:	time on the trace's clock, in nanoseconds; the callback of bts_on_total() gets 0
 * @start:	beginning of the straight run (@to of the previous branch), or @from if unknown
 * @from:	the branch instruction; for an interrupt, the interrupted instruction (not executed)
 * @to:		the instruction to which the branch leads
 * @kind:	kind of the branch
 * @flags:	BTS_BRANCH_*
 * @insns:	number of instructions executed from @start to @from, including the branch
 * @count:	how often the code from @start to @from and this branch were executed so far. If the
 *		trace contains more than a million different branches, @count may restart from 1
 * @user:	pointer that callbacks may set for this straight run and branch; initially NULL.
 *		Processes that execute the same file share the pointer. The library sets the pointer
 *		to NULL when @count restarts, and after each call of a bts_total_fn
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
 * enum bts_row_type - the type of a row that is not a branch
 * @BTS_ROW_LOST:	branches were lost
 * @BTS_ROW_GAP:	no path leads from the task's previous branch to its next branch, or a
 *			loss on the task's CPU (BTS_ROW_LOST) may include branches of this task
 * @BTS_ROW_DEPARTS:	the task leaves its CPU
 * @BTS_ROW_ARRIVES:	the task begins to run on a CPU
 * @BTS_ROW_MAP:	the process maps code
 * @BTS_ROW_EVENT:	any other event
 * @BTS_ROW_SIGNAL:	a signal handler begins; only in a trace without branches into the kernel
 * @BTS_ROW_SIGRETURN:	a signal handler ends; only in a trace without branches into the kernel
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
 * @time:	time on the trace's clock, in nanoseconds
 * @count:	number of lost branches; 0 if unknown
 * @ended:	true if the task leaves its CPU because the task ends
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
 * @BTS_FRAME_ROOT:	before the trace began, or in an unknown way
 * @BTS_FRAME_CALL:	by a call
 * @BTS_FRAME_TAIL:	by a jump, so the function's return also ends the next outer frame
 * @BTS_FRAME_SYSCALL:	by a system call
 * @BTS_FRAME_INTERRUPT: by an interrupt or exception
 * @BTS_FRAME_SIGNAL:	by a return from the kernel into a signal handler
 * @BTS_FRAME_GUESS:	unknown, because the function was found after a gap
 * @BTS_FRAME_INLINED:	inlined in the function of the next outer frame; only with bts_set("inline")
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
 * @kind:	how the function was entered
 * @depth:	number of outer frames on the same stack
 * @stack:	index of the call's stack; most tasks have only stack 0. The library may guess the
 *		stack (see bts_on_stack()). If the guess was wrong, unfinished calls may later move
 *		to another stack. No callback reports this move
 * @time:	when the function was entered
 * @ret:	address to which the function returns; 0 if unknown
 * @insns:	number of instructions executed on this stack since the function was entered,
 *		including callees
 * @branches:	number of branches since the function was entered, counted like @insns
 * @unfinished:	true if the frame ends because the task or the trace ends
 * @user:	pointer that callbacks may set for this call; initially NULL
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
 * struct bts_totals - totals of a trace, including its losses
 * @branches:	number of branches that passed the filters for task, CPU and time
 * @tasks:	number of tasks that executed these branches
 * @switches:	number of switches from one task to another
 * @lost:	number of lost branches, excluding losses of unknown size
 * @losses:	number of losses of unknown size
 * @gaps:	number of places where no path leads from a branch to the next branch
 * @no_code:	number of branches whose code is unknown (BTS_BRANCH_NO_CODE)
 * @guessed:	number of guesses (see bts_on_stack()); 0 if the library did not follow calls
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

/* Callbacks of bts_run(). If a callback returns nonzero, bts_run() ends and returns this value. */
typedef int (*bts_branch_fn)(void *ctx, const struct bts_task *task, struct bts_branch *branch);
/* @task is NULL if the row concerns a CPU and not a task. */
typedef int (*bts_row_fn)(void *ctx, const struct bts_task *task, const struct bts_row *row);
typedef int (*bts_frame_fn)(void *ctx, const struct bts_task *task, struct bts_frame *frame);
/* The task continues in a call on @stack. If @guessed is true, the call or the stack is a guess. */
typedef int (*bts_stack_fn)(void *ctx, const struct bts_task *task, unsigned int stack,
			    bool guessed);
/* bts_run() has read @done of @total bytes of the trace. This callback cannot end bts_run(). */
typedef void (*bts_progress_fn)(void *ctx, uint64_t done, uint64_t total);
/* @branch->count is the branch's total number of executions. This callback cannot end bts_run(). */
typedef void (*bts_total_fn)(void *ctx, struct bts_branch *branch);

/* --- Traces ------------------------------------------------------------------------- */

/**
 * bts_open - open a trace
 * @trace:	where to store the trace; if memory runs out, the stored pointer may be NULL
 * @path:	path of a trace.dat file, or "-" for standard input; the directory PATH.archive is
 *		also read if it exists
 *
 * Return: 0 or a negative errno value. After a failure, bts_error() describes the failure, and the
 * program must still call bts_close().
 */
int bts_open(struct bts_trace **trace, const char *path);

/**
 * bts_close - close a trace
 * @trace:	the trace, or NULL
 *
 * All pointers that the library returned for this trace become invalid.
 */
void bts_close(struct bts_trace *trace);

/**
 * bts_error - describe the first failure
 * @trace:	the trace, or NULL after bts_open() ran out of memory
 *
 * Return: "what: file: reason", or NULL if no function has failed.
 */
const char *bts_error(const struct bts_trace *trace);

/**
 * bts_set - set a filter
 * @trace:	the trace; call bts_set() only before bts_run()
 * @name:	"task", "pid", "cpu", "time", "dso", "from", "to", "user", "kernel", "vmlinux" or
 *		"inline"; "inline" adds frames for inlined functions
 * @value:	value of the option with this name in bts(1); NULL for "user", "kernel", "inline"
 *
 * Return: 0 or a negative errno value.
 */
int bts_set(struct bts_trace *trace, const char *name, const char *value);

/**
 * bts_on_branch - set the callback for each branch
 * @trace:	the trace
 * @fn:		callback, or NULL; called before the branch changes the frames of the task
 */
void bts_on_branch(struct bts_trace *trace, bts_branch_fn fn);

/**
 * bts_on_total - set the callback that receives how often each branch was executed
 * @trace:	the trace
 * @fn:		callback, or NULL; called at the end of bts_run(). If the trace contains very many
 *		different branches, the callback is also called earlier, and may be called several
 *		times for the same addresses. After each call, the library sets the branch's @user
 *		to NULL. No other callback receives a branch with the flag BTS_BRANCH_END
 *
 * If this is the only callback, bts_run() is faster, because bts_run() then only counts branches.
 */
void bts_on_total(struct bts_trace *trace, bts_total_fn fn);

/**
 * bts_on_row - set the callback for each row that is not a branch
 * @trace:	the trace
 * @fn:		callback, or NULL
 */
void bts_on_row(struct bts_trace *trace, bts_row_fn fn);

/**
 * bts_on_call - set the callback for each entry into a traced function
 * @trace:	the trace
 * @fn:		callback, or NULL
 *
 * The library follows calls only if a callback for calls, returns or stacks is set.
 */
void bts_on_call(struct bts_trace *trace, bts_frame_fn fn);

/**
 * bts_on_return - set the callback for the end of each call of a traced function
 * @trace:	the trace
 * @fn:		callback, or NULL; called while the frame is still the innermost frame
 */
void bts_on_return(struct bts_trace *trace, bts_frame_fn fn);

/**
 * bts_on_stack - set the callback for stack switches and for guesses
 * @trace:	the trace
 * @fn:		callback, or NULL; called when a task switches to another stack, and when the
 *		library must guess on which stack or in which call a task continues
 */
void bts_on_stack(struct bts_trace *trace, bts_stack_fn fn);

/**
 * bts_on_progress - set the callback for the progress of bts_run()
 * @trace:	the trace
 * @fn:		callback, or NULL; called regularly while bts_run() reads the trace, and at the end
 *		with @done equal to @total
 */
void bts_on_progress(struct bts_trace *trace, bts_progress_fn fn);

/**
 * bts_run - read the trace
 * @trace:	the trace, which can be read only once
 * @ctx:	first argument of the callbacks
 *
 * At the end of the trace, bts_run() calls the callback of bts_on_return() for the remaining
 * frames, unless a callback has already ended bts_run().
 *
 * Return: 0 at the end of the trace, the value that a callback returned to end bts_run(), or a
 * negative errno value. If the file is damaged or truncated, bts_run() reads all intact data, and
 * returns -EBADMSG.
 */
int bts_run(struct bts_trace *trace, void *ctx);

/**
 * bts_totals - return the totals of a trace, including its losses
 * @trace:	the trace, after bts_run()
 *
 * Return: the totals.
 */
const struct bts_totals *bts_totals(struct bts_trace *trace);

/**
 * bts_bill - return the summary of a trace, as bts report(1) prints it at the end
 * @trace:	the trace, after bts_run()
 * @json:	return the summary as a JSON object
 *
 * Return: a string that ends with a newline; NULL after a failure. The string is valid until the
 * next bts_bill() or bts_warning().
 */
const char *bts_bill(struct bts_trace *trace, bool json);

/**
 * bts_warning - return a warning if a filter matches nothing in the trace
 * @trace:	the trace, after bts_run()
 *
 * Return: the warning, valid until the next bts_bill() or bts_warning(); NULL if there is none.
 */
const char *bts_warning(struct bts_trace *trace);

/* --- Tasks -------------------------------------------------------------------------- */

/**
 * bts_next_task - list the tasks of the trace
 * @trace:	the trace
 * @task:	the previous task, or NULL to begin
 *
 * Return: the next task, or NULL after the last task. During bts_run(), the list contains the
 * tasks that occur before the current position in the trace.
 */
const struct bts_task *bts_next_task(const struct bts_trace *trace, const struct bts_task *task);

/**
 * bts_task_pid - return the thread ID of a task
 * @task:	the task
 *
 * Return: the thread ID. In the first thread of a process, the thread ID equals the process ID.
 */
int bts_task_pid(const struct bts_task *task);

/**
 * bts_task_tgid - return the process ID of a task
 * @task:	the task
 *
 * Return: the process ID, or the thread ID if the trace does not contain the process ID.
 */
int bts_task_tgid(const struct bts_task *task);

/**
 * bts_task_comm - return the name of a task (comm)
 * @task:	the task
 *
 * Return: the task's name at the current position in the trace.
 */
const char *bts_task_comm(const struct bts_task *task);

/**
 * bts_task_cpu - return the CPU of a task
 * @task:	the task
 *
 * Return: the task's current or last CPU, or -1 if the task has not been on a CPU yet.
 */
int bts_task_cpu(const struct bts_task *task);

/**
 * bts_task_branches - return how many branches a task has executed
 * @task:	the task
 *
 * Return: the number of branches up to the current position in the trace.
 */
uint64_t bts_task_branches(const struct bts_task *task);

/* --- Names -------------------------------------------------------------------------- */

/**
 * bts_find - find the function at an address of a task
 * @trace:	the trace
 * @task:	the task, whose mappings at the current position in the trace are used
 * @addr:	the address
 * @place:	where to store the result
 */
void bts_find(struct bts_trace *trace, const struct bts_task *task, uint64_t addr,
	      struct bts_place *place);

/**
 * bts_place_text - convert a place to "function+0x12", "libfoo.so+0x1234" or an address
 * @place:	the place
 * @buffer:	where to store the string, with its terminating 0 byte
 * @size:	size of the buffer
 *
 * Return: the length of the full string. If this length is @size or more, the string was truncated.
 */
size_t bts_place_text(const struct bts_place *place, char *buffer, size_t size);

/**
 * bts_line - find the source file and the line of a place
 * @trace:	the trace
 * @place:	the place
 * @file:	where to store the path of the source file
 * @line:	where to store the line
 *
 * Return: 0; -ENOENT if the file and line are unknown; or another negative errno value.
 */
int bts_line(struct bts_trace *trace, const struct bts_place *place, const char **file,
	     unsigned int *line);

/**
 * bts_inlined - find a function that is inlined at a place
 * @trace:	the trace
 * @place:	the place
 * @depth:	0 for the outermost inlined function, 1 for the next inner inlined function, and so
 *		on
 *
 * Return: the inlined function; NULL if no function is inlined at this depth, or if memory runs
 * out.
 */
const struct bts_sym *bts_inlined(struct bts_trace *trace, const struct bts_place *place,
				  unsigned int depth);

/**
 * bts_kind_name - return the short name of a kind of branch
 * @kind:	the kind
 *
 * Return: the name that bts report(1) prints, such as "jcc" or "call".
 */
const char *bts_kind_name(enum bts_kind kind);

/**
 * bts_sym_name - return the name of a function
 * @sym:	the function
 *
 * Return: the name in the source; "[libfoo.so]" for code without a symbol. If several functions in
 * the file have the same name, the name usually includes arguments, a source file or an address.
 */
const char *bts_sym_name(const struct bts_sym *sym);

/**
 * bts_sym_linked - return the linker's name of a function
 * @sym:	the function
 *
 * Return: the name in the symbol table.
 */
const char *bts_sym_linked(const struct bts_sym *sym);

/**
 * bts_sym_object - return the name of the file that contains a function
 * @sym:	the function
 *
 * Return: the file's name without its directory, "[kernel]", or the name of a module.
 */
const char *bts_sym_object(const struct bts_sym *sym);

/**
 * bts_sym_path - return the path of the file that contains a function
 * @sym:	the function
 *
 * Return: the path of the file at the time when a process mapped the file.
 */
const char *bts_sym_path(const struct bts_sym *sym);

/**
 * bts_sym_addr - return the address of a function
 * @sym:	the function
 *
 * Return: the link-time address at which the function begins; 0 for code without a symbol.
 */
uint64_t bts_sym_addr(const struct bts_sym *sym);

/**
 * bts_sym_is - compare a function with a name
 * @sym:	the function
 * @name:	a name, or a pattern with * or ?
 *
 * Return: true if one of the function's names is equal to @name, or matches the pattern @name.
 */
bool bts_sym_is(const struct bts_sym *sym, const char *name);

/**
 * bts_sym_user - let the program attach its own data to a function
 * @sym:	the function
 *
 * Return: the address of a pointer. The pointer is NULL until the program sets it.
 */
void **bts_sym_user(const struct bts_sym *sym);

/* --- Calls -------------------------------------------------------------------------- */

/**
 * bts_depth - return how many frames a task has
 * @task:	the task
 *
 * Return: the number of frames on the task's current stack; 0 if calls are not followed.
 */
unsigned int bts_depth(const struct bts_task *task);

/**
 * bts_frame - return a frame of a task
 * @trace:	the trace
 * @task:	the task
 * @depth:	0 for the outermost frame, bts_depth() - 1 for the innermost frame
 *
 * Return: the frame, valid until the next bts_frame(); NULL if @depth is not less than bts_depth().
 */
const struct bts_frame *bts_frame(struct bts_trace *trace, const struct bts_task *task,
				  unsigned int depth);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
