/* SPDX-License-Identifier: GPL-2.0 */
/* Until killed, call getpid(), a system call with a short path through the kernel. */
#include "prog.h"

	.text
	.globl	_start
_start:
again:	SYS_CALL SYS_getpid s_pid
j_again: jmp	again
