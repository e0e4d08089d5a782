/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follow call stacks from branch to branch.
 *
 * Included by: api/, flow/, diff/, dump/, tui/, cmd/.
 */
#ifndef BTS_CALLS_H
#define BTS_CALLS_H

#include "pipeline.h"

struct inlined;

enum frame_kind {
	FRAME_ROOT,		/* older than the trace, or entered in an unknown way */
	FRAME_CALL,
	FRAME_TAIL,		/* entered by a jump; returns to the jumping function's caller */
	FRAME_SYSCALL,
	FRAME_INTERRUPT,	/* interrupt or exception */
	FRAME_SIGNAL,		/* signal handler, called by the kernel */
	FRAME_GUESS,		/* found after a gap */
	FRAME_INLINED,		/* inlined into the function of the outer frame */
};

/**
 * struct frame - a function that is being executed
 * @part:	the split-off part of @sym, such as f.cold, if @sym has jumped to it; else NULL
 * @inlined:	the inlined call; NULL if the function is not inlined
 * @site:	the call instruction; if unknown, the start of @sym
 * @ret:	the return address; 0 if unknown
 * @kind:	how the function was entered
 * @approx:	@ret is the address of the call instruction, up to 15 bytes before the return
 *		address
 * @user:	the system call or interrupt came from user space
 * @sigreturn:	the system call is rt_sigreturn()
 * @serial:	number of the frame, unique within the task
 * @insns_at:	number of instructions that the task had executed when the frame began
 * @branches_at: number of branches that the task had taken when the frame began
 * @insns:	number of instructions executed in the function itself
 * @branches:	number of branches taken in the function itself
 * @ts:		time at which the frame began
 * @node:	data that the caller of calls_of() keeps for this frame
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
	/* Called after the new frame @f has become the innermost one. Each callback may be NULL. */
	void	(*enter)(struct calls *c, struct frame *f);
	/* Called when @f ends. If calls->closing is set, @f ends because the trace or task ends. */
	void	(*leave)(struct calls *c, struct frame *f);
	/*
	 * Called if a later branch shows that the frame @f belongs to another stack. The frame is
	 * detached from its stack, and then attached to the other stack. During @detach and
	 * @attach, @f is the innermost frame of calls->now. Do not count the call of @f again.
	 */
	void	(*detach)(struct calls *c, struct frame *f);
	void	(*attach)(struct calls *c, struct frame *f);
	/* Called when the task continues on another stack, which may be new. */
	void	(*change)(struct calls *c);
	/* Called when the current stack has been guessed. */
	void	(*guess)(struct calls *c);
};

struct point;

/**
 * struct stack - a call stack of a task
 * @frames:	the frames, outermost first
 * @depth:	number of frames
 * @nr_entries:	number of system calls and interrupts among the frames
 * @points:	calls of setjmp(), outermost first
 * @id:		number of the stack; the first stack of a task is 0
 * @doubtful:	the stack was guessed, so the task may be on another stack
 * @insns:	number of instructions that the task executed before it left this stack
 * @branches:	number of branches that the task took before it left this stack
 */
struct stack {
	struct frame	*frames;
	uint32_t	depth;
	uint32_t	nr_entries;
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
 * struct calls - the call stacks of a task
 * @ops:	the callbacks that were passed to calls_of()
 * @ctx:	the pointer that was passed to calls_of(), for the callbacks
 * @now:	the current stack
 * @others:	the other stacks, in the order in which the task left them
 * @serial:	frame.serial of the newest frame
 * @insns:	number of instructions that the task has executed so far
 * @branches:	number of branches that the task has taken so far
 * @ts:		time of the last branch
 * @exec:	the task has mapped a new program since it last entered the kernel
 * @lost:	branches are missing, so the next branch may not match the stack
 * @hidden:	copy of task.hidden at the last branch; task.hidden grows if filters hide branches
 * @guessed:	a stack has been guessed since the last exec()
 * @closing:	the frames end because the trace or the task ends
 * @node:	data that the caller of calls_of() keeps for this task
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
	unsigned int		hidden;
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

/* Return the number of frames, without the inlined frames on top. */
static inline uint32_t calls_depth(const struct calls *c)
{
	uint32_t depth = c->now.depth;

	while (depth && c->now.frames[depth - 1].kind == FRAME_INLINED)
		depth--;
	return depth;
}

/* Return the innermost frame that is not inlined, or NULL. */
static inline struct frame *calls_real(struct calls *c)
{
	uint32_t depth = calls_depth(c);

	return depth ? &c->now.frames[depth - 1] : NULL;
}

/*
 * Report whether the step stays in the innermost function. For such a step, calls_step() only
 * counts the instructions and the branch.
 */
static inline bool calls_stays(const struct calls *c, const struct step *s)
{
	const struct frame *top = c->now.depth ? &c->now.frames[c->now.depth - 1] : NULL;

	return s->kind <= BRANCH_JUMP_IND && top && !c->lost && top->kind != FRAME_INLINED &&
	       s->at_start.sym == top->sym && s->at_from.sym == top->sym &&
	       s->at_to.sym == top->sym && !c->pipe->inlines;
}

/* Find or create the stacks of the task. */
struct calls *calls_of(struct pipe *pipe, struct task *task, const struct calls_ops *ops,
		       void *ctx);
void calls_step(struct calls *c, const struct step *s, uint64_t ts);
/* Update the stacks after a non-branch row, such as a loss, a signal or the end of the task. */
void calls_row(struct calls *c, const struct row *row);
void calls_end(struct calls *c);
/* End all frames and free the stacks. */
void calls_free(struct task *task);

#endif
