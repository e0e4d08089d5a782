// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instance of our own in tracefs.
 *
 * Whatever the tool sets lies in an instance instances/bts-PID, so that two recordings do
 * not meet, and only the instance is to be removed, and the probes of on.c, which are global.
 * undo.c sees to that.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
			msg_error("find tracefs", NULL, "not mounted, and mounting wants root");
		else
			msg_errno("mount", "/sys/kernel/tracing");
		return NULL;
	}
	if (access(root, R_OK | X_OK)) {
		msg_error("open", root, "%s%s", strerror(errno),
			  errno == EACCES ? "; recording wants root, or rights to tracefs" : "");
		root = NULL;
	}
	return root;
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
		path = mem_format("%s/%s/current_tracer", dir, entry->d_name);
		path_write(path, "nop");
		*strrchr(path, '/') = 0;
		rmdir(path);
		free(path);
	}
	closedir(stream);
}

struct instance *instance_create(void)
{
	const char *root = instance_tracefs();
	struct instance *inst;
	char *path;

	if (!root)
		return NULL;
	inst = mem_zalloc(1, sizeof(*inst));
	path = mem_format("%s/instances", root);
	remove_stale(path);
	inst->name = mem_format(PREFIX "%d", getpid());
	inst->path = mem_format("%s/%s", path, inst->name);
	free(path);
	rmdir(inst->path);
	if (mkdir(inst->path, 0700)) {
		msg_errno("make an instance", inst->path);
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

/* Entries look like "[    6.33] bts: error: BTS or LBR is in use by perf", and more lines. */
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
