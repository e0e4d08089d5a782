/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep control characters in the output away from the terminal.
 *
 * Included by: bts.c, cmd/, lib/.
 */
#ifndef BTS_TERMINAL_H
#define BTS_TERMINAL_H

/* If standard output or error is a terminal, print control characters there as \xNN from now on. */
void terminal_guard(void);
/* Clear the screen if standard output is a terminal. */
void terminal_clear(void);

#endif
