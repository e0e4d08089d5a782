// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create, use and remove the tool's own tracefs instance.
 *
 * The tool changes settings only in its own instance, instances/bts-PID, so recordings do not
 * disturb each other. The probes that on.c adds are global, but do not collide, because their names
 * contain the PID of bts. At the end, undo.c removes the instance and the probes.
 *
 * The PID in the name does not show whether an instance is in use, because several PID namespaces
 * may contain the same PID. Therefore, the process that records in instances/bts-PID keeps this
 * directory locked with flock() until the process exits. While bts creates an instance or removes
 * stale instances, bts locks the directory "instances".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracefs.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "instance.h"
#include "undo.h"

#define PREFIX "bts-"

const char *instance_tracefs(void)
{
	static const char *root;

	if (root)
		return root;
	root = tracefs_tracing_dir();
	if (!root) {
		if (geteuid())
			msg_error("find tracefs", NULL, "not mounted, and only root can mount it");
		else
			msg_errno("mount", "/sys/kernel/tracing");
		return NULL;
	}
	if (access(root, R_OK | X_OK)) {
		msg_error("open", root, "%s%s", strerror(errno),
			  errno == EACCES ? "; the tracer needs root, or access to tracefs" : "");
		root = NULL;
	}
	return root;
}

/* --- The instance ------------------------------------------------------------------- */

/* Lock a directory with flock(). Return the directory's descriptor, or set errno and return -1. */
static int lock_directory(const char *path, int how)
{
	int saved, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !flock(fd, LOCK_EX | how))
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* Remove the instance if no process holds its lock. */
static void remove_if_stale(const char *path)
{
	int fd = lock_directory(path, LOCK_NB);
	char *tracer;

	if (fd < 0)
		return;
	tracer = mem_format("%s/current_tracer", path);
	path_write(tracer, "nop");
	rmdir(path);
	free(tracer);
	close(fd);
}

static void remove_stale(const char *dir)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);

	while (stream && (entry = readdir(stream))) {
		const char *pid = entry->d_name + strlen(PREFIX);
		char *path;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) || !*pid ||
		    pid[strspn(pid, "0123456789.")])
			continue;
		path = mem_format("%s/%s", dir, entry->d_name);
		remove_if_stale(path);
		free(path);
	}
	if (stream)
		closedir(stream);
}

/* Append a number to the name if another PID namespace has an instance for the same PID. */
static int make_directory(struct instance *inst, const char *dir)
{
	for (int i = 0;; i++) {
		inst->name = i ? mem_format(PREFIX "%d.%d", getpid(), i) :
				 mem_format(PREFIX "%d", getpid());
		inst->path = mem_format("%s/%s", dir, inst->name);
		if (!mkdir(inst->path, 0700))
			return 0;
		if (errno != EEXIST)
			return -1;
		free(inst->path);
		free(inst->name);
	}
}

static int make_locked(struct instance *inst, const char *dir)
{
	int all = lock_directory(dir, 0), ret = -1;

	remove_stale(dir);
	if (!make_directory(inst, dir)) {
		inst->lock = lock_directory(inst->path, 0);
		ret = 0;
	}
	if (ret)
		msg_errno("create an instance", inst->path);
	if (all >= 0)
		close(all);
	return ret;
}

static void free_instance(struct instance *inst)
{
	if (inst->lock >= 0)
		close(inst->lock);
	free(inst->path);
	free(inst->name);
	free(inst);
}

struct instance *instance_create(void)
{
	const char *root = instance_tracefs();
	struct instance *inst;
	char *path;
	int failed;

	if (!root)
		return NULL;
	inst = mem_zalloc(1, sizeof(*inst));
	inst->lock = -1;
	path = mem_format("%s/instances", root);
	failed = make_locked(inst, path);
	free(path);
	if (failed) {
		free_instance(inst);
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
	if (inst->maps)
		free_instance(inst->maps);
	free_instance(inst);
}

char *instance_file(const struct instance *inst, const char *file)
{
	return mem_format("%s/%s", inst->path, file);
}

static int instance_put(const struct instance *inst, const char *file, const char *text,
			int (*put)(const char *path, const char *text))
{
	char *path = instance_file(inst, file);
	int saved, ret = put(path, text);

	saved = errno;
	if (ret)
		msg_errno("write", path);
	free(path);
	errno = saved;
	return ret;
}

int instance_write(const struct instance *inst, const char *file, const char *text)
{
	return instance_put(inst, file, text, path_write);
}

int instance_append(const struct instance *inst, const char *file, const char *text)
{
	return instance_put(inst, file, text, path_append);
}

char *instance_read(const struct instance *inst, const char *file)
{
	char *path = instance_file(inst, file);
	char *text = path_read(path, NULL);

	free(path);
	return text;
}

long long instance_read_number(const struct instance *inst, const char *file)
{
	char *path = instance_file(inst, file);
	long long number = path_read_number(path);

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

/* An entry of error_log has the form "[TIME] bts: error: TEXT". Return the last TEXT. */
char *instance_error(const struct instance *inst)
{
	char *text = instance_read(inst, "error_log");
	char *last = NULL, *result = NULL;

	for (char *at = text; at && (at = strstr(at, ": error: ")); at++)
		last = at + strlen(": error: ");
	if (last) {
		last[strcspn(last, "\n")] = 0;
		result = mem_strdup(last);
	}
	free(text);
	return result;
}
