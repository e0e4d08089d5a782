/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Naive fib(10): 177 calls of fib, by arithmetic (2 * F(11) - 1), each left by
 * one of two returns. The order is the oracle's to say.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
	mov	$10, %edi
	call	fib
	cmp	$55, %eax
	jne	wrong
	EXIT	0 x_exit
wrong:	ud2

	.globl	fib
fib:	cmp	$2, %edi
	jb	small
	push	%rbx
	push	%rdi
	dec	%edi
	call	fib
	mov	%eax, %ebx
	pop	%rdi
	sub	$2, %edi
	call	fib
	add	%ebx, %eax
	pop	%rbx
	ret
small:	mov	%edi, %eax
	ret
