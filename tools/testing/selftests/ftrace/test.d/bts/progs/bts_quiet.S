/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run until killed. Take few branches, so that the branches of an interrupt are easy to find in the
 * trace. Almost all interrupts hit the same instruction, a long REP STOSB.
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
