// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record as root in the directory of another user. This user's links must not redirect the output
 * of bts, and only root may read the files that bts writes. Print KTAP.
 *
 *	trust DIR	empty DIR, and write to it
 *
 * The links lead into DIR/foreign, which must not change.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/path.h"
#include "record/writer.h"

static bool foreign_owner;

/* Only root can create files owned by other users, so pretend that another user owns the file. */
static int open_as_told(const char *path, int flags, struct stat *st)
{
	int fd = path_open(path, flags, st);

	if (foreign_owner)
		st->st_uid = 12345;
	return fd;
}

#define path_open open_as_told
#include "../../src/symbols/archive.c"
#undef path_open

#include "../../src/record/instance.c"

static int told = -1;

/* live.c calls this function instead of executing bts record. Report the trace's path, and wait. */
static int wait_for_signal(const char *file, char *const *args)
{
	(void)file;
	/* Restore the default action, as exec() would. */
	signal(SIGINT, SIG_DFL);
	alarm(20);
	dprintf(told, "%s", args[3]);
	return pause();
}

#define execv wait_for_signal
#include "../../src/cmd/live.c"
#undef execv

static int test, failed;

static void ok(int good, const char *name)
{
	printf("%sok %d %s\n", good ? "" : "not ", ++test, name);
	failed |= !good;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		failed = 1;
	close(fd);
}

static bool has(const char *path, const char *text)
{
	char *is = path_read(path, NULL);
	bool same = is && !strcmp(is, text);

	free(is);
	return same;
}

