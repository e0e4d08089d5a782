/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs until it is killed, with hardly a branch: what an interrupt leaves in the
 * trace stands alone there, and whoever comes finds it at the same instruction.
 */
#include "prog.h"

	.bss
	.balign	16
room:	.skip	1 << 20

	.text
	.globl	_start
_start:
again:	mov	$room, %edi
	mov	$1 << 20, %ecx
q_store: rep stosb
q_again: jmp	again
