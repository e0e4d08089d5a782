/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fork a child. The child takes branches in a loop, and ends. The parent waits for the child, and
 * then ends. The program bts_vfork is built from the same source, but calls vfork(). With vfork(),
 * the child shares the parent's memory, and the parent is suspended until the child ends.
 */
#include "prog.h"

#ifndef FORK
#define FORK SYS_fork
#endif

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	SYS_CALL	FORK s_fork
	/* expect: s_fork -> kernel */
	/* expect: kernel -> s_fork_ret */
	test	%eax, %eax
j_child: jz	child
	mov	%eax, %edi
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	SYS_CALL	SYS_wait4 s_wait
	/* expect: s_wait -> kernel */
	/* expect: kernel -> s_wait_ret */
	EXIT	0 x_parent		/* expect: x_parent -> kernel */

	/* expect: task 1 */
	/* expect: kernel -> s_fork_ret */
child:	mov	$100, %ecx		/* expect: j_child -> child */
again:	dec	%ecx
back:	jnz	again			/* expect: back -> again x99 */
	EXIT	0 x_child		/* expect: x_child -> kernel */
