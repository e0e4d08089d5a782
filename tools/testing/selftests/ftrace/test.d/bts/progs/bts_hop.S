/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Move from CPU 0 to CPU 1 and back, and take branches after each move. When the program moves,
 * branches are still in the DS buffer of the old CPU. In the trace, these branches must precede the
 * branches on the new CPU. If there is only one CPU, the moves fail, but the program takes the same
 * branches.
 */
#include "prog.h"

	.section .rodata
	.balign	8
cpu:	.quad	1, 2

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$20, %ebx
hop:	mov	%ebx, %eax
	and	$1, %eax
	lea	cpu(%rip), %rdx
	lea	(%rdx, %rax, 8), %rdx
	xor	%edi, %edi
	mov	$8, %esi
	SYS_CALL	SYS_sched_setaffinity s_hop
	mov	$50, %ecx
again:	dec	%ecx
back:	jnz	again
	dec	%ebx
next:	jnz	hop
	/* expect: repeat 19 */
	/* expect: s_hop -> kernel */
	/* expect: kernel -> s_hop_ret */
	/* expect: back -> again x49 */
	/* expect: next -> hop */
	/* expect: end */
	/* expect: s_hop -> kernel */
	/* expect: kernel -> s_hop_ret */
	/* expect: back -> again x49 */
	EXIT	0 x_exit		/* expect: x_exit -> kernel */
