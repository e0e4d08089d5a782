// SPDX-License-Identifier: GPL-2.0-only
/*
 * At the end of a program that is built with -finstrument-functions, print the depth and the
 * address of each entered function, in order.
 *
 * The depth is computed from the addresses of frames. When a function is entered, all frames at
 * lower addresses than the new frame have ended, and are forgotten. So longjmp() and exceptions may
 * skip __cyg_profile_func_exit(). But each return must call __cyg_profile_func_exit(). Otherwise,
 * the next function might look like a callee of the function that returned. If a program has
 * several stacks, the stacks lie one after another at told_stacks, with TOLD_STACK bytes each.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "told.h"

#define ENTRIES_MAX	(1 << 16)
#define DEPTH_MAX	256

static struct {
	unsigned int	depth;
	void		*function;
} entries[ENTRIES_MAX];

static struct {
	uintptr_t	frames[DEPTH_MAX];
	unsigned int	depth;
} stacks[1 + TOLD_STACKS];

static unsigned int nr;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static unsigned int stack_of(uintptr_t frame)
{
	uintptr_t begin = &told_stacks ? (uintptr_t)told_stacks : 0;

	if (!begin || frame < begin || frame - begin >= TOLD_STACKS * TOLD_STACK)
		return 0;
	return 1 + (frame - begin) / TOLD_STACK;
}

/* Forget the frames at or below @frame, and return the index of their stack in stacks[]. */
static unsigned int forget(uintptr_t frame)
{
	unsigned int stack = stack_of(frame);
	unsigned int depth = stacks[stack].depth;

	while (depth && stacks[stack].frames[depth - 1] <= frame)
		depth--;
	stacks[stack].depth = depth;
	return stack;
}

void __cyg_profile_func_enter(void *function, void *site)
{
	/* This function's frame pointer points to the saved frame pointer of the caller. */
	uintptr_t frame = *(uintptr_t *)__builtin_frame_address(0);
	unsigned int stack = forget(frame);

	(void)site;
	if (stacks[stack].depth == DEPTH_MAX || nr == ENTRIES_MAX)
		abort();
	stacks[stack].frames[stacks[stack].depth++] = frame;
	entries[nr].depth = stacks[stack].depth;
	entries[nr++].function = function;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
	forget(*(uintptr_t *)__builtin_frame_address(0));
}

static void __attribute__((destructor)) tell(void)
{
	for (unsigned int i = 0; i < nr; i++)
		printf("%u %lx\n", entries[i].depth, (unsigned long)entries[i].function);
}
