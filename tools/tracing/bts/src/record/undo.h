/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to be put back on each way out, in the reverse order of these calls.
 *
 * Included by: record/.
 */
#ifndef BTS_UNDO_H
#define BTS_UNDO_H

/* TEXT, one line, is to be written into PATH. */
void undo_write(const char *path, const char *text);
/* The directory is to be removed. */
void undo_rmdir(const char *path);
/* Does all of it, now. At exit() it is done by itself. */
void undo_all(void);

#endif
