/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call time(), a function in the vsyscall page. This function has a kernel address, but is called
 * like user code. The call causes a page fault. The kernel emulates the function, and returns to
 * the caller. Two nops follow the call, because after the fault, a single-stepper stops only at the
 * second nop.
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
