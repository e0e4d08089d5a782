/* SPDX-License-Identifier: GPL-2.0 */
/* Calls getpid until it is killed: a short path into the kernel and back. */
#include "prog.h"

	.text
	.globl	_start
_start:
again:	SYS_CALL SYS_getpid s_pid
j_again: jmp	again
