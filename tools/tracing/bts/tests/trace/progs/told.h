/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program with several stacks defines told_stacks, so that told.c knows where the stacks are.
 */
#ifndef TOLD_H
#define TOLD_H

#define TOLD_STACK	65536UL
#define TOLD_STACKS	8

/* The start of the memory in which the stacks lie one after another. */
extern char *told_stacks __attribute__((weak));

#endif
