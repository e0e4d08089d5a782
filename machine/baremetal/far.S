/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Branches that may change the code segment: far transfers, system calls, and branches in
 * 32-bit code. See body.h.
 */
#include "body.h"

/* ---- far transfers ---- */

	.macro	body_far_jmp
	movl	%cs, %eax
	push	%rax
	leaq	2f(%rip), %rax
	push	%rax
1:	rex.w ljmp *(%rsp)
	BR	1b, 2f
	ud2
2:	addq	$16, %rsp
	.endm
	TEST_BOTH far_jmp, "far jmp"

	.macro	body_far_ret
	movl	%cs, %eax
	push	%rax
	leaq	2f(%rip), %rax
	push	%rax
1:	lretq
	BR	1b, 2f
	ud2
2:	push	%rbx
	movl	%cs, %eax
	push	%rax
	leaq	4f(%rip), %rax
	push	%rax
3:	lretq	$8
	BR	3b, 4f
	ud2
4:
	.endm
	TEST_BOTH far_ret, "far ret, far ret imm16"

	/* Test this only at CPL 0: in QEMU 7.2, a far call at CPL 3 crashes the guest. */
	.macro	body_far_call
	movl	%cs, %eax
	push	%rax
	leaq	2f(%rip), %rax
	push	%rax
1:	rex.w lcall *(%rsp)
	BR	1b, 2f
	BR	2f, 3f
3:	jmp	4f
	BR	3b, 4f
2:	lretq
4:	addq	$16, %rsp
	.endm
	TEST_KERNEL far_call, "far call and far ret"

	.macro	body_iret
	movq	%rsp, %rbx
	movl	%ss, %eax
	push	%rax
	push	%rbx
	pushf
	movl	%cs, %eax
	push	%rax
	leaq	2f(%rip), %rax
	push	%rax
1:	iretq
	BR	1b, 2f
	ud2
2:
	.endm
	TEST_BOTH iret, "iret to the same CPL"

	.macro	body_to_user
	movq	%rsp, %r12
	FIX	4f
	push	$SEL_UDS
	push	%r12
	pushf
	push	$SEL_UCS64
	leaq	2f(%rip), %rax
	push	%rax
1:	iretq
	BR	1b, 2f, 0, 3
	ud2
2:	jmp	3f
	BR	2b, 3f, 3, 3
	ud2
3:	int	$VEC_TO_KERNEL
	BR	3b, stub_66, 3, 0
	BR	stub_66_jmp, 4f, 0, 0
	ud2
4:	FIX	7f
	push	$SEL_UDS
	push	%r12
	push	$SEL_UCS64
	leaq	6f(%rip), %rax
	push	%rax
5:	lretq
	BR	5b, 6f, 0, 3
	ud2
6:	int	$VEC_TO_KERNEL
	BR	6b, stub_66, 3, 0
	BR	stub_66_jmp, 7f, 0, 0
	ud2
7:
	.endm
	TEST_KERNEL to_user, "iret and far ret to CPL 3, int back to CPL 0"

/* ---- system calls ---- */

	.globl	syscall_entry, sysenter_entry
syscall_entry:
	sysretq
sysenter_entry:
	sysexitq

	.macro	body_syscall
1:	syscall
	BR	1b, syscall_entry, 3, 0
	BR	syscall_entry, 2f, 0, 3
2:	jmp	3f
	BR	2b, 3f
	ud2
3:	syscall
	BR	3b, syscall_entry, 3, 0
	BR	syscall_entry, 4f, 0, 3
4:
	.endm
	TEST_USER syscall, "syscall and sysret"

	.macro	body_sysenter
	movq	%rsp, %rcx
	leaq	2f(%rip), %rdx
1:	sysenter
	BR	1b, sysenter_entry, 3, 0
	BR	sysenter_entry, 2f, 0, 3
	ud2
2:
	.endm
	TEST_USER sysenter, "sysenter and sysexit"

/* ---- 32-bit code ---- */

	/*
	 * Enter and leave a compatibility-mode segment with the base `base`. The records must
	 * contain linear addresses, not offsets in the segment.
	 */
	.macro	COMPAT sel, base
	leaq	-\base+2f(%rip), %rax
	push	$\sel
	push	%rax
1:	rex.w ljmp *(%rsp)
	BR	1b, 2f
	ud2
	.code32
2:	xorl	%ebx, %ebx
3:	jz	4f
	BR	3b, 4f
	ud2
4:	call	5f
	BR	4b, 5f
	BR	5f, 6f
6:	jmp	7f
	BR	6b, 7f
5:	ret
7:	movl	$8f - \base, %ebx
9:	jmp	*%ebx
	BR	9b, 8f
	ud2
8:	movl	$2, %ecx
10:	loop	10b
	BR	10b, 10b
11:	ljmp	$SEL_UCS64, $12f
	BR	11b, 12f
	.code64
12:	addq	$16, %rsp
	.endm

	.macro	body_compat
	COMPAT	SEL_UCS32, 0
	.endm
	TEST_USER compat, "32-bit code", BT_NO_ALIAS

	.macro	body_compat_base
	COMPAT	SEL_UCS32_BASED, CS_BASE
	.endm
	TEST_USER compat_base, "32-bit code in a segment with a nonzero base", BT_NO_ALIAS

	/* The iretq of the interrupt stub must return to the interrupted segment. */
	.macro	body_compat_int
	leaq	-CS_BASE+2f(%rip), %rax
	push	$SEL_UCS32_BASED
	push	%rax
1:	rex.w ljmp *(%rsp)
	BR	1b, 2f
	ud2
	.code32
2:	movl	$4f - CS_BASE, fixup
	movl	$0, fixup + 4
3:	int	$VEC_INT
	EXC	3b, 65, 4f
	ud2
4:	movl	$6f - CS_BASE, fixup
5:	ud2
	EXC	5b, 6, 6f
6:	ljmp	$SEL_UCS64, $7f
	BR	6b, 7f
	.code64
7:	addq	$16, %rsp
	.endm
	TEST_USER compat_int, "int n and #UD in a segment with a nonzero base", BT_NO_ALIAS
