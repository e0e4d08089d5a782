// SPDX-License-Identifier: GPL-2.0
/*
 * cost TRACEFS PROGRAM [ARGUMENT...]: trace a program, and print its CPU time in nanoseconds
 *
 * TRACEFS is the directory of the tracefs instance that traces the program, from its exec to its
 * end. If TRACEFS is "-", the program is not traced. The time includes interrupts that
 * the kernel charges to the task, but not the work of a reader.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	int fd;

	if (!strcmp(dir, "-"))
		return;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	char text[16];
	int ends[2];
	pid_t pid;

	if (argc < 3 || pipe(ends))
		return 2;
	pid = fork();
	if (!pid) {
		if (read(ends[0], text, 1) != 1)
			_exit(126);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	snprintf(text, sizeof(text), "%d", pid);
	put(argv[1], "set_ftrace_pid", text);
	put(argv[1], "tracing_on", "1");
	if (pid < 0 || write(ends[1], "", 1) != 1 || wait4(pid, NULL, 0, &usage) != pid)
		return 1;
	put(argv[1], "tracing_on", "0");
	printf("%lld\n", 1000LL * (1000000LL * (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				   usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
	return 0;
}
