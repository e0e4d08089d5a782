/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What told.c wants to know of a program with several stacks.
 */
#ifndef TOLD_H
#define TOLD_H

#define TOLD_STACK	65536UL
#define TOLD_STACKS	8

/* They lie here, one after the other. */
extern char *told_stacks __attribute__((weak));

#endif
