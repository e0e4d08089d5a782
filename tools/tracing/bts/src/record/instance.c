// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of tracefs, and an instance of our own.
 *
 * Whatever the tool sets lies in an instance instances/bts-PID, so that two recordings do
 * not meet, and nothing is to be put back but the instance itself. undo.c sees to that.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracefs.h>

#include "bts.h"
#include "instance.h"
#include "undo.h"

#define PREFIX "bts-"
#define READ_STEP 65536

const char *tracefs_root(void)
{
	static const char *root;

	if (root)
		return root;
	root = tracefs_tracing_dir();
	if (!root) {
		if (geteuid())
			bts_error("find tracefs", NULL, "not mounted, and mounting wants root");
		else
			bts_errno("mount", "/sys/kernel/tracing");
		return NULL;
	}
	if (access(root, R_OK | X_OK)) {
		bts_error("open", root, "%s%s", strerror(errno),
			  errno == EACCES ? "; recording wants root, or rights to tracefs" : "");
		root = NULL;
	}
	return root;
}

/* --- Files -------------------------------------------------------------------------- */

static char *read_all(int fd, size_t *size)
{
	size_t used = 0, room = 0;
	char *text = NULL;
	ssize_t n;

	do {
		if (room - used < READ_STEP) {
			room = 2 * room + READ_STEP + 1;
			text = bts_realloc(text, room, 1);
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

char *file_read(const char *path, size_t *size)
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

long long file_read_number(const char *path)
{
	char *end, *text = file_read(path, NULL);
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

/* One write(): tracefs takes each as a whole. */
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

int file_write(const char *path, const char *text)
{
	return write_with(path, text, O_TRUNC);
}

int file_append(const char *path, const char *text)
{
	return write_with(path, text, O_APPEND);
}

/* --- The instance ------------------------------------------------------------------- */

/* Instances bts-PID of processes that have ended, and whose guards (undo.c) have too. */
static void remove_stale(const char *dir)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);

	if (!stream)
		return;
	while ((entry = readdir(stream))) {
		char *end, *path;
		long pid;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
		if (*end || pid <= 0 || !kill(pid, 0) || errno != ESRCH)
			continue;
		path = bts_format("%s/%s/current_tracer", dir, entry->d_name);
		file_write(path, "nop");
		*strrchr(path, '/') = 0;
		rmdir(path);
		free(path);
	}
	closedir(stream);
}

struct instance *instance_create(void)
{
	const char *root = tracefs_root();
	struct instance *inst;
	char *path;

	if (!root)
		return NULL;
	inst = bts_zalloc(1, sizeof(*inst));
	path = bts_format("%s/instances", root);
	remove_stale(path);
	inst->name = bts_format(PREFIX "%d", getpid());
	inst->path = bts_format("%s/%s", path, inst->name);
	free(path);
	rmdir(inst->path);
	if (mkdir(inst->path, 0700)) {
		bts_errno("make an instance", inst->path);
		free(inst->path);
		free(inst->name);
		free(inst);
		return NULL;
	}
	undo_rmdir(inst->path);
	path = instance_file(inst, "current_tracer");
	undo_write(path, "nop");
	free(path);
	return inst;
}

void instance_remove(struct instance *inst)
{
	undo_all();
	free(inst->path);
	free(inst->name);
	free(inst);
}

char *instance_file(const struct instance *inst, const char *file)
{
	return bts_format("%s/%s", inst->path, file);
}

static int instance_put(const struct instance *inst, const char *file, const char *text,
			int (*put)(const char *path, const char *text))
{
	char *path = instance_file(inst, file);
	int saved, ret = put(path, text);

	saved = errno;
	if (ret)
		bts_errno("write", path);
	free(path);
	errno = saved;
	return ret;
}

int instance_write(const struct instance *inst, const char *file, const char *text)
{
	return instance_put(inst, file, text, file_write);
}

int instance_append(const struct instance *inst, const char *file, const char *text)
{
	return instance_put(inst, file, text, file_append);
}

char *instance_read(const struct instance *inst, const char *file)
{
	char *path = instance_file(inst, file);
	char *text = file_read(path, NULL);

	free(path);
	return text;
}

long long instance_read_number(const struct instance *inst, const char *file)
{
	char *path = instance_file(inst, file);
	long long number = file_read_number(path);

	free(path);
	return number;
}

bool instance_has(const struct instance *inst, const char *file)
{
	char *path = instance_file(inst, file);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

/* Entries look like "[    6.33] bts: error: BTS or LBR is in use by perf", and more lines. */
char *instance_error(const struct instance *inst)
{
	char *text = instance_read(inst, "error_log");
	char *last = NULL, *result = NULL;

	for (char *at = text; at && (at = strstr(at, ": error: ")); at++)
		last = at + strlen(": error: ");
	if (last) {
		last[strcspn(last, "\n")] = 0;
		result = bts_strdup(last);
	}
	free(text);
	return result;
}

unsigned long long stats_number(const char *stats, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = stats; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ':')
			return strtoull(line + length + 1, NULL, 10);
	}
	return 0;
}
