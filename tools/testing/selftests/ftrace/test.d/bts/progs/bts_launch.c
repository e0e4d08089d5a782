// SPDX-License-Identifier: GPL-2.0
/*
 * bts_launch - run programs, and trace them only while they run
 *
 *	bts_launch [-t TRACEFS]... [-n] [-f] [-c CPU] PROGRAM [ARGUMENT...]
 *	           [-- [-n] [-f] [-c CPU] PROGRAM [ARGUMENT...]]...
 *
 * The launcher forks one child for each program, and switches ASLR off for the child. With -c, it
 * pins the child to a CPU. With -f, it gives the child the policy SCHED_FIFO. If two children with
 * -f share a CPU, the running child keeps the CPU until it yields or sleeps. While the children
 * wait on a pipe, the launcher writes their PIDs (except those of programs with -n) to
 * set_ftrace_pid, and writes 1 to tracing_on. Then the launcher closes the pipe, and all children
 * call exec together. When the last child has ended, and bts_stats shows that no branches or rows
 * are held, the launcher writes 0 to tracing_on. The launcher prints the PIDs on stdout, in the
 * order of the programs. The exit status of the launcher is 0 only if all programs end with status
 * 0.
 *
 * By default, TRACEFS is the working directory, as in ftracetest. If -t is given several
 * times, the launcher writes to set_ftrace_pid and tracing_on in each TRACEFS. Until its exec, a
 * traced child takes branches in the code of the launcher. The launcher is linked at addresses far
 * from the programs' addresses, so that an address shows whether the launcher took the branch.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROGRAMS 64
#define MAX_TRACEFS 4

struct program {
	char **argv;
	int cpu;		/* -1: any */
	bool traced;
	bool fifo;
	pid_t pid;
};

static struct program programs[MAX_PROGRAMS];
static int n_programs;
static int tracefs[MAX_TRACEFS];
static int n_tracefs;

static void die(const char *what)
{
	fprintf(stderr, "bts_launch: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_tracefs(const char *directory)
{
	int fd = open(directory, O_PATH | O_CLOEXEC);

	if (fd < 0)
		die(directory);
	tracefs[n_tracefs++] = fd;
}

static void write_files(const char *name, int flags, const char *text)
{
	int i, fd;

	for (i = 0; i < n_tracefs; i++) {
		fd = openat(tracefs[i], name, O_WRONLY | O_CLOEXEC | flags);
		if (fd < 0 || write(fd, text, strlen(text)) < 0)
			die(name);
		close(fd);
	}
}

static void child(const struct program *program, int gate)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t cpus;
	char byte;

	if (personality(ADDR_NO_RANDOMIZE) < 0)
		die("personality");
	if (program->cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET(program->cpu, &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			die("sched_setaffinity");
	}
	if (program->fifo && sched_setscheduler(0, SCHED_FIFO, &first))
		die("sched_setscheduler");
	if (read(gate, &byte, 1) < 0)
		die("read");
	execv(program->argv[0], program->argv);
	die(program->argv[0]);
}

static void start_all(int gate[2])
{
	int i;

	for (i = 0; i < n_programs; i++) {
		programs[i].pid = fork();
		if (programs[i].pid < 0)
			die("fork");
		if (programs[i].pid)
			continue;
		close(gate[1]);
		child(&programs[i], gate[0]);
	}
	close(gate[0]);
}

static void choose_all(void)
{
	int flags = O_TRUNC;
	char text[16];
	int i;

	for (i = 0; i < n_programs; i++) {
		printf("%d\n", programs[i].pid);
		if (!programs[i].traced)
			continue;
		snprintf(text, sizeof(text), "%d", programs[i].pid);
		write_files("set_ftrace_pid", flags, text);
		flags = O_APPEND;
	}
	fflush(stdout);
}

static int wait_all(void)
{
	int result = 0;
	int i, status;

	for (i = 0; i < n_programs; i++) {
		if (waitpid(programs[i].pid, &status, 0) < 0)
			die("waitpid");
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		fprintf(stderr, "bts_launch: %s: status %#x\n",
			programs[i].argv[0], status);
		result = 1;
	}
	return result;
}

/* Report whether @text contains the counter @counter with a value other than 0. */
static bool some(const char *text, const char *counter)
{
	const char *at = strstr(text, counter);

	return at && at[strlen(counter)] != '0';
}

/*
 * With bts-block, the last branches of a program may be held after its end, and would be dropped if
 * tracing were switched off now. Wait for up to ten seconds until no branches or rows are held.
 */
static void wait_held(int dir)
{
	char text[4096];
	int fd, i;
	ssize_t n;

	for (i = 0; i < 1000; i++) {
		fd = openat(dir, "bts_stats", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (n < 0)
			die("bts_stats");
		text[n] = 0;
		if (!some(text, "\nheld: ") && !some(text, "\nrows_held: "))
			return;
		usleep(10000);
	}
}

/*
 * Parse the options and the arguments of one program, up to "--". Return: the end of the program's
 * arguments, or NULL if the options are invalid.
 */
static char **parse_program(char **arg)
{
	struct program *program = &programs[n_programs];

	if (n_programs == MAX_PROGRAMS)
		return NULL;
	program->cpu = -1;
	program->traced = true;
	for (; *arg && (*arg)[0] == '-'; arg++) {
		if (!strcmp(*arg, "-n"))
			program->traced = false;
		else if (!strcmp(*arg, "-f"))
			program->fifo = true;
		else if (!strcmp(*arg, "-c") && arg[1])
			program->cpu = atoi(*++arg);
		else
			return NULL;
	}
	if (!*arg)
		return NULL;
	program->argv = arg;
	n_programs++;
	while (*arg && strcmp(*arg, "--"))
		arg++;
	return arg;
}

int main(int argc, char **argv)
{
	char **arg = argv + 1;
	int gate[2];
	int i, result;

	(void)argc;

	for (; *arg && !strcmp(*arg, "-t") && arg[1]; arg += 2) {
		if (n_tracefs == MAX_TRACEFS)
			die(arg[1]);
		open_tracefs(arg[1]);
	}
	if (!n_tracefs)
		open_tracefs(".");
	do {
		arg = parse_program(arg);
		if (!arg) {
			fprintf(stderr, "usage: bts_launch [-t TRACEFS]... [-n] [-f] [-c CPU] "
				"PROGRAM [ARGUMENT...] [-- ...]\n");
			return 2;
		}
		if (!*arg)
			break;
		*arg++ = NULL;
	} while (1);

	if (pipe2(gate, O_CLOEXEC))
		die("pipe");
	start_all(gate);
	choose_all();
	write_files("tracing_on", 0, "1");
	close(gate[1]);
	result = wait_all();
	for (i = 0; i < n_tracefs; i++)
		wait_held(tracefs[i]);
	write_files("tracing_on", 0, "0");
	return result;
}
