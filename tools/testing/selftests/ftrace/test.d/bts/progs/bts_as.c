// SPDX-License-Identifier: GPL-2.0
/*
 * bts_as - run a program with a given PID
 *
 *	bts_as PID PROGRAM [ARGUMENT...]
 *
 * The tool waits until the program has ended. Afterwards, another program can get the same PID. The
 * exit status of the tool is 0 only if the program ends with status 0. Like bts_launch, the tool is
 * linked at addresses far from the programs' addresses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int die(const char *what)
{
	fprintf(stderr, "bts_as: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid_size = 1,
	};
	int status;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: bts_as PID PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	pid = atoi(argv[1]);
	args.set_tid = (uintptr_t)&pid;
	if (personality(ADDR_NO_RANDOMIZE) < 0)
		return die("personality");

	switch (syscall(SYS_clone3, &args, sizeof(args))) {
	case -1:
		return die("clone3");
	case 0:
		execv(argv[2], argv + 2);
		_exit(die(argv[2]));
	}
	if (waitpid(pid, &status, 0) < 0)
		return die("waitpid");
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
