// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switch stacks. A scheduler runs three fibers in turn. The fibers yield at different depths, and
 * one fiber ends before the others. Then swapcontext() starts a coroutine, and siglongjmp() resumes
 * the coroutine.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "told.h"

#define FIBERS	3

char *told_stacks;
static ucontext_t scheduler, fibers[FIBERS];
static int ended[FIBERS];
static volatile int total, running;

void leaf(int n)
{
	total += n;
}

void give_way(void)
{
	leaf(running);
	swapcontext(&fibers[running], &scheduler);
	leaf(running);
}

void climb(int n)
{
	leaf(n);
	if (n)
		climb(n - 1);
	else
		give_way();
	leaf(n);
}

void fiber(void)
{
	int self = running;

	for (int i = 0; i < 2 + self; i++) {
		climb(self + i);
		leaf(self);
	}
	ended[self] = 1;
}

void resume(int n)
{
	running = n;
	leaf(n);
	swapcontext(&scheduler, &fibers[n]);
	leaf(n);
}

void schedule(void)
{
	int left = 1;

	while (left) {
		left = 0;
		for (int i = 0; i < FIBERS; i++) {
			if (ended[i])
				continue;
			resume(i);
			left = 1;
		}
	}
}

static ucontext_t creator, coroutine;
static sigjmp_buf here, there;

void change(sigjmp_buf *from, sigjmp_buf *to)
{
	leaf(6);
	if (!sigsetjmp(*from, 0))
		siglongjmp(*to, 1);
	leaf(7);
}

void work(int n)
{
	leaf(n);
	if (n)
		work(n - 1);
	else
		change(&there, &here);
	leaf(n);
}

void run(void)
{
	leaf(8);
	if (!sigsetjmp(there, 0))
		siglongjmp(here, 1);
	for (int i = 1;; i++)
		work(i);
}

void create(void)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = told_stacks + FIBERS * TOLD_STACK;
	coroutine.uc_stack.ss_size = TOLD_STACK;
	makecontext(&coroutine, run, 0);
	if (!sigsetjmp(here, 0))
		swapcontext(&creator, &coroutine);
	leaf(9);
}

int main(void)
{
	told_stacks = aligned_alloc(TOLD_STACK, TOLD_STACKS * TOLD_STACK);
	if (!told_stacks)
		return 1;
	for (int i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = told_stacks + i * TOLD_STACK;
		fibers[i].uc_stack.ss_size = TOLD_STACK;
		fibers[i].uc_link = &scheduler;
		makecontext(&fibers[i], fiber, 0);
	}
	schedule();
	create();
	for (int i = 0; i < 3; i++)
		change(&here, &there);
	leaf(total);
	return 0;
}
