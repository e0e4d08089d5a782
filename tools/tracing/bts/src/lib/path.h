/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that are read or written whole.
 *
 * Included by: any file.
 */
#ifndef BTS_PATH_H
#define BTS_PATH_H

#include <stddef.h>
#include <sys/stat.h>

/*
 * Read a file into memory of its own, with a 0 after the last byte. Returns NULL with errno.
 * @size may be NULL.
 */
char *path_read(const char *path, size_t *size);
/* Read the number that a file begins with. Returns -1 with errno. */
long long path_read_number(const char *path);
/*
 * Open a regular file for reading, with @flags as well. Return -1 with errno, EINVAL if it is of
 * another kind; opening a FIFO does not wait.
 */
int path_open(const char *path, int flags, struct stat *st);
/* Make a file below the directory @dir in place of what has this name. Return -1 with errno. */
int path_create_at(int dir, const char *path);
/* Return 0, or -1 with errno. */
int path_write_all(int fd, const void *data, size_t size);
/* Write text into an existing file. Returns 0, or -1 with errno. */
int path_write(const char *path, const char *text);
/* Append text, which is how set_ftrace_pid and triggers take an entry more. */
int path_append(const char *path, const char *text);

#endif
