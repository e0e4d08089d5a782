// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create, copy and remove the files of the archive beside a trace. Save the vDSO, which belongs to
 * the running kernel, and the perf-PID.map files of JIT compilers, which may disappear when the
 * tasks end. (kernel_code.c saves the kernel's code.)
 *
 * If root records into the directory of another user, that user can put links into the directory.
 * So open each directory relative to its parent, and do not follow links. Create each file as a new
 * file, readable only by its owner, because the original may be readable only by root.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "archive.h"
#include "vdso.h"

enum {
	COPY_STEP	= 1 << 16,
	MAP_MAX		= 1 << 30,
};

char *archive_path(const char *trace)
{
	return mem_format("%s.archive", trace);
}

/* --- Files -------------------------------------------------------------------------- */

static int open_below(int dir, const char *name, bool make)
{
	if (make && mkdirat(dir, name, 0700) && errno != EEXIST)
		return -1;
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Call open_below(), and close @dir. Reject "..", because @part may come from the trace. */
static int open_part(int dir, const char *part, bool make)
{
	int saved, fd = -1;

	if (!strcmp(part, ".."))
		errno = EINVAL;
	else
		fd = open_below(dir, part, make);
	saved = errno;
	close(dir);
	errno = saved;
	return fd;
}

/* In FILE.archive, open the directory that contains *@name. Shorten *@name to its last part. */
static int open_directory(const char *trace, const char **name, bool make)
{
	char *path = archive_path(trace);
	int fd = open_below(AT_FDCWD, path, make);
	const char *slash;

	free(path);
	for (; fd >= 0 && (slash = strchr(*name, '/')); *name = slash + 1) {
		char *part = mem_format("%.*s", (int)(slash - *name), *name);

		if (*part)
			fd = open_part(fd, part, make);
		free(part);
	}
	return fd;
}

bool archive_make(const char *trace)
{
	const char *here = "";
	int dir = open_directory(trace, &here, true);
	bool done = dir >= 0 && !faccessat(dir, ".", W_OK, 0);
	char *path = archive_path(trace);

	if (!done)
		msg_errno("write", path);
	if (dir >= 0)
		close(dir);
	free(path);
	return done;
}

bool archive_has(const char *trace, const char *name)
{
	int dir = open_directory(trace, &name, false);
	struct stat st;
	bool there = dir >= 0 && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
		     S_ISREG(st.st_mode);

	if (dir >= 0)
		close(dir);
	return there;
}

/*
 * Return the temporary name of an incomplete file. The name contains the PID, because several
 * processes may archive the same trace at the same time. If bts is killed, the file remains, but no
 * command reads it.
 */
static char *temporary_name(void)
{
	return mem_format(".bts-new-%d", getpid());
}

int archive_create(const char *trace, const char *name)
{
	const char *last = name;
	int dir = open_directory(trace, &last, true), fd = -1;
	char *path = temporary_name();

	if (dir >= 0)
		fd = path_create_at(dir, path);
	free(path);
	if (fd < 0) {
		path = mem_format("%s.archive/%s", trace, name);
		msg_errno("create", path);
		free(path);
	}
	if (dir >= 0)
		close(dir);
	return fd;
}

static int fail_to_write(const char *trace, const char *name)
{
	char *path = mem_format("%s.archive/%s", trace, name);

	msg_errno("write", path);
	free(path);
	return -1;
}

int archive_finish(const char *trace, const char *name, int fd, int ret)
{
	const char *last = name;
	char *temporary;
	int dir;

	if (fd < 0)
		return -1;
	if (ret)
		ret = fail_to_write(trace, name);
	if (close(fd) && !ret)
		ret = fail_to_write(trace, name);
	temporary = temporary_name();
	dir = open_directory(trace, &last, false);
	if (!ret && (dir < 0 || renameat(dir, temporary, dir, last)))
		ret = fail_to_write(trace, name);
	if (ret && dir >= 0)
		unlinkat(dir, temporary, 0);
	if (dir >= 0)
		close(dir);
	free(temporary);
	return ret;
}

int archive_put(const char *trace, const char *name, const void *data, size_t size)
{
	int out = archive_create(trace, name);

	return archive_finish(trace, name, out, out < 0 ? -1 : path_write_all(out, data, size));
}

/* Copy at most @size bytes, because the file's owner could extend the file forever. */
static int copy_bytes(int in, int out, off_t size)
{
	char *buffer = mem_alloc(COPY_STEP);
	ssize_t n;

	do {
		n = read(in, buffer, size < COPY_STEP ? size : COPY_STEP);
		if (n > 0 && path_write_all(out, buffer, n))
			n = -1;
		size -= n;
	} while (n > 0);
	free(buffer);
	return n < 0 ? -1 : 0;
}

static int copy_from(const char *trace, const char *name, int in, off_t size)
{
	int out = archive_create(trace, name);

	return archive_finish(trace, name, out, out < 0 ? -1 : copy_bytes(in, out, size));
}

int archive_copy(const char *trace, const char *name, const char *from, int flags)
{
	struct stat st;
	int ret, in = path_open(from, flags, &st);

	if (in < 0) {
		msg_errno("read", from);
		return -1;
	}
	ret = copy_from(trace, name, in, st.st_size);
	close(in);
	return ret;
}

void archive_remove_tree(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(fd, entry->d_name, 0))
			archive_remove_tree(fd, entry->d_name);
	if (stream)
		closedir(stream);
	else if (fd >= 0)
		close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}

void archive_remove(const char *trace)
{
	char *path = archive_path(trace);

	archive_remove_tree(AT_FDCWD, path);
	free(path);
}

int archive_keep(const char *trace, const char *old)
{
	char *from = archive_path(trace), *to = archive_path(old);
	int ret = STATUS_OK;

	archive_remove(old);
	if (rename(from, to) && errno != ENOENT)
		ret = msg_errno("rename", from);
	free(from);
	free(to);
	return ret;
}

/* --- Tasks -------------------------------------------------------------------------- */

static void archive_vdso(const char *trace, bool bits32)
{
	size_t size;
	void *vdso = bits32 ? vdso_read32(&size) : vdso_read(getpid(), &size);

	if (vdso)
		archive_put(trace, bits32 ? "vdso32.so" : "vdso.so", vdso, size);
	free(vdso);
}

/* Return the owner of the task, or @user if the task has ended. */
static uid_t task_user(int pid, uid_t user)
{
	char *path = mem_format("/proc/%d", pid);
	struct stat st;

	if (!stat(path, &st))
		user = st.st_uid;
	free(path);
	return user;
}

const char *archive_doubt(const struct stat *st, uid_t user, int64_t until)
{
	if (st->st_uid && st->st_uid != geteuid() && st->st_uid != user)
		return "the file belongs to another user";
	if (st->st_ctime >= until)
		return "the file may have changed since the recording";
	return NULL;
}

/* Save a perf-PID.map file. Return false if the file cannot be opened. */
static bool archive_map_from(const char *trace, const char *name, const char *from, uid_t user,
			     int64_t until)
{
	struct stat st;
	int in = path_open(from, O_NOFOLLOW, &st);
	const char *why;

	if (in < 0)
		return false;
	why = archive_doubt(&st, user, until);
	if (!why && st.st_size > MAP_MAX)
		why = "the file is too large";
	if (why)
		msg_warn("%s: not archived, because %s", from, why);
	else
		copy_from(trace, name, in, st.st_size);
	close(in);
	return true;
}

/* Try the task's /tmp first, because a container has its own /tmp. */
static void archive_map(const char *trace, int pid, uid_t user, int64_t until)
{
	char *name = mem_format("perf-%d.map", pid);
	char *own = mem_format("/proc/%d/root/tmp/%s", pid, name);
	char *common = mem_format("/tmp/%s", name);

	if (!archive_map_from(trace, name, own, user, until))
		archive_map_from(trace, name, common, user, until);
	free(common);
	free(own);
	free(name);
}

void archive_tasks(const char *trace, const struct names *names, uid_t user, int64_t until)
{
	archive_vdso(trace, false);
	archive_vdso(trace, true);
	for (size_t i = 0; i < names->nr_slots; i++) {
		int pid = names->slots[i].pid;

		if (pid > 0)
			archive_map(trace, pid, task_user(pid, user), until);
	}
}
