/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Change the frames and stacks of a task. The files calls.c and arrive.c use these functions.
 *
 * Included by: flow/.
 */
#ifndef BTS_FRAMES_H
#define BTS_FRAMES_H

#include "calls.h"

/**
 * struct point - a call of setjmp() or of a similar function
 * @addr:	the return address, to which longjmp() leads
 * @serial:	frame.serial of the frame that called setjmp()
 * @index:	index of the frame that called setjmp()
 * @used:	longjmp() has led to @addr since this setjmp() call
 */
struct point {
	uint64_t	addr;
	uint64_t	serial;
	uint32_t	index;
	bool		used;
};

/* frames.c */
void push(struct calls *c, enum frame_kind kind, struct sym *sym, const struct place *site,
	  uint64_t ret);
void pop(struct calls *c);
void pop_to(struct calls *c, uint32_t depth);
/*
 * Replace the inlined frames at the top of the stack: add one frame for @in, and one for each
 * inlined call that contains @in. If @in is NULL, only remove the inlined frames.
 */
void set_inlined(struct calls *c, const struct inlined *in, const struct place *site);
/* Report whether @sym is the frame's function or a part of that function. */
bool frame_has(struct frame *f, struct sym *sym);
bool is_entry(const struct frame *f);
bool returns_to(const struct frame *f, uint64_t to);
/* Return the index of the first frame of the innermost chain of tail calls. */
uint32_t chain_begin(const struct calls *c);
/*
 * Return the index of the innermost system call or interrupt, or 0. No jump or ret leads further
 * out. Skip signal handlers, because siglongjmp() jumps from a handler to an outer frame.
 */
uint32_t side_begin(const struct calls *c);
/* Search the frames from index @begin. Return the index of @sym's innermost frame, or -1. */
int64_t find_sym(const struct calls *c, const struct sym *sym, uint32_t begin);
/*
 * Search the frames from index @begin for the innermost frame that returns to @to. If this frame is
 * part of a chain of tail calls, choose the chain's first frame. Return the frame's index, or -1.
 */
int64_t find_ret(const struct calls *c, uint64_t to, uint32_t begin);
/* Mark the current stack as a guess, and count the guess. */
void guess(struct calls *c);
/* Move the frames at index @depth and above from c->others[i] to the top of the current stack. */
void move_frames(struct calls *c, uint32_t i, uint32_t depth);
/* Continue on c->others[i]. If @i is c->nr_others, continue on a new stack. */
void change_stack(struct calls *c, uint32_t i);
void end_stacks(struct calls *c);
/* End all frames, and free the stacks. Later branches of the task may add new frames. */
void free_stacks(struct calls *c);

/* arrive.c: record that the innermost frame is setjmp() or a similar function. */
void note_point(struct calls *c);
/*
 * Find the frame to which a branch in user space leads, or begin a new stack. Call this function
 * only if the branch is an indirect jump, a ret that matches no frame, or a stack switch. If the
 * branch leads to no frame and begins no stack, do not change the stacks, and return false.
 */
bool arrive(struct calls *c, const struct step *s);

#endif
