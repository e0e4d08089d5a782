/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sleeps three times for 20 ms, with branches in between: when it leaves its CPU
 * of its own will, where, and for how long is known. In between the CPU may be
 * taken from it; what it does there is in user space.
 */
#include "prog.h"

	.section .rodata
	.balign	8
time:	.quad	0, 20000000

	.text
	.globl	_start
_start:
	mov	$3, %ebx
again:	mov	$50, %ecx
loop:	dec	%ecx
back:	jnz	loop
	lea	time(%rip), %rdi
	xor	%esi, %esi
	SYS_CALL	SYS_nanosleep s_sleep
	dec	%ebx
next:	jnz	again
	EXIT	0 x_exit
