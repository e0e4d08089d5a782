/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between host.c and host_emulator.c.
 */
#ifndef BTS_HOST_H
#define BTS_HOST_H

#include <stdbool.h>

#define STATUS_TROUBLE	123
#define STATUS_TIMEOUT	124
#define STATUS_LOST	125

/* Indexes of the emulator's sockets: 0 is the monitor, and 1 to 4 are the guest's ports. */
enum { MONITOR, SOCKETS = WIRE_PORTS };
extern int sockets[SOCKETS];

/* Start the emulator. This function closes the descriptor @initramfs. */
void emulator_start(char **argv, const char *console, int initramfs);
bool emulator_lost(void);
void emulator_info(const char *path);
void emulator_stop(void);
void console_show_tail(const char *console);
bool console_has_trouble(const char *console, const char *trouble);

#endif
