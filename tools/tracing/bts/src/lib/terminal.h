/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep control characters in the output away from the terminal.
 *
 * Included by: bts.c, cmd/, lib/.
 */
#ifndef BTS_TERMINAL_H
#define BTS_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* If standard output or error is a terminal, print control characters there as \xNN from now on. */
void terminal_guard(void);
/* Clear the screen if standard output is a terminal. */
void terminal_clear(void);
/*
 * If standard error is a terminal and more than a second has passed since the first call with
 * @done < @total, show the percentage. With @done == @total, erase the percentage.
 */
void terminal_progress(void *ctx, uint64_t done, uint64_t total);
/* Report whether standard output may appear where the percentage is: on a terminal, in a pager. */
bool terminal_shares_output(void);
/* Print a control sequence unchanged. */
void terminal_control(FILE *out, const char *sequence);

#endif
