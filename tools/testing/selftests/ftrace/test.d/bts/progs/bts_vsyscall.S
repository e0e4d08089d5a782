/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The vsyscall page is in the kernel's half of the address space, is called like user code,
 * and is emulated by a page fault: the call enters the kernel, and the kernel returns to
 * the caller. Two nops follow each call, because a single-stepper first stops at the second
 * nop after the fault.
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
