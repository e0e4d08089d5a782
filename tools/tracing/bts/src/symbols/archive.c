// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory beside a trace, and what bts record puts there. The kernel's code is
 * kernel_code.c's.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
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

char *archive_path(const char *trace)
{
	return mem_format("%s.archive", trace);
}

/* --- Files -------------------------------------------------------------------------- */

static int make_dirs(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = 0;
		failed = mkdir(path, 0755) && errno != EEXIST;
		if (failed)
			msg_errno("create", path);
		*slash = '/';
		if (failed)
			return -1;
	}
	return 0;
}

char *archive_file(const char *trace, const char *name)
{
	char *path = mem_format("%s.archive/%s", trace, name);

	if (!make_dirs(path))
		return path;
	free(path);
	return NULL;
}

int archive_put(const char *trace, const char *name, const void *data, size_t size)
{
	char *path = archive_file(trace, name);
	FILE *file = path ? fopen(path, "we") : NULL;
	int ret = 0;

	if (!path)
		return -1;
	if (!file || fwrite(data, 1, size, file) != size)
		ret = -1;
	if (file && fclose(file))
		ret = -1;
	if (ret)
		msg_errno("write", path);
	free(path);
	return ret;
}

int archive_copy(const char *trace, const char *name, const char *from)
{
	size_t size;
	char *data = path_read(from, &size);
	int ret;

	if (!data) {
		msg_errno("read", from);
		return -1;
	}
	ret = archive_put(trace, name, data, size);
	free(data);
	return ret;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Programs without a build ID, which are in root, were those of the trace before. */
void archive_clear(const char *trace)
{
	char *root = mem_format("%s.archive/root", trace);
	char *path = archive_path(trace);
	DIR *stream = opendir(path);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		const char *name = entry->d_name;

		if (!strncmp(name, "kcore", 5) || !strcmp(name, "notes") ||
		    !strcmp(name, "vdso.so") || !strcmp(name, "vdso32.so") ||
		    (!strncmp(name, "perf-", 5) && strstr(name, ".map")) ||
		    (!strncmp(name, "jit-", 4) && strstr(name, ".dump")))
			unlinkat(dirfd(stream), name, 0);
	}
	if (stream)
		closedir(stream);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(root);
	free(path);
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

/* A task may have a /tmp of its own. */
static void archive_map(const char *trace, int pid)
{
	char *name = mem_format("perf-%d.map", pid);
	char *own = mem_format("/proc/%d/root/tmp/%s", pid, name);
	char *common = mem_format("/tmp/%s", name);
	struct stat stat;

	if (!lstat(own, &stat) && S_ISREG(stat.st_mode))
		archive_copy(trace, name, own);
	else if (!lstat(common, &stat) && S_ISREG(stat.st_mode))
		archive_copy(trace, name, common);
	free(common);
	free(own);
	free(name);
}

void archive_tasks(const char *trace, const struct names *names)
{
	archive_vdso(trace, false);
	archive_vdso(trace, true);
	for (size_t i = 0; i < names->nr_slots; i++)
		if (names->slots[i].pid > 0)
			archive_map(trace, names->slots[i].pid);
}
