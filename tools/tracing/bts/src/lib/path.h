/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are read or written whole.
 *
 * Included by: any file.
 */
#ifndef BTS_PATH_H
#define BTS_PATH_H

#include <stddef.h>

/*
 * Read a file into memory of its own, with a 0 after the last byte. Returns NULL with errno.
 * @size may be NULL.
 */
char *path_read(const char *path, size_t *size);
/* Read the number that a file begins with. Returns -1 with errno. */
long long path_read_number(const char *path);
/* Write text into an existing file. Returns 0, or -1 with errno. */
int path_write(const char *path, const char *text);
/* Append text, which is how set_ftrace_pid and triggers take an entry more. */
int path_append(const char *path, const char *text);

#endif
