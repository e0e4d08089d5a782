/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register actions that undo the tool's changes. When the tool ends, the actions run in reverse
 * order.
 *
 * Included by: record/.
 */
#ifndef BTS_UNDO_H
#define BTS_UNDO_H

/* Register an action that writes a line of text into a file. */
void undo_write(const char *path, const char *text);
/* Register an action that removes a directory. */
void undo_rmdir(const char *path);
/* Undo all changes now, before the tool ends. */
void undo_all(void);

#endif