static int mode(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static void link_to(const char *target, const char *path)
{
	if (symlink(target, path))
		failed = 1;
}

/* --- The trace ---------------------------------------------------------------------- */

/* Return: 0 if the trace was written to @path. */
static int write_trace(const char *path)
{
	char *none[] = { NULL };
	struct writer *w = writer_create(path, 4096);
	int ret = -1;

	if (!w)
		return -1;
	ret = writer_finish(w, "", "[local]", none, 1, "");
	if (!ret && writer_kept_old(w))
		archive_keep(path, "t.old");
	writer_free(w);
	return ret;
}

static void test_trace(void)
{
	ok(!write_trace("t") && mode("t") == 0600, "only the owner can read a trace");
	unlink("t");
	link_to("foreign/victim", "t.new");
	ok(!write_trace("t") && mode("t") == 0600 && has("foreign/victim", "precious"),
	   "a link in place of the temporary file is not followed");
	link_to("foreign/victim", "link");
	link_to("foreign/new", "dangling");
	ok(write_trace("link") && write_trace("dangling") && has("foreign/victim", "precious") &&
	   access("foreign/new", F_OK) && is_link("link"),
	   "a link in place of the trace is not followed");
	put("t", "older");
	archive_put("t", "kcore", "older", 5);
	ok(!write_trace("t") && has("t.old", "older") && has("t.old.archive/kcore", "older") &&
	   access("t.archive", F_OK), "an older trace is kept, with its archive");
	ok(!write_trace("/dev/null") && access("/dev/null.old", F_OK),
	   "a trace can be written to a device");
}

/* --- The archive -------------------------------------------------------------------- */

/* Limit files to 4 bytes, and archive 6 bytes, as if the disk were full. Return: 0 on success. */
static int put_on_full_disk(const char *trace, const char *name)
{
	struct rlimit old, limit;
	int ret;

	/* RLIMIT_FSIZE also limits stdout if stdout is a file, so print the earlier results now. */
	fflush(stdout);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit) { .rlim_cur = 4, .rlim_max = old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	ret = archive_put(trace, name, "longer", 6);
	setrlimit(RLIMIT_FSIZE, &old);
	return ret;
}

static void test_archive(void)
{
	char temporary[32];

	snprintf(temporary, sizeof(temporary), ".bts-new-%d", getpid());
	link_to("foreign", "a.archive");
	ok(archive_put("a", "notes", "x", 1) && access("foreign/notes", F_OK) && !archive_make("a"),
	   "a link in place of an archive is not followed");
	archive_put("b", "root/bin/one", "1", 1);
	link_to("../../foreign", "b.archive/root/lib");
	ok(archive_put("b", "root/lib/new", "x", 1) && access("foreign/new", F_OK),
	   "a link in place of a directory in an archive is not followed");
	link_to("../foreign/new", "b.archive/notes");
	ok(!archive_has("b", "notes") && !archive_put("b", "notes", "x", 1) &&
	   has("b.archive/notes", "x") && !is_link("b.archive/notes") &&
	   access("foreign/new", F_OK), "a new archived file replaces a link of the same name");
	ok(archive_put("b", "root/../../foreign/new", "x", 1) && access("foreign/new", F_OK),
	   "no name leads out of the archive");
	chmod("foreign/victim", 0600);
	ok(!archive_copy("b", "root/copy", "foreign/victim", 0) &&
	   has("b.archive/root/copy", "precious") && mode("b.archive/root/copy") == 0600 &&
	   mode("b.archive") == 0700, "only the owner can read a copy in an archive");
	link_to("foreign/victim", "dump");
	mkfifo("fifo", 0600);
	ok(archive_copy("b", "dump", "dump", O_NOFOLLOW) && archive_copy("b", "dump", "fifo", 0) &&
	   !archive_has("b", "dump"), "a link or a FIFO is not copied");
	ok(!archive_copy("b", "short", "/proc/self/maps", 0) && has("b.archive/short", ""),
	   "a copy is not larger than the file was when it was opened");
	ok(put_on_full_disk("b", "cut") && !archive_has("b", "cut") && !archive_has("b", temporary),
	   "an incomplete file does not stay in the archive");
	archive_remove("b");
	ok(access("b.archive", F_OK) && has("foreign/victim", "precious"),
	   "when an archive is removed, the targets of its links stay");
}

/* --- The symbols of JIT compilers --------------------------------------------------- */

static void test_map(void)
{
	char *name = mem_format("perf-%d.map", getpid()), *map = mem_format("/tmp/%s", name);
	struct names names = {};

	names_get(&names, getpid());
	put(map, "1000 10 f\n");
	foreign_owner = true;
	archive_tasks("c", &names, geteuid(), INT64_MAX);
	ok(!archive_has("c", name), "a perf map that another user owns is not archived");
	foreign_owner = false;
	archive_tasks("c", &names, geteuid(), INT64_MAX);
	ok(archive_has("c", name), "a perf map that the task's user owns is archived");
	archive_remove("c");
	unlink(map);
	link_to("/etc/passwd", map);
	archive_tasks("c", &names, geteuid(), INT64_MAX);
	ok(!archive_has("c", name), "a link in place of a perf map is not archived");
	unlink(map);
	names_free(&names);
	free(map);
	free(name);
}

/* --- Instances ---------------------------------------------------------------------- */

const char *tracefs_tracing_dir(void)
{
	return "tracing";
}

static void test_instance(void)
{
	char *mine = mem_format("tracing/instances/bts-%d", getpid());
	struct instance *inst;
	int lock;

	mkdir("tracing", 0700);
	mkdir("tracing/instances", 0700);
	/*
	 * No process has these PIDs. The second instance is locked, as if a bts process in another
	 * PID namespace used it.
	 */
	mkdir("tracing/instances/bts-99999998", 0700);
	mkdir("tracing/instances/bts-99999999", 0700);
	lock = lock_directory("tracing/instances/bts-99999999", 0);
	inst = instance_create();
	ok(inst && !strcmp(inst->path, mine) && access("tracing/instances/bts-99999998", F_OK),
	   "an unused instance is removed");
	ok(!access("tracing/instances/bts-99999999", F_OK),
	   "an instance used in another PID namespace is kept");
	if (inst)
		instance_remove(inst);
	close(lock);
	mkdir(mine, 0700);
	lock = lock_directory(mine, 0);
	inst = instance_create();
	ok(inst && strcmp(inst->path, mine) && !access(mine, F_OK),
	   "if the instance bts-PID is in use, bts keeps this instance, and creates bts-PID.1");
	if (inst)
		instance_remove(inst);
	close(lock);
	free(mine);
}

/* --- Live recordings ---------------------------------------------------------------- */

static void watch(int fd)
{
	struct options options = {};
	struct live l = { .options = &options, .seconds = 60 };

	told = fd;
	exit(live_run(&l));
}

static void test_live(void)
{
	int fds[2], status = -1;
	char trace[256] = "";
	pid_t pid;

	if (pipe(fds))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid)
		watch(fds[1]);
	if (read(fds[0], trace, sizeof(trace) - 1) > 0)
		kill(pid, SIGHUP);
	waitpid(pid, &status, 0);
	*(strrchr(trace, '/') ? strrchr(trace, '/') : trace) = 0;
	ok(WIFEXITED(status) && *trace && access(trace, F_OK),
	   "bts top leaves no files when its terminal is closed");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	archive_remove_tree(AT_FDCWD, argv[1]);
	if (mkdir(argv[1], 0700) || chdir(argv[1]) || mkdir("foreign", 0700))
		return 1;
	umask(0);
	put("foreign/victim", "precious");
	puts("TAP version 13\n1..21");
	test_trace();
	test_archive();
	test_map();
	test_instance();
	test_live();
	return failed;
}
