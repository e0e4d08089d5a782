/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call time(), a function in the vsyscall page. The address of this function is in the kernel's
 * range, but user code can call the function. The call causes a page fault. Then the kernel
 * emulates the function, and returns to the first nop below. A single-stepper does not stop at
 * this nop, but at the second nop.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	xor	%edi, %edi
	mov	$0xffffffffff600400, %rax	/* time(NULL) */
c_time:	call	*%rax
	/* expect: c_time -> kernel */
	/* expect: kernel -> r_time */
r_time:	nop
	nop
	EXIT	0 x_exit		/* expect: x_exit -> kernel */
