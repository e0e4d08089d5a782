// SPDX-License-Identifier: GPL-2.0-only
/*
 * Report whether a process ends when its terminal closes, and make a process end with its parent.
 * Recordings run in child processes, which must not outlive the bts process that started them.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "process.h"

bool process_ignores_hangup(void)
{
	struct sigaction action;

	return !sigaction(SIGHUP, NULL, &action) && action.sa_handler == SIG_IGN;
}

bool process_ends_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return getppid() == parent;
}
