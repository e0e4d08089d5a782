/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape control characters in output to a terminal.
 *
 * Included by: bts.c, cmd/, lib/.
 */
#ifndef BTS_TERMINAL_H
#define BTS_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* If standard output or error is a terminal, print control characters there as \xNN. */
void terminal_guard(void);
/* Clear the screen if standard output is a terminal. */
void terminal_clear(void);
/*
 * If standard error is a terminal, show @done as a percentage of @total. Show nothing in the first
 * second after the first call. If @done equals @total, erase the percentage.
 */
void terminal_progress(void *ctx, uint64_t done, uint64_t total);
/* Return true if standard output is a terminal or a pipe. A pipe may lead to a pager. */
bool terminal_shares_output(void);
/* Print a control sequence unchanged. */
void terminal_control(FILE *out, const char *sequence);

#endif
