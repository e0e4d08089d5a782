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
 * Read a file into allocated memory, and add a 0 after the last byte. On failure, return NULL and
 * set errno. The argument @size may be NULL.
 */
char *path_read(const char *path, size_t *size);
/* Read the number at the beginning of a file. On failure, return -1 and set errno. */
long long path_read_number(const char *path);
/*
 * Open a regular file for reading, with additional @flags. On failure, return -1 and set errno. If
 * the file is not a regular file, for example a directory or a FIFO, errno is EINVAL.
 */
int path_open(const char *path, int flags, struct stat *st);
/* Create a file below @dir. Replace any old file. On failure, return -1 and set errno. */
int path_create_at(int dir, const char *path);
/* Return 0, or return -1 and set errno. */
int path_write_all(int fd, const void *data, size_t size);
/* Replace the contents of an existing file. Return 0, or return -1 and set errno. */
int path_write(const char *path, const char *text);
/* Append text to a file. In a tracefs file such as `trigger`, the text becomes a new entry. */
int path_append(const char *path, const char *text);

#endif
