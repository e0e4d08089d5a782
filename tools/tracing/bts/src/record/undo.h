/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register changes that are undone however the tool ends, in the reverse order of these calls.
 *
 * Included by: record/.
 */
#ifndef BTS_UNDO_H
#define BTS_UNDO_H

/* Register one line of text to be written into a file. */
void undo_write(const char *path, const char *text);
/* Register a directory to be removed. */
void undo_rmdir(const char *path);
/* Undo all changes now. exit() does the same. */
void undo_all(void);

#endif
