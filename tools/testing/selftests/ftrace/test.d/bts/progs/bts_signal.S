/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handle four signals. The program sends the first signal to itself, and receives it on return
 * from kill(). Exceptions cause the other three signals: #UD, a #PF from a read, and a #PF from a
 * jump. The handler sets the return address to the address in R12, so the program continues there.
 */
#include "prog.h"

#define SA_RESTORER	0x04000000
#define SA_SIGINFO	0x4
#define UC_MCONTEXT_RIP	168		/* offsetof(struct ucontext, uc_mcontext.ip) */

	.data
	.balign	8
action:	.quad	handler
	.quad	SA_RESTORER | SA_SIGINFO
	.quad	restorer
	.quad	0

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	mov	$SIGUSR1, %edi
c_usr1:	call	install			/* expect: c_usr1 -> install */
	/* expect: s_act -> kernel */
	/* expect: kernel -> s_act_ret */
r_usr1:	mov	$SIGILL, %edi		/* expect: i_ret -> r_usr1 */
c_ill:	call	install			/* expect: c_ill -> install */
	/* expect: s_act -> kernel */
	/* expect: kernel -> s_act_ret */
r_ill:	mov	$SIGSEGV, %edi		/* expect: i_ret -> r_ill */
c_segv:	call	install			/* expect: c_segv -> install */
	/* expect: s_act -> kernel */
	/* expect: kernel -> s_act_ret */
r_segv:					/* expect: i_ret -> r_segv */

	lea	done(%rip), %r12
	SYS_CALL	SYS_getpid s_pid
	/* expect: s_pid -> kernel */
	/* expect: kernel -> s_pid_ret */
	mov	%eax, %edi
	mov	$SIGUSR1, %esi
	lea	s_kill_ret(%rip), %r12
	SYS_CALL	SYS_kill s_kill
	/* expect: s_kill -> kernel */
	/* expect: kernel -> handler */
	/* expect: h_ret -> restorer */
	/* expect: s_back -> kernel */
	/* expect: kernel -> s_kill_ret */

	lea	after_ud(%rip), %r12
bad_ud:	ud2
	/* expect: bad_ud -> kernel */
	/* expect: kernel -> handler */
	/* expect: h_ret -> restorer */
	/* expect: s_back -> kernel */
	/* expect: kernel -> after_ud */
after_ud:
	lea	after_read(%rip), %r12
	xor	%eax, %eax
bad_read: mov	(%rax), %eax
	/* expect: bad_read -> kernel */
	/* expect: kernel -> handler */
	/* expect: h_ret -> restorer */
	/* expect: s_back -> kernel */
	/* expect: kernel -> after_read */
after_read:
	lea	done(%rip), %r12
	mov	$0x1000, %eax
bad_jmp: jmp	*%rax
	/* The CPU takes the jump, but cannot fetch the instruction at its target. */
	/* expect: bad_jmp -> nowhere */
	/* expect: nowhere -> kernel */
	/* expect: kernel -> handler */
	/* expect: h_ret -> restorer */
	/* expect: s_back -> kernel */
	/* expect: kernel -> done */
done:	EXIT	0 x_exit		/* expect: x_exit -> kernel */

	.globl	nowhere
	.set	nowhere, 0x1000

install:
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	SYS_CALL	SYS_rt_sigaction s_act
i_ret:	ret

handler:
	mov	%r12, UC_MCONTEXT_RIP(%rdx)
h_ret:	ret

restorer:
	SYS_CALL	SYS_rt_sigreturn s_back
