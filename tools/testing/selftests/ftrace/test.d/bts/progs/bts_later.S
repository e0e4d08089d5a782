/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does one thing after the other, each when it reads a byte from standard input:
 * nothing; writes a function and maps it to be executed; calls it; ends.
 */
#include "prog.h"

#define SYS_read	0
#define SYS_mmap	9
#define SYS_mprotect	10

#define PLACE		0x10000000
#define PAGE		4096

#define PROT_RW		3
#define PROT_RX		5
#define MAP_JIT		0x32		/* private, anonymous, fixed */

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
	mov	$PLACE, %edi
	mov	$PAGE, %esi
	mov	$PROT_RW, %edx
	mov	$MAP_JIT, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	SYS_CALL	SYS_mmap s_anon
	movb	$0xc3, PLACE		/* ret */
	mov	$PLACE, %edi
	mov	$PAGE, %esi
	mov	$PROT_RX, %edx
	SYS_CALL	SYS_mprotect s_exec

	STEP	s_call
	mov	$PLACE, %eax
	call	*%rax

	STEP	s_end
	EXIT	0 s_exit
