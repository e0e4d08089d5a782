/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cause page faults by writing to PAGES pages of .bss for the first time. Each write enters the
 * kernel, which then returns to the same instruction. The addresses of these entries and returns
 * are known, so the list of expected branches contains them. The last write touches two
 * pages, one of which has been touched before.
 */
#include "prog.h"

#define PAGES 16

	.bss
	.balign	4096
pages:	.skip	4096 * (PAGES + 1)

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$PAGES, %ecx
	lea	pages(%rip), %rdi
again:
touch:	movb	$1, (%rdi)
	add	$4096, %rdi
	dec	%ecx
back:	jnz	again
	/* expect: repeat 15 */
	/* expect: touch -> kernel */
	/* expect: kernel -> touch */
	/* expect: back -> again */
	/* expect: end */
	/* expect: touch -> kernel */
	/* expect: kernel -> touch */
cross:	movq	$1, -4(%rdi)
	/* expect: cross -> kernel */
	/* expect: kernel -> cross */
	EXIT	0 x_exit		/* expect: x_exit -> kernel */
