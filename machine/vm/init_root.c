// SPDX-License-Identifier: GPL-2.0
/*
 * Mount the guest's file systems, through which programs see the files of the host:
 *
 *	/		9p, the host's root, read-only
 *	/proc /sys ..	from the guest's kernel, with tracefs and debugfs
 *	/tmp /run ..	tmpfs (the working directory and the source tree stay visible, read-only)
 *	--share DIR	9p, the host's directory DIR, writable, at the same path as on the host
 *
 * With --overlay, / is an overlay: a tmpfs above the host's root holds all changes. /tmp, /run and
 * so on are then not tmpfs mounts, but show the host's files.
 *
 * The root file system is first mounted on /new of the initramfs, and becomes / at the end.
 */
#define _GNU_SOURCE
#include <err.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"
#include "wire.h"

/* The options of all 9p mounts. With access=any, all users of the guest have the same rights. */
#define OPTS_9P		"trans=virtio,version=9p2000.L,access=any,msize=512000"

static const char * const tmpfs_dirs[] = { "/tmp", "/run", "/var/tmp", "/mnt", NULL };

static void mount_or_die(const char *src, const char *dir, const char *type,
			 unsigned long flags, const char *opts)
{
	if (mount(src, dir, type, flags, opts))
		err(1, "mount %s on %s", type ? type : src, dir);
}

/* Mount a file system that this kernel may not support. Ignore errors. */
static void mount_if(const char *type, const char *dir)
{
	mount(type, dir, type, 0, NULL);
}

/* Return the path below /new. The result is valid until the next call. */
static char *in_new(const char *path)
{
	static char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "/new%s", path);
	return dir;
}

/* Create directories. Ignore errors, because a directory may exist or the root may be read-only. */
static void make_dirs(char *dir)
{
	char *slash;

	for (slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(dir, 0755);
		*slash = '/';
	}
	mkdir(dir, 0755);
}

static bool hidden(const char *path)
{
	const char * const *dir;

	for (dir = tmpfs_dirs; *dir; dir++)
		if (!strncmp(path, *dir, strlen(*dir)) && path[strlen(*dir)] == '/')
			return true;
	return false;
}

/* If a tmpfs hides a directory of the host, make this directory visible again, read-only. */
static void keep_dir(const char *path)
{
	char from[PATH_MAX];

	snprintf(from, sizeof(from), "/host%s", path);
	if (!hidden(path) || access(from, F_OK))
		return;
	make_dirs(in_new(path));
	mount_or_die(from, in_new(path), NULL, MS_BIND, NULL);
}

static void mount_share(int nr, const char *path)
{
	char tag[16];

	snprintf(tag, sizeof(tag), "share%d", nr);
	make_dirs(in_new(path));
	/* Do not cache writes, so that no written data is lost if the guest crashes. */
	mount_or_die(tag, in_new(path), "9p", 0, OPTS_9P ",cache=none");
}

static void mount_overlay(void)
{
	mkdir("/over", 0755);
	mount_or_die("tmpfs", "/over", "tmpfs", 0, "mode=0755");
	mkdir("/over/upper", 0755);
	mkdir("/over/work", 0755);
	mount_or_die("overlay", "/new", "overlay", 0,
		     "lowerdir=/host,upperdir=/over/upper,workdir=/over/work");
}

static void mount_read_only(const struct words *job)
{
	const char * const *dir;
	int i;

	mount_or_die("/host", "/new", NULL, MS_BIND, NULL);
	for (dir = tmpfs_dirs; *dir; dir++)
		if (!access(in_new(*dir), F_OK))
			mount_or_die("tmpfs", in_new(*dir), "tmpfs", 0, "mode=1777");
	for (i = 0; i < job[WIRE_KEEP].nr; i++)
		keep_dir(job[WIRE_KEEP].word[i]);
}

static void mount_host_fs(const struct words *job)
{
	int i;

	mkdir("/host", 0755);
	mkdir("/new", 0755);
	/* With cache=loose, the guest may, in rare cases, miss a later change of a host file. */
	mount_or_die("root", "/host", "9p", MS_RDONLY, OPTS_9P ",cache=loose");
	if (job[WIRE_OVERLAY].nr)
		mount_overlay();
	else
		mount_read_only(job);
	for (i = 0; i < job[WIRE_SHARE].nr; i++)
		mount_share(i, job[WIRE_SHARE].word[i]);
}

static void mount_kernel_fs(void)
{
	mount_or_die("proc", "/new/proc", "proc", 0, NULL);
	mount_or_die("sysfs", "/new/sys", "sysfs", 0, NULL);
	mount_or_die("devtmpfs", "/new/dev", "devtmpfs", 0, NULL);
	mkdir("/new/dev/pts", 0755);
	mkdir("/new/dev/shm", 01777);
	mount_or_die("devpts", "/new/dev/pts", "devpts", 0, "ptmxmode=0666,mode=0620,gid=5");
	mount_or_die("tmpfs", "/new/dev/shm", "tmpfs", 0, "mode=1777");
	mount_if("tracefs", "/new/sys/kernel/tracing");
	mount_if("debugfs", "/new/sys/kernel/debug");
	mount_if("cgroup2", "/new/sys/fs/cgroup");
	symlink("/proc/self/fd", "/new/dev/fd");
	symlink("/proc/self/fd/0", "/new/dev/stdin");
	symlink("/proc/self/fd/1", "/new/dev/stdout");
	symlink("/proc/self/fd/2", "/new/dev/stderr");
}

/* Mount everything, and make /new the root directory. */
void root_mount(const struct words *job)
{
	mount_host_fs(job);
	mount_kernel_fs();
	if (chdir("/new"))
		err(1, "/new");
	mount_or_die(".", "/", NULL, MS_MOVE, NULL);
	if (chroot("."))
		err(1, "chroot");
}
