/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that is not the leader of its thread group calls execve(). Meanwhile, the leader waits
 * in pause(). The execve() ends the leader, and gives the leader's PID to the thread. The trace
 * shows the thread's later branches under this PID.
 */
#include "prog.h"

#define SYS_pause	34

#define CLONE_VM	0x00000100
#define CLONE_SIGHAND	0x00000800
#define CLONE_THREAD	0x00010000
#define FLAGS	(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)

	.bss
	.balign	16
	.skip	4096
stack:

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	(%rsp), %rcx
	cmp	$1, %rcx
j_last:	jne	last
	mov	%rsp, %rbx
	mov	$FLAGS, %edi
	lea	stack(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	SYS_CALL	SYS_clone s_clone
	/* expect: s_clone -> kernel */
	/* expect: kernel -> s_clone_ret */
	test	%eax, %eax
j_thread: jz	thread
	SYS_CALL	SYS_pause s_pause
	/* expect: s_pause -> kernel */
	/* expect: kernel -> _start */
	/* expect: j_last -> last */
	ud2
last:	EXIT	0 x_exit		/* expect: x_exit -> kernel */

thread:
	/* expect: task 1 */
	/* expect: kernel -> s_clone_ret */
	/* expect: j_thread -> thread */
	mov	8(%rbx), %rdi		/* argv[0] is the path of this program */
	lea	-32(%rsp), %rsi
	mov	%rdi, (%rsi)
	mov	%rdi, 8(%rsi)
	movq	$0, 16(%rsi)
	lea	16(%rbx), %rdx
	SYS_CALL	SYS_execve s_exec
	/* expect: s_exec -> kernel */
	ud2
