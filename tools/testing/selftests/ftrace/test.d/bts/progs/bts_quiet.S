/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs until it is killed, with hardly any branches. So the branches of an interrupt stand out in
 * the trace, and all interrupts hit the same instruction.
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
