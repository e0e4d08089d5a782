/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run a function with a large stack.
 *
 * Included by: lib/, diff/, why/.
 */
#ifndef BTS_LARGE_STACK_H
#define BTS_LARGE_STACK_H

#include <stdbool.h>

/*
 * Call @function in a thread whose stack is large enough for deeply nested calls, and wait until
 * the thread ends. On failure, print a message and return false.
 */
bool on_large_stack(void (*function)(void *ctx), void *ctx);

#endif
