// SPDX-License-Identifier: GPL-2.0
/*
 * step PROGRAM [ARGS...]: write the address of each executed instruction to standard output.
 *
 * The program runs under ptrace, on a CPU of this host. Each address is a 64-bit word. The script
 * machine/judges/perf reads the addresses, and computes the taken branches. If an instruction
 * faults, or a signal arrives before an instruction, the instruction's address is not written. A
 * signal may end PROGRAM, but PROGRAM must not exit with an error.
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

/* The address of the last instruction if this address still has to be written, otherwise 0. */
static uint64_t last;

static void write_last(void)
{
	if (last && fwrite(&last, sizeof(last), 1, stdout) != 1)
		err(1, "writing");
	last = 0;
}

/* Handle a stop of the program. Return the signal that the program must receive, or 0. */
static int stopped(pid_t pid, int signal)
{
	uint64_t rip = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rip), NULL);

	if (signal != SIGTRAP) {
		if (last == rip)
			last = 0;
		return signal;
	}
	write_last();
	last = rip;
	return 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: step PROGRAM [ARGS...]");
	pid = fork();
	if (!pid)
		start(argv + 1);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		err(1, "starting %s", argv[1]);
	while (WIFSTOPPED(status)) {
		long signal = stopped(pid, WSTOPSIG(status));

		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, signal) ||
		    waitpid(pid, &status, 0) < 0)
			err(1, "stepping");
	}
	write_last();
	if (WIFEXITED(status) && WEXITSTATUS(status))
		errx(1, "%s failed", argv[1]);
	return fflush(stdout) ? 1 : 0;
}
