/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read and write whole files.
 *
 * Included by: any file.
 */
#ifndef BTS_PATH_H
#define BTS_PATH_H

#include <stddef.h>
#include <sys/stat.h>

/*
 * Read a file into new memory, with a 0 after the last byte. On failure, return NULL with errno.
 * @size may be NULL.
 */
char *path_read(const char *path, size_t *size);
/* Read the number at the beginning of a file. On failure, return -1 with errno. */
long long path_read_number(const char *path);
/*
 * Open a regular file for reading, with @flags added. Do not wait for the writer of a FIFO. On
 * failure, return -1 with errno, which is EINVAL for a file that is not regular.
 */
int path_open(const char *path, int flags, struct stat *st);
/* Create a file below @dir, replacing any old file. On failure, return -1 with errno. */
int path_create_at(int dir, const char *path);
/* Return 0, or -1 with errno. */
int path_write_all(int fd, const void *data, size_t size);
/* Replace the contents of an existing file. Return 0, or -1 with errno. */
int path_write(const char *path, const char *text);
/* Append text. Files such as set_ftrace_pid and trigger add the text as an entry. */
int path_append(const char *path, const char *text);

#endif
