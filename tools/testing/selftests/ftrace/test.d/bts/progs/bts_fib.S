/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compute fib(10). The recursive function fib is called 177 times, and returns through one of two
 * return instructions. The tool bts_step lists the expected branches. The program bts_fib16
 * computes fib(16) in about 8000 branches, and bts_fib20 computes fib(20) in about 55,000 branches.
 * In packs, a branch of fib needs more bytes than a branch of a loop, which is easier to predict.
 */
#include "prog.h"

#ifndef N
#define N 10
#define RESULT 55
#endif

	.text
	.globl	_start
_start:
	mov	$N, %edi
c_0:	call	fib
c_0_ret:
	cmp	$RESULT, %eax
	jne	wrong
	EXIT	0 x_exit
wrong:	ud2

	.globl	fib
fib:	cmp	$2, %edi
b_small: jb	small
	push	%rbx
	push	%rdi
	dec	%edi
c_1:	call	fib
c_1_ret:
	mov	%eax, %ebx
	pop	%rdi
	sub	$2, %edi
c_2:	call	fib
c_2_ret:
	add	%ebx, %eax
	pop	%rbx
r_big:	ret
small:	mov	%edi, %eax
r_small: ret
