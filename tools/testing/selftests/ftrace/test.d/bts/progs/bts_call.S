/* SPDX-License-Identifier: GPL-2.0 */
/* Calls getpid, a short path into the kernel and back, until it is killed. */
#include "prog.h"

	.text
	.globl	_start
_start:
again:	SYS_CALL SYS_getpid s_pid
j_again: jmp	again
