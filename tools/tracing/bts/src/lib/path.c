// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read and write whole files. The size of a tracefs or /proc file is unknown in advance, so read
 * until the end of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "path.h"

#define READ_STEP 65536

static char *read_all(int fd, size_t *size)
{
	size_t used = 0, room = 0;
	char *text = NULL;
	ssize_t n;

	do {
		if (room - used < READ_STEP) {
			room = 2 * room + READ_STEP + 1;
			text = mem_realloc(text, room, 1);
		}
		n = read(fd, text + used, room - used - 1);
		if (n > 0)
			used += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[used] = 0;
	if (size)
		*size = used;
	return text;
}

char *path_read(const char *path, size_t *size)
{
	int saved, fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0)
		return NULL;
	text = read_all(fd, size);
	saved = errno;
	close(fd);
	errno = saved;
	return text;
}

long long path_read_number(const char *path)
{
	char *end, *text = path_read(path, NULL);
	long long number;

	if (!text)
		return -1;
	number = strtoll(text, &end, 0);
	if (end == text) {
		errno = EINVAL;
		number = -1;
	}
	free(text);
	return number;
}

int path_open(const char *path, int flags, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

int path_create_at(int dir, const char *path)
{
	/* If an old file cannot be removed, openat() fails, because the file still exists. */
	unlinkat(dir, path, 0);
	return openat(dir, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int path_write_all(int fd, const void *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data = (const char *)data + n;
		size -= n;
	}
	return 0;
}

/* Use a single write(), because tracefs parses the text of each write() separately. */
static int write_with(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	int saved, ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	saved = errno;
	if (close(fd) && !ret) {
		saved = errno;
		ret = -1;
	}
	errno = saved;
	return ret;
}

int path_write(const char *path, const char *text)
{
	return write_with(path, text, O_TRUNC);
}

int path_append(const char *path, const char *text)
{
	return write_with(path, text, O_APPEND);
}
