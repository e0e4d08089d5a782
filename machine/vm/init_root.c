// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's file system, see init.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

/* The options of every 9p mount; access=any because the host checks nothing per user. */
#define OPTS_9P		"trans=virtio,version=9p2000.L,access=any,msize=512000"

static void mount_or_die(const char *src, const char *dir, const char *type,
			 unsigned long flags, const char *opts)
{
	if (mount(src, dir, type, flags, opts))
		die("mount %s on %s", type ? type : src, dir);
}

/* For file systems that this kernel or this host may lack. */
static void mount_if(const char *src, const char *dir, const char *type)
{
	if (!access(dir, F_OK))
		mount(src, dir, type, 0, NULL);
}

static void make_dirs(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	for (slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(dir, 0755);
		*slash = '/';
	}
	mkdir(dir, 0755);
}

static const char * const tmpfs_dirs[] = { "/tmp", "/run", "/var/tmp", "/mnt" };

static bool below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

static bool hidden(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(tmpfs_dirs) / sizeof(tmpfs_dirs[0]); i++)
		if (below(path, tmpfs_dirs[i]))
			return true;
	return false;
}

/* Shows a directory again that a tmpfs hides; read-only, like the rest. */
static void keep_dir(const char *path)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (!path || !hidden(path))
		return;
	snprintf(from, sizeof(from), "/host%s", path);
	snprintf(to, sizeof(to), "/new%s", path);
	if (access(from, F_OK))
		return;
	make_dirs(to);
	mount_or_die(from, to, NULL, MS_BIND, NULL);
}

static void mount_share(int nr, const char *path)
{
	char tag[16], to[PATH_MAX];

	snprintf(tag, sizeof(tag), "share%d", nr);
	snprintf(to, sizeof(to), "/new%s", path);
	if (hidden(path))
		make_dirs(to);
	/* Not cached: what the guest has written is on the host even if the guest is lost. */
	mount_or_die(tag, to, "9p", 0, OPTS_9P ",cache=none");
}

void mount_root(void)
{
	size_t i;
	int k;

	mkdir("/host", 0755);
	mkdir("/new", 0755);
	/* cache=loose: the guest does not see later changes. It does not live long. */
	mount_or_die("root", "/host", "9p", MS_RDONLY, OPTS_9P ",cache=loose");
	mount_or_die("/host", "/new", NULL, MS_BIND, NULL);
	for (i = 0; i < sizeof(tmpfs_dirs) / sizeof(tmpfs_dirs[0]); i++) {
		char to[PATH_MAX];

		snprintf(to, sizeof(to), "/new%s", tmpfs_dirs[i]);
		if (!access(to, F_OK))
			mount_or_die("tmpfs", to, "tmpfs", 0, "mode=1777");
	}
	for (k = 0; k < job.keep.nr; k++)
		keep_dir(job.keep.word[k]);
	keep_dir(job.cwd);
	for (k = 0; k < job.share.nr; k++)
		mount_share(k, job.share.word[k]);
}

void mount_kernel_fs(void)
{
	mount_or_die("proc", "/new/proc", "proc", 0, NULL);
	mount_or_die("sysfs", "/new/sys", "sysfs", 0, NULL);
	mount_or_die("devtmpfs", "/new/dev", "devtmpfs", 0, NULL);
	mkdir("/new/dev/pts", 0755);
	mkdir("/new/dev/shm", 01777);
	mount_or_die("devpts", "/new/dev/pts", "devpts", 0, "ptmxmode=0666,mode=0620,gid=5");
	mount_or_die("tmpfs", "/new/dev/shm", "tmpfs", 0, "mode=1777");
	mount_if("tracefs", "/new/sys/kernel/tracing", "tracefs");
	mount_if("debugfs", "/new/sys/kernel/debug", "debugfs");
	mount_if("cgroup2", "/new/sys/fs/cgroup", "cgroup2");
	symlink("/proc/self/fd", "/new/dev/fd");
	symlink("/proc/self/fd/0", "/new/dev/stdin");
	symlink("/proc/self/fd/1", "/new/dev/stdout");
	symlink("/proc/self/fd/2", "/new/dev/stderr");
}

void enter_root(void)
{
	if (chdir("/new"))
		die("/new");
	mount_or_die(".", "/", NULL, MS_MOVE, NULL);
	if (chroot("."))
		die("chroot");
}
