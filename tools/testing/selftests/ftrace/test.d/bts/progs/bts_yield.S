/* SPDX-License-Identifier: GPL-2.0 */
/* Yield the CPU repeatedly. If two such programs share a CPU, each yield causes a task switch. */
#include "prog.h"

#define ROUNDS 200

	.globl	again_count
	.set	again_count, ROUNDS - 1

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$ROUNDS, %ebx
again:	SYS_CALL	SYS_sched_yield s_yield
	dec	%ebx
back:	jnz	again
	/* expect: repeat xagain_count */
	/* expect: s_yield -> kernel */
	/* expect: kernel -> s_yield_ret */
	/* expect: back -> again */
	/* expect: end */
	/* expect: s_yield -> kernel */
	/* expect: kernel -> s_yield_ret */
	EXIT	0 x_exit		/* expect: x_exit -> kernel */
