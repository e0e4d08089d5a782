/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sleep three times for 20 ms, and take branches before each sleep. For each sleep, the program
 * leaves its CPU voluntarily, at a known address and for a known time. The kernel may also preempt
 * the program in user space.
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
