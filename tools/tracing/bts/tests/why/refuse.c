// SPDX-License-Identifier: GPL-2.0-only
/*
 * refuse NAME: make a system call that succeeds, then a call that the kernel refuses. judge.py
 * contains the source line of the kernel's check that must refuse the call.
 *
 * Some calls are refused because of an injected fault (see Documentation/fault-injection/).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define OTHER_USER	65534

static void make_file(const char *name)
{
	close(open(name, O_CREAT | O_WRONLY, 0600));
}

static void do_lseek(int bad)
{
	syscall(SYS_lseek, 0, 0, bad ? 99 : SEEK_CUR);
}

static void do_pipe2(int bad)
{
	int fds[2];

	syscall(SYS_pipe2, fds, bad ? 1 : O_CLOEXEC);
}

static void do_epoll_create1(int bad)
{
	syscall(SYS_epoll_create1, bad ? 1 : EPOLL_CLOEXEC);
}

static void do_getpriority(int bad)
{
	syscall(SYS_getpriority, bad ? 5 : PRIO_PROCESS, 0);
}

static void do_prctl(int bad)
{
	syscall(SYS_prctl, PR_SET_DUMPABLE, bad ? 5 : 1, 0, 0, 0);
}

static void do_kill(int bad)
{
	syscall(SYS_kill, getpid(), bad ? 1000 : 0);
}

static void do_mprotect(int bad)
{
	static char *page;

	if (!page)
		page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	syscall(SYS_mprotect, page + !!bad, 4096, PROT_READ | PROT_WRITE);
}

static void do_nanosleep(int bad)
{
	struct timespec ts = { .tv_nsec = bad ? 2000000000 : 1 };

	syscall(SYS_nanosleep, &ts, NULL);
}

static void do_prlimit64(int bad)
{
	struct rlimit limit = { .rlim_cur = bad ? 200 : 50, .rlim_max = 100 };

	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

static void do_read(int bad)
{
	char byte;

	int fd = bad ? open("sink", O_WRONLY | O_CREAT, 0600) : open("/dev/zero", O_RDONLY);

	syscall(SYS_read, fd, &byte, 1);
}

static void do_chown(int bad)
{
	make_file("owned");
	if (bad)
		setuid(OTHER_USER);
	syscall(SYS_chown, "owned", 1, -1);
}

static void do_mount(int bad)
{
	mkdir("mounted", 0700);
	if (bad)
		setuid(OTHER_USER);
	syscall(SYS_mount, "none", "mounted", "tmpfs", 0, NULL);
}

static void do_setuid(int bad)
{
	if (bad)
		setresuid(OTHER_USER, OTHER_USER, OTHER_USER);
	syscall(SYS_setuid, 0);
}

static void do_openat(int bad)
{
	make_file("there");
	syscall(SYS_openat, AT_FDCWD, bad ? "missing" : "there", O_RDONLY);
}

static void do_unlink(int bad)
{
	make_file("there");
	syscall(SYS_unlink, bad ? "missing" : "there");
}

static void do_umount(int bad)
{
	mkdir("busy", 0700);
	mount("none", "busy", "tmpfs", 0, NULL);
	if (bad)
		open("busy", O_RDONLY);
	syscall(SYS_umount2, "busy", 0);
}

static void do_mkdir(int bad)
{
	syscall(SYS_mkdir, bad ? "/tmp" : "made", 0700);
}

static void do_epoll_ctl(int bad)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), fds[2];

	if (pipe(fds))
		return;
	syscall(SYS_epoll_ctl, bad ? fds[0] : epoll, EPOLL_CTL_ADD, fds[0], &event);
}

static void do_rmdir(int bad)
{
	mkdir("dir", 0700);
	if (bad)
		make_file("dir/file");
	syscall(SYS_rmdir, "dir");
}

static void do_rename(int bad)
{
	make_file("old");
	syscall(SYS_rename, "old", bad ? "/new" : "new");
}

/* Let the kernel inject a fault at the next possible place in a system call of this thread. */
static void inject(int bad)
{
	static int fd;

	if (!bad)
		return;
	fd = open("/proc/thread-self/fail-nth", O_WRONLY);
	if (write(fd, "1", 1) != 1)
		exit(3);
}

static void do_eventfd2(int bad)
{
	inject(bad);
	syscall(SYS_eventfd2, 0, EFD_CLOEXEC);
}

static void do_timer_create(int bad)
{
	int id;

	inject(bad);
	syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &id);
}

static void do_timerfd_create(int bad)
{
	inject(bad);
	syscall(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_CLOEXEC);
}

static void do_getcwd(int bad)
{
	char path[4096];

	inject(bad);
	syscall(SYS_getcwd, path, sizeof(path));
}

static void do_chdir(int bad)
{
	inject(bad);
	syscall(SYS_chdir, ".");
}

static void do_pipe(int bad)
{
	int fds[2];

	inject(bad);
	syscall(SYS_pipe, fds);
}

static void do_inotify_init1(int bad)
{
	inject(bad);
	syscall(SYS_inotify_init1, IN_CLOEXEC);
}

/* The second page of the file is not in the page cache. */
static void do_pwrite64(int bad)
{
	int fd = open("ram/file", O_CREAT | O_WRONLY, 0600);

	inject(bad);
	syscall(SYS_pwrite64, fd, "x", 1, bad ? 4096 : 0);
}

static void do_sysinfo(int bad)
{
	struct sysinfo info;

	inject(bad);
	syscall(SYS_sysinfo, &info);
}

static void do_setpriority(int bad)
{
	inject(bad);
	syscall(SYS_setpriority, PRIO_PROCESS, 0, 0);
}

static const struct refusal {
	const char	*name;
	void		(*run)(int bad);
} refusals[] = {
	{ "lseek", do_lseek }, { "pipe2", do_pipe2 }, { "epoll_create1", do_epoll_create1 },
	{ "getpriority", do_getpriority }, { "prctl", do_prctl }, { "kill", do_kill },
	{ "mprotect", do_mprotect }, { "nanosleep", do_nanosleep },
	{ "prlimit64", do_prlimit64 }, { "read", do_read }, { "chown", do_chown },
	{ "mount", do_mount }, { "setuid", do_setuid }, { "openat", do_openat },
	{ "unlink", do_unlink }, { "umount", do_umount }, { "mkdir", do_mkdir },
	{ "epoll_ctl", do_epoll_ctl }, { "rmdir", do_rmdir }, { "rename", do_rename },
	{ "eventfd2", do_eventfd2 }, { "timer_create", do_timer_create },
	{ "timerfd_create", do_timerfd_create }, { "getcwd", do_getcwd },
	{ "chdir", do_chdir }, { "pipe", do_pipe }, { "inotify_init1", do_inotify_init1 },
	{ "pwrite64", do_pwrite64 }, { "sysinfo", do_sysinfo },
	{ "setpriority", do_setpriority },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (argc < 2 || strcmp(argv[1], refusals[i].name))
			continue;
		refusals[i].run(0);
		refusals[i].run(1);
		return 0;
	}
	return 2;
}
