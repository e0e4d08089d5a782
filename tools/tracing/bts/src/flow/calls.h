/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call stacks, followed from branch to branch.
 *
 * Included by: api/, flow/, diff/, dump/, tui/, cmd/.
 */
#ifndef BTS_CALLS_H
#define BTS_CALLS_H

#include "pipeline.h"

struct inlined;

enum frame_kind {
	FRAME_ROOT,		/* it was there before the trace, or nothing is known */
	FRAME_CALL,
	FRAME_TAIL,		/* jumped to: returns to where the one below it returns */
	FRAME_SYSCALL,
	FRAME_INTERRUPT,	/* interrupt or exception */
	FRAME_SIGNAL,		/* a handler that the kernel has made the program call */
	FRAME_GUESS,		/* met after a gap */
	FRAME_INLINED,		/* the code of the frame before it contains that of this one */
};

/**
 * struct frame - a function that is being executed
 * @sym:	the function
 * @part:	code that the compiler has cut out of @sym, and that @sym has jumped to; or NULL
 * @inlined:	the call, if the compiler has inlined it
 * @site:	where it was called
 * @ret:	where it returns to; 0: not known
 * @kind:	how it was entered
 * @approx:	@ret is the address of the call: it returns up to 15 bytes after it
 * @user:	of a system call or interrupt: user space was interrupted
 * @sigreturn:	the system call is rt_sigreturn()
 * @serial:	differs for each frame of the task
 * @insns_at:	that the task had executed when it was entered
 * @branches_at: that the task had taken
 * @insns:	executed in the function itself
 * @branches:	taken there
 * @ts:		when it was entered
 * @node:	a command's own
 */
struct frame {
	struct sym		*sym;
	struct sym		*part;
	const struct inlined	*inlined;
	struct place		site;
	uint64_t		ret;
	uint8_t			kind;
	bool			approx;
	bool			user;
	bool			sigreturn;
	uint64_t		serial;
	uint64_t		insns_at;
	uint64_t		branches_at;
	uint64_t		insns;
	uint64_t		branches;
	uint64_t		ts;
	void			*node;
};

struct calls;

struct calls_ops {
	/* A frame is the innermost from now on. */
	void	(*enter)(struct calls *c, struct frame *f);
	/* The innermost one ends; with calls->closing because the trace does. */
	void	(*leave)(struct calls *c, struct frame *f);
	/* The task continues on another of its stacks, which may be new. May be NULL. */
	void	(*change)(struct calls *c);
	/* The innermost frame is a guess. May be NULL. */
	void	(*guess)(struct calls *c);
};

struct point;

/**
 * struct stack - a stack that the task has left, and on which it may continue
 * @frames:	outermost first
 * @depth:	frames in @frames
 * @points:	calls of setjmp(), outermost first
 * @id:		of the task's stacks, 0 is the first
 * @doubtful:	the task may have continued on another one instead
 * @insns:	that the task had executed when it left the stack
 * @branches:	that the task had taken
 */
struct stack {
	struct frame	*frames;
	uint32_t	depth;
	uint32_t	room;
	struct point	*points;
	uint32_t	nr_points;
	uint32_t	points_room;
	uint32_t	id;
	bool		doubtful;
	uint64_t	insns;
	uint64_t	branches;
};

/**
 * struct calls - the stacks of a task
 * @task:	the task
 * @ops:	what the command wants to know
 * @ctx:	the command's own
 * @now:	the stack that the task is on
 * @others:	stacks that have been left, the one that was left first at the beginning
 * @serial:	of the last frame
 * @insns:	executed by the task so far
 * @branches:	taken
 * @ts:		of the last one
 * @exec:	the task has mapped a new program since it entered the kernel
 * @lost:	branches are missing: the next one need not fit the stack
 * @guessed:	the stacks are a guess, or have been one
 * @closing:	the frames end because the trace or the task does
 * @node:	a command's own: of the task
 */
struct calls {
	struct pipe		*pipe;
	struct task		*task;
	const struct calls_ops	*ops;
	void			*ctx;
	struct stack		now;
	struct stack		*others;
	uint32_t		nr_others;
	uint32_t		others_room;
	uint64_t		serial;
	uint64_t		insns;
	uint64_t		branches;
	uint64_t		ts;
	bool			exec;
	bool			lost;
	bool			guessed;
	bool			closing;
	void			*node;
};

static inline struct frame *calls_top(struct calls *c)
{
	return c->now.depth ? &c->now.frames[c->now.depth - 1] : NULL;
}

/* The innermost frame that is not inlined; NULL if there is none. */
struct frame *calls_real(struct calls *c);
/* Of the task: its stacks, made if it has none. */
struct calls *calls_of(struct pipe *pipe, struct task *task, const struct calls_ops *ops,
		       void *ctx);
void calls_step(struct calls *c, const struct step *s, uint64_t ts);
/* What a row means for the stack: losses, the task's end, a new program. */
void calls_row(struct calls *c, const struct row *row);
/* Ends all frames that are left. */
void calls_end(struct calls *c);
/* The same, and frees the stacks. */
void calls_free(struct task *task);

#endif
