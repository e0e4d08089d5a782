/* SPDX-License-Identifier: GPL-2.0 */
/* Call getpid() repeatedly, until killed. This system call takes a short path in the kernel. */
#include "prog.h"

	.text
	.globl	_start
_start:
again:	SYS_CALL SYS_getpid s_pid
j_again: jmp	again
