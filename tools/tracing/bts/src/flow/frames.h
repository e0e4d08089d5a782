/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files that follow calls share: frames, and the stacks of a task.
 *
 * Included by: flow/.
 */
#ifndef BTS_FRAMES_H
#define BTS_FRAMES_H

#include "calls.h"

/**
 * struct point - a call of setjmp(), or of a similar function
 * @addr:	the return address, to which longjmp() leads
 * @serial:	of the frame that made the call
 * @index:	of the frame that made the call
 * @used:	a longjmp() has led there
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
/* Frames up to the innermost one that is not inlined. */
uint32_t real_depth(const struct calls *c);
/* Put the inlined calls up to @in, or none if it is NULL, on top of the innermost real frame. */
void set_inlined(struct calls *c, const struct inlined *in, const struct place *site);
/* Is the function, or the part of one, the frame's? */
bool frame_has(struct frame *f, struct sym *sym);
bool is_entry(const struct frame *f);
bool returns_to(const struct frame *f, uint64_t to);
/* Frames from this one on: the innermost one, with those that it has come through by jumps. */
uint32_t chain_begin(const struct calls *c);
/*
 * Below this one are the frames of the other side. A signal's handler may be left by
 * siglongjmp(), so what it has interrupted belongs to its side.
 */
uint32_t side_begin(const struct calls *c);
/* The innermost frame of the function, from @begin on; -1 if there is none. */
int64_t find_sym(const struct calls *c, const struct sym *sym, uint32_t begin);
/* The innermost frame that returns to @to, tail calls with it; -1 if there is none. */
int64_t find_ret(const struct calls *c, uint64_t to, uint32_t begin);
/* Mark the stack as a guess from here on, and count the guess. */
void guess(struct calls *c);
/* Move the frames of stack @i of the others, from @depth on, on top of the current stack's. */
void move_frames(struct calls *c, uint32_t i, uint32_t depth);
/* Continue on stack @i of the others, or, if there are only @i, on a new stack. */
void change_stack(struct calls *c, uint32_t i);
/* End all stacks. */
void end_stacks(struct calls *c);

/* arrive.c: note that the innermost frame is that of setjmp(), or of a similar function. */
void note_point(struct calls *c);
/*
 * Find the frame to which a jump or ret of the program leads, if the jump is not a tail call and
 * the ret fits no frame. Return false, with nothing changed, if none of the rules applies.
 */
bool arrive(struct calls *c, const struct step *s);

#endif
