// SPDX-License-Identifier: GPL-2.0
/*
 * bts_trapped - run a program, and stop it at each step, like a debugger
 *
 *	bts_trapped -s|-b PROGRAM [ARGUMENT...]
 *
 * With -s, the program stops after each instruction (PTRACE_SINGLESTEP).
 *
 * With -b, the program stops after each branch (PTRACE_SINGLEBLOCK). For this purpose, the kernel
 * sets BTF in IA32_DEBUGCTL, the register that also switches BTS on.
 *
 * The tool prints the PID of the program on stdout. Its exit status is that of the program, or 2 if
 * the program never stopped after its exec.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The C library does not define this constant, so take the value from asm/ptrace-abi.h. */
#ifndef PTRACE_SINGLEBLOCK
#define PTRACE_SINGLEBLOCK 33
#endif

static void die(const char *what)
{
	fprintf(stderr, "bts_trapped: %s: %s\n", what, strerror(errno));
	exit(2);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		die("PTRACE_TRACEME");
	execv(argv[0], argv);
	die(argv[0]);
	return -1;
}

int main(int argc, char **argv)
{
	unsigned long stops = 0;
	int status, sig = 0;
	int request;
	pid_t pid;

	if (argc < 3 || (strcmp(argv[1], "-s") && strcmp(argv[1], "-b"))) {
		fprintf(stderr, "usage: bts_trapped -s|-b PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	request = argv[1][1] == 's' ? PTRACE_SINGLESTEP : PTRACE_SINGLEBLOCK;
	pid = start(argv + 2);
	printf("%d\n", pid);
	fflush(stdout);

	for (;;) {
		if (waitpid(pid, &status, 0) < 0)
			die("waitpid");
		if (!WIFSTOPPED(status))
			break;
		/* SIGTRAP reports a step or the exec. Deliver other signals to the program. */
		if (WSTOPSIG(status) == SIGTRAP) {
			stops++;
			sig = 0;
		} else {
			sig = WSTOPSIG(status);
		}
		if (ptrace(request, pid, NULL, (void *)(long)sig))
			die("ptrace");
	}
	fprintf(stderr, "bts_trapped: %lu stops\n", stops);
	if (stops < 2)
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
