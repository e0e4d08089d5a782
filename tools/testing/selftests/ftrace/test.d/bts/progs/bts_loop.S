/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take the same branch LOOPS - 1 times. The program bts_million is built from the same source, and
 * takes a million branches. The two programs are linked at different addresses, so that the address
 * of a branch identifies its program.
 */
#include "prog.h"

#ifndef LOOPS
#define LOOPS 1000
#endif

	.globl	again_count
	.set	again_count, LOOPS - 1

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$LOOPS, %ecx
again:	dec	%ecx
back:	jnz	again			/* expect: back -> again xagain_count */
	EXIT	0 x_exit		/* expect: x_exit -> kernel */
