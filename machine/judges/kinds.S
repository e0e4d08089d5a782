/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kinds: take near branches of every kind, and execute system calls, page faults and string
 * instructions between the branches.
 *
 * The script judges/perf checks the recorded branches of kinds, and looks up two labels. kinds
 * calls getppid() SYSCALLS times, and each call returns to after_syscall. At je_0, kinds takes a
 * conditional branch whose target is the next instruction.
 */
#define SYSCALLS	100
#define PAGES		32

	.bss
	.balign	4096
fresh:	.skip	PAGES * 4096

	.text
	.globl	_start, after_syscall, je_0
_start:
	movl	$SYSCALLS, %ebx
next:	movl	$110, %eax
	syscall
after_syscall:
	decl	%ebx
	jnz	next

	/* Each movq causes a page fault, and is executed again. This repetition is not a branch. */
	leaq	fresh(%rip), %rdi
	movl	$PAGES, %ecx
touch:	movq	%rcx, (%rdi)
	addq	$4096, %rdi
	loop	touch

	movl	$300, %r12d
round:	leaq	leaf(%rip), %rax
	call	*%rax
	push	%rax
	call	*(%rsp)
	leaq	1f(%rip), %rax
	movq	%rax, (%rsp)
	jmp	*(%rsp)
	ud2
1:	pop	%rax
	call	leaf
	push	%rax
	call	leaf_8
	xorl	%eax, %eax
je_0:	je	1f
1:	jne	1f
	jecxz	1f
	movl	$3, %ecx
	loop	2f
	ud2
2:	jrcxz	1f
	jmp	3f
1:	jmp	4f
3:	xorl	%ecx, %ecx
	jrcxz	1b
	ud2
4:	leaq	fresh(%rip), %rdi
	movq	%rdi, %rsi
	movl	$10, %ecx
	rep movsb
	movl	$10, %ecx
	repne scasb
	movl	$5, %edi
	call	recurse
	testl	$1, %r12d
	jz	1f
	jmp	far_away
back:	nop
1:	decl	%r12d
	jnz	round

	movl	$231, %eax
	xorl	%edi, %edi
	syscall
	ud2

leaf:	ret
leaf_8:	ret	$8

recurse:
	decl	%edi
	jz	1f
	call	recurse
1:	rep ret

	.skip	70000, 0x90
far_away:
	jmp	back
