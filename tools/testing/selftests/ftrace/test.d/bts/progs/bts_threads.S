/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Start four threads. They pin themselves to CPUs 0 to 3. If a CPU does not exist, pinning fails,
 * but the thread takes the same branches. No thread waits for another thread, so the branches of a
 * thread do not depend on when the thread runs.
 */
#include "prog.h"

#define CLONE_VM	0x00000100
#define CLONE_FS	0x00000200
#define CLONE_FILES	0x00000400
#define CLONE_SIGHAND	0x00000800
#define CLONE_THREAD	0x00010000
#define CLONE_SYSVSEM	0x00040000
#define FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | \
		 CLONE_THREAD | CLONE_SYSVSEM)

	.bss
	.balign	16
	.skip	4096
stack_a:
	.skip	4096
stack_b:
	.skip	4096
stack_c:
	.skip	4096
stack_d:

	.section .rodata
	.balign	8
cpu_0:	.quad	1
cpu_1:	.quad	2
cpu_2:	.quad	4
cpu_3:	.quad	8

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$FLAGS, %edi
	lea	stack_a(%rip), %rsi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	SYS_CALL	SYS_clone s_a
	/* expect: s_a -> kernel */
	/* expect: kernel -> s_a_ret */
	test	%eax, %eax
j_a:	jz	thread_a
	lea	stack_b(%rip), %rsi
	SYS_CALL	SYS_clone s_b
	/* expect: s_b -> kernel */
	/* expect: kernel -> s_b_ret */
	test	%eax, %eax
j_b:	jz	thread_b
	lea	stack_c(%rip), %rsi
	SYS_CALL	SYS_clone s_c
	/* expect: s_c -> kernel */
	/* expect: kernel -> s_c_ret */
	test	%eax, %eax
j_c:	jz	thread_c
	lea	stack_d(%rip), %rsi
	SYS_CALL	SYS_clone s_d
	/* expect: s_d -> kernel */
	/* expect: kernel -> s_d_ret */
	test	%eax, %eax
j_d:	jz	thread_d
	EXIT	0 x_main		/* expect: x_main -> kernel */

thread_a:
	/* expect: task 1 */
	/* expect: kernel -> s_a_ret */
	/* expect: j_a -> thread_a */
	lea	cpu_0(%rip), %rdx
c_a:	call	pin			/* expect: c_a -> pin */
	/* expect: s_pin -> kernel */
	/* expect: kernel -> s_pin_ret */
	/* expect: p_ret -> r_a */
r_a:	mov	$2000, %ecx
more_a:	dec	%ecx
back_a:	jnz	more_a			/* expect: back_a -> more_a x1999 */
	EXIT	0 x_a			/* expect: x_a -> kernel */

thread_b:
	/* expect: task 2 */
	/* expect: kernel -> s_b_ret */
	/* expect: j_b -> thread_b */
	lea	cpu_1(%rip), %rdx
c_b:	call	pin			/* expect: c_b -> pin */
	/* expect: s_pin -> kernel */
	/* expect: kernel -> s_pin_ret */
	/* expect: p_ret -> r_b */
r_b:	mov	$3000, %ecx
more_b:	dec	%ecx
back_b:	jnz	more_b			/* expect: back_b -> more_b x2999 */
	EXIT	0 x_b			/* expect: x_b -> kernel */

thread_c:
	/* expect: task 3 */
	/* expect: kernel -> s_c_ret */
	/* expect: j_c -> thread_c */
	lea	cpu_2(%rip), %rdx
c_c:	call	pin			/* expect: c_c -> pin */
	/* expect: s_pin -> kernel */
	/* expect: kernel -> s_pin_ret */
	/* expect: p_ret -> r_c */
r_c:	mov	$2500, %ecx
more_c:	dec	%ecx
back_c:	jnz	more_c			/* expect: back_c -> more_c x2499 */
	EXIT	0 x_c			/* expect: x_c -> kernel */

thread_d:
	/* expect: task 4 */
	/* expect: kernel -> s_d_ret */
	/* expect: j_d -> thread_d */
	lea	cpu_3(%rip), %rdx
c_d:	call	pin			/* expect: c_d -> pin */
	/* expect: s_pin -> kernel */
	/* expect: kernel -> s_pin_ret */
	/* expect: p_ret -> r_d */
r_d:	mov	$3500, %ecx
more_d:	dec	%ecx
back_d:	jnz	more_d			/* expect: back_d -> more_d x3499 */
	EXIT	0 x_d			/* expect: x_d -> kernel */

pin:	xor	%edi, %edi
	mov	$8, %esi
	SYS_CALL	SYS_sched_setaffinity s_pin
p_ret:	ret
