// SPDX-License-Identifier: GPL-2.0
/*
 * step PROGRAM [ARGS...]: log a program's path, instruction by instruction.
 *
 * step runs PROGRAM under ptrace, on this host's own CPU, and writes the address of each
 * executed instruction to standard output, as a 64-bit word. The judge decides which of
 * the steps are branches.
 */
#include <err.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		err(1, "ptrace");
	execv(argv[0], argv);
	err(127, "%s", argv[0]);
}

int main(int argc, char **argv)
{
	uint64_t rip;
	int status;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: step PROGRAM [ARGS...]");
	pid = fork();
	if (!pid)
		start(argv + 1);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		err(1, "starting %s", argv[1]);
	while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
		rip = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rip), NULL);
		if (fwrite(&rip, sizeof(rip), 1, stdout) != 1)
			err(1, "writing");
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
		    waitpid(pid, &status, 0) < 0)
			err(1, "stepping");
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		kill(pid, SIGKILL);
		errx(1, "%s failed", argv[1]);
	}
	return fflush(stdout) ? 1 : 0;
}
