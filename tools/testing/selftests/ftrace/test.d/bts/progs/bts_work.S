/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ten million branches with other instructions between them, as in real programs, to measure
 * elapsed time. The branches in its trace are counted, not compared.
 */
#include "prog.h"

#define ROUNDS	10000000
#define WORK	96

	.text
	.globl	_start
_start:
	mov	$ROUNDS, %ebx
again:
	.rept	WORK
	add	%rbx, %rax
	.endr
	dec	%ebx
	jnz	again
	EXIT	0 x_exit
