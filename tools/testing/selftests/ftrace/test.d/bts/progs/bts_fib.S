/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compute fib(10) recursively, with 177 calls of fib (2 * F(11) - 1). Each call returns through one
 * of two return instructions. The tool bts_step lists the expected branches. The program bts_fib16
 * computes fib(16), and takes about 8000 branches. The program bts_fib20 computes fib(20), and
 * takes about 55,000 branches. Packs of fib's branches are large, unlike packs of a loop.
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
