/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check whether this process ignores SIGHUP. Make a child process end when its parent ends.
 *
 * Included by: cmd/, lib/.
 */
#ifndef BTS_PROCESS_H
#define BTS_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Report whether this process ignores SIGHUP, as under nohup(1). */
bool process_ignores_hangup(void);
/*
 * In a child process, ask the kernel to send SIGTERM when the parent process ends. Return false if
 * the process @parent has already ended.
 */
bool process_ends_with(pid_t parent);

#endif
