/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register changes that the tool undoes in reverse order when the tool ends.
 *
 * Included by: record/.
 */
#ifndef BTS_UNDO_H
#define BTS_UNDO_H

/* Register a line of text to write into a file. */
void undo_write(const char *path, const char *text);
/* Register a directory to remove. */
void undo_rmdir(const char *path);
/* Undo all changes now, as exit() also does. */
void undo_all(void);

#endif
