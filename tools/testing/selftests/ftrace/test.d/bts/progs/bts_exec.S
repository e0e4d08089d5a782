/* SPDX-License-Identifier: GPL-2.0 */
/*
 * If the program has an argument, it executes its own file again, without arguments. If the
 * program has no argument, it ends. The PID stays the same, so the trace must contain the
 * branches of both images in order.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	(%rsp), %rcx
	cmp	$1, %rcx
j_last:	je	last
	mov	8(%rsp), %rdi		/* argv[0] is the path of this program */
	mov	%rdi, -16(%rsp)
	movq	$0, -8(%rsp)
	lea	-16(%rsp), %rsi
	lea	16(%rsp, %rcx, 8), %rdx
	SYS_CALL	SYS_execve s_exec
	/* expect: s_exec -> kernel */
	/* expect: kernel -> _start */
	/* expect: j_last -> last */
	ud2
last:	EXIT	0 x_exit		/* expect: x_exit -> kernel */
