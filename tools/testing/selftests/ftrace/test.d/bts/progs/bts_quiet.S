/* SPDX-License-Identifier: GPL-2.0 */
/* Run until killed. Take few branches, so that an interrupt's branches are easy to find. */
#include "prog.h"

	.text
	.globl	_start
_start:
again:	.skip	1 << 18, 0x90	/* nop */
q_again: jmp	again
