/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is printed on a terminal cannot control it.
 *
 * Included by: bts.c, cmd/, lib/.
 */
#ifndef BTS_TERMINAL_H
#define BTS_TERMINAL_H

/* From here on, control characters on standard output and error are printed as \xNN. */
void terminal_guard(void);
/* Clears the screen if standard output is a terminal. */
void terminal_clear(void);

#endif
