/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A child that has the memory of its parent, loops and ends; the parent, which stands
 * still meanwhile, goes on.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	SYS_CALL	SYS_vfork s_vfork
	/* expect: s_vfork -> kernel */
	/* expect: kernel -> s_vfork_ret */
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
	/* expect: kernel -> s_vfork_ret */
child:	mov	$100, %ecx		/* expect: j_child -> child */
again:	dec	%ecx
back:	jnz	again			/* expect: back -> again x99 */
	EXIT	0 x_child		/* expect: x_child -> kernel */
