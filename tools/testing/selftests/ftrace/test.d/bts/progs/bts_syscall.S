/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Make successful system calls in a loop, and then a system call with an invalid number. The
 * program bts_busy is built from the same source, but with so many calls that they fill the DS
 * buffer many times.
 */
#include "prog.h"

#ifndef ROUNDS
#define ROUNDS 10
#endif

	.globl	again_count
	.set	again_count, ROUNDS - 1

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$ROUNDS, %ebx
again:	SYS_CALL	SYS_getpid s_pid
	SYS_CALL	SYS_getppid s_ppid
	dec	%ebx
back:	jnz	again
	/* expect: repeat xagain_count */
	/* expect: s_pid -> kernel */
	/* expect: kernel -> s_pid_ret */
	/* expect: s_ppid -> kernel */
	/* expect: kernel -> s_ppid_ret */
	/* expect: back -> again */
	/* expect: end */
	/* expect: s_pid -> kernel */
	/* expect: kernel -> s_pid_ret */
	/* expect: s_ppid -> kernel */
	/* expect: kernel -> s_ppid_ret */
	SYS_CALL	9999 s_none
	/* expect: s_none -> kernel */
	/* expect: kernel -> s_none_ret */
	cmp	$-38, %rax		/* -ENOSYS */
j_ok:	je	ok			/* expect: j_ok -> ok */
	ud2
ok:	EXIT	0 x_exit		/* expect: x_exit -> kernel */
