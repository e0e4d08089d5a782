/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wait for a byte from standard input before each of four steps. The steps are: do nothing, write a
 * function and make it executable, call the function, and end.
 */
#include "prog.h"

#define SYS_read	0

.macro STEP label
	xor	%edi, %edi
	lea	-8(%rsp), %rsi
	mov	$1, %edx
	SYS_CALL	SYS_read \label
.endm

	.text
	.globl	_start
_start:
	STEP	s_begin
	STEP	s_map
	JIT_FUNCTION

	STEP	s_call
	mov	$PLACE, %eax
	call	*%rax

	STEP	s_end
	EXIT	0 s_exit
