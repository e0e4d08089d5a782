/* SPDX-License-Identifier: GPL-2.0 */
/* Call getpid(), which takes a short path through the kernel, until the program is killed. */
#include "prog.h"

	.text
	.globl	_start
_start:
again:	SYS_CALL SYS_getpid s_pid
j_again: jmp	again
