/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Execute two functions at the same address. First, write a function to this address, as a JIT
 * compiler does. Then map a page of the program's own file there. This page contains the other
 * function. Finally, move this mapping, and execute the other function again, at the new address.
 *
 * The program's file must have all code in the page at TEXT_OFFSET. The path of the file must
 * be in argv[0]. If bts_launch starts the program, argv[0] contains this path.
 */
#include "prog.h"

#define SYS_open	2
#define SYS_munmap	11
#define SYS_mremap	25

#define OTHER_PLACE	0x20000000
#define TEXT_OFFSET	0x1000

#define MAP_FILE	0x12		/* private, fixed */
#define MREMAP		3		/* may move, fixed */

	.text
	.globl	_start
_start:
	mov	8(%rsp), %rbp

	JIT_FUNCTION
	mov	$PLACE, %eax
c_jit:	call	*%rax

	mov	$PLACE, %edi
	mov	$PAGE, %esi
	SYS_CALL	SYS_munmap s_unmap
	mov	%rbp, %rdi
	xor	%esi, %esi
	SYS_CALL	SYS_open s_open
	mov	%eax, %r8d
	mov	$PLACE, %edi
	mov	$PAGE, %esi
	mov	$PROT_RX, %edx
	mov	$MAP_FILE, %r10d
	mov	$TEXT_OFFSET, %r9d
	SYS_CALL	SYS_mmap s_file
	lea	function(%rip), %rax
	and	$(PAGE - 1), %eax
	mov	%eax, %ebx
	add	$PLACE, %eax
c_file:	call	*%rax

	mov	$PLACE, %edi
	mov	$PAGE, %esi
	mov	$PAGE, %edx
	mov	$MREMAP, %r10d
	mov	$OTHER_PLACE, %r8d
	SYS_CALL	SYS_mremap s_move
	lea	OTHER_PLACE(%rbx), %eax
c_move:	call	*%rax

	EXIT	0 x_exit

function:
	ret
