/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take ten million branches, for time measurements. As in real programs, there are other
 * instructions between the branches. This program has no list of expected branches.
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
