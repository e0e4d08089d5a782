/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every kind of branch, each with what it must record beside it.
 *
 * A body is a macro that is laid down twice, once to run at CPL 0 and once at
 * CPL 3 (CUR says which). BR FROM, TO names a taken branch by its labels, in the
 * order in which they are taken; what has no BR must not be recorded. FIX
 * LABEL says where the next exception or interrupt returns to: that is
 * recorded as EXC FROM, VECTOR, LABEL. A `ud2` stands where control must not
 * arrive. Between the CPL 0 body and the instruction that switches BTS on or
 * off nothing branches; a CPL 3 body is entered by an iretq and left by an
 * int, which the harness adds to what is expected.
 *
 * Bodies use no absolute address of their own, because they are also run
 * through a second mapping of the image (ALIAS).
 */
#include "bare.h"

#define UNMAPPED	0x20000000000	/* nothing is mapped there */

	.text
	.set	CUR, 0

	.macro	BR from, to, cpl_from=CUR, cpl_to=CUR
	.pushsection .expect, "a"
	.quad	\from, \to, \cpl_from, \cpl_to
	.popsection
	.endm

	.macro	EXC from, vector, to
	BR	\from, stub_\vector, CUR, 0
	BR	stub_iret_\vector, \to, 0, CUR
	.endm

	.macro	FIX label
	leaq	\label(%rip), %rax
	movq	%rax, fixup(%rip)
	.endm

	/* The address UNMAPPED in a register. */
	.macro	BAD reg
	movabsq	$UNMAPPED, \reg
	.endm

	.macro	KERNEL_BODY name
	.set	CUR, 0
	.pushsection .expect, "a"
	.balign	8
expect_k_\name:
	.popsection
	.balign	64
k_\name:
	movl	$IA32_DEBUGCTL, %ecx
	movl	run_debugctl(%rip), %eax
	xorl	%edx, %edx
	wrmsr
	body_\name
k_end_\name:
	movl	$IA32_DEBUGCTL, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	ret
	.pushsection .expect, "a"
expect_k_end_\name:
	.popsection
	.pushsection .branch_tests, "a"
	.quad	k_\name, k_end_\name, expect_k_\name, expect_k_end_\name
	.popsection
	.endm

	.macro	USER_BODY name
	.set	CUR, 3
	.pushsection .expect, "a"
	.balign	8
expect_u_\name:
	.popsection
	.balign	64
u_\name:
	body_\name
u_end_\name:
	int	$VEC_USER_EXIT
	.pushsection .expect, "a"
expect_u_end_\name:
	.popsection
	.pushsection .branch_tests, "a"
	.quad	u_\name, u_end_\name, expect_u_\name, expect_u_end_\name
	.popsection
	.endm

	.macro	NO_BODY
	.pushsection .branch_tests, "a"
	.quad	0, 0, 0, 0
	.popsection
	.endm

	.macro	TITLE text
	.pushsection .rodata
9999:	.asciz	"\text"
	.popsection
	.pushsection .branch_tests, "a"
	.quad	9999b
	.popsection
	.endm

	.macro	FLAGS flags
	.pushsection .branch_tests, "a"
	.quad	\flags
	.popsection
	.endm

	.macro	TEST_BOTH name, text, flags=0
	TITLE	"\text"
	KERNEL_BODY \name
	USER_BODY \name
	FLAGS	\flags
	.endm

	.macro	TEST_KERNEL name, text, flags=0
	TITLE	"\text"
	KERNEL_BODY \name
	NO_BODY
	FLAGS	\flags
	.endm

	.macro	TEST_USER name, text, flags=0
	TITLE	"\text"
	NO_BODY
	USER_BODY \name
	FLAGS	\flags
	.endm

/* ---- conditional jumps ---- */

	.macro	SET_FLAGS value
	push	$\value
	popf
	.endm

	.macro	CC cond, taken, untaken
	SET_FLAGS \taken
1:	j\cond	2f
	BR	1b, 2f
	ud2
2:	SET_FLAGS \untaken
	j\cond	3f
	nop
3:	SET_FLAGS \untaken
	j\cond	4f
	nop
	SET_FLAGS \taken
5:	j\cond	4f
	BR	5b, 4f
	ud2
	.skip	200, 0x90
4:
	.endm

	.macro	body_jcc
	CC	o, 0x800, 0
	CC	no, 0, 0x800
	CC	b, 1, 0
	CC	ae, 0, 1
	CC	e, 0x40, 0
	CC	ne, 0, 0x40
	CC	be, 1, 0
	CC	a, 0, 0x40
	CC	s, 0x80, 0
	CC	ns, 0, 0x80
	CC	p, 4, 0
	CC	np, 0, 4
	CC	l, 0x80, 0x880
	CC	ge, 0x880, 0x800
	CC	le, 0x40, 0x880
	CC	g, 0x880, 0x40
	.endm
	TEST_BOTH jcc, "each condition, short and near, taken and untaken"

	.macro	body_cmp_jcc
	movl	$5, %ebx
	cmpl	$5, %ebx
1:	je	2f
	BR	1b, 2f
	ud2
2:	cmpl	$6, %ebx
	jg	2f
	testl	%ebx, %ebx
	jz	2f
	subl	$6, %ebx
3:	js	4f
	BR	3b, 4f
	ud2
2:	ud2
4:	addl	$1, %ebx
5:	jc	6f
	BR	5b, 6f
	ud2
6:	decl	%ebx
7:	jl	8f
	BR	7b, 8f
	ud2
8:	cmpb	$0xff, %bl
	ja	2b
	.endm
	TEST_BOTH cmp_jcc, "conditional jumps after arithmetic"

	.macro	body_jcc_back
	movl	$3, %ebx
1:	decl	%ebx
2:	jnz	1b
	BR	2b, 1b
	BR	2b, 1b
	.endm
	TEST_BOTH jcc_back, "a backward jcc, taken twice, then not"

	.macro	body_je_0
	xorl	%ebx, %ebx
1:	je	2f
	BR	1b, 2f
2:	jne	3f
3:	.byte	0x0f, 0x84, 0, 0, 0, 0		/* je near +0 */
4:	BR	3b, 4b
	.endm
	TEST_BOTH je_0, "je +0 is taken, jne +0 is not"

	.macro	body_jcc_hint
	xorl	%ebx, %ebx
1:	.byte	0x3e
	je	2f
	BR	1b, 2f
	ud2
2:	.byte	0x2e
	jne	3f
3:
	.endm
	TEST_BOTH jcc_hint, "jcc with a branch hint: from is the prefix"

	/* The last two are where a translator makes no branch of it at all. */
	.macro	body_no_branch
	xorl	%ebx, %ebx
	cmovel	%ebx, %ecx
	sete	%cl
	movl	$1, %eax
	lock cmpxchgl %ecx, -8(%rsp)
	push	%rbx
	popf
	cpuid
	pause
	enter	$16, $0
	leave
	xorl	%ecx, %ecx
	shll	%cl, %eax
	btl	%ecx, %eax
	.endm
	TEST_BOTH no_branch, "instructions that are no branches"

	.macro	body_no_branch_k
	movq	%cr3, %rax
	movq	%rax, %cr3
	invlpg	(%rsp)
	movq	%cr0, %rax
	movq	%rax, %cr0
	sti
	nop
	cli
	movl	$IA32_LSTAR, %ecx
	rdmsr
	wrmsr
	movl	%ss, %eax
	movl	%eax, %ss
	inb	$0x80, %al
	outb	%al, $0x80
	clts
	wbinvd
	.endm
	TEST_KERNEL no_branch_k, "privileged instructions that end a block"

	.macro	body_fall_through
	.skip	9000, 0x90
	.endm
	TEST_BOTH fall_through, "running from page to page is no branch"

/* ---- jumps ---- */

	.macro	body_jmp
1:	jmp	2f
	BR	1b, 2f
	ud2
2:	jmp	4f
	BR	2b, 4f
	ud2
	.skip	5000, 0x90
3:	jmp	5f
	ud2
4:	jmp	3b
	BR	4b, 3b
	BR	3b, 5f
	ud2
5:	jmp	6f
	BR	5b, 6f
6:	.byte	0xe9, 0, 0, 0, 0
	BR	6b, 7f
7:
	.endm
	TEST_BOTH jmp, "jmp short, near, back and +0"

	.macro	body_jmp_indirect
	leaq	2f(%rip), %rbx
1:	jmp	*%rbx
	BR	1b, 2f
	ud2
2:	leaq	3f(%rip), %rbx
	movq	%rbx, -8(%rsp)
4:	jmp	*-8(%rsp)
	BR	4b, 3f
	ud2
3:	leaq	5f(%rip), %rbx
	push	%rbx
	movl	$1, %ecx
6:	notrack jmp *-8(%rsp, %rcx, 8)
	BR	6b, 5f
	ud2
5:	pop	%rbx
	leaq	8f(%rip), %r9
7:	jmp	*%r9
	BR	7b, 8f
8:
	.endm
	TEST_BOTH jmp_indirect, "jmp through a register and through memory"

	.macro	body_loop
	movl	$3, %ecx
1:	nop
2:	loop	1b
	BR	2b, 1b
	BR	2b, 1b
	movl	$2, %ecx
	xorl	%ebx, %ebx
3:	loope	4f
	BR	3b, 4f
	ud2
4:	movl	$2, %ecx
	loopne	9f
	incl	%ebx
5:	loopne	6f
	movl	$2, %ecx
7:	loopne	6f
	BR	7b, 6f
9:	ud2
6:	movl	$2, %ecx
8:	loop	10f
	BR	8b, 10f
10:
	.endm
	TEST_BOTH loop, "loop, loope, loopne, taken and untaken, loop +0"

	.macro	body_jrcxz
	movl	$1, %ecx
	jrcxz	9f
	xorl	%ecx, %ecx
1:	jrcxz	2f
	BR	1b, 2f
9:	ud2
2:	btsq	$32, %rcx
3:	jecxz	4f
	BR	3b, 4f
	ud2
4:	jrcxz	9b
	.endm
	TEST_BOTH jrcxz, "jrcxz and jecxz, taken and untaken"

/* ---- calls ---- */

	.macro	body_call
1:	call	2f
	BR	1b, 2f
	BR	2f, 3f
3:	call	4f
	BR	3b, 4f
	BR	4f, 5f
	BR	5f, 6f
5:	jmp	6f
	ud2
2:	ret
4:	rep ret
6:	push	%rbx
7:	call	8f
	BR	7b, 8f
	BR	8f, 9f
9:	jmp	10f
	BR	9b, 10f
8:	ret	$8
10:	call	11f
	BR	10b, 11f
11:	addq	$8, %rsp
	.endm
	TEST_BOTH call, "call, ret, rep ret, ret imm16, call +0"

	.macro	body_call_indirect
	leaq	9f(%rip), %rbx
1:	call	*%rbx
	BR	1b, 9f
	BR	9f, 2f
2:	push	%rbx
3:	call	*(%rsp)
	BR	3b, 9f
	BR	9f, 4f
4:	addq	$8, %rsp
	movq	%rbx, %r10
5:	call	*%r10
	BR	5b, 9f
	BR	9f, 6f
6:	jmp	10f
	BR	6b, 10f
9:	ret
10:
	.endm
	TEST_BOTH call_indirect, "call through a register and through memory"

	.macro	body_recursion
	movl	$3, %ebx
1:	call	2f
	BR	1b, 2f
	BR	4f, 2f
	BR	4f, 2f
	BR	3f, 6f
	BR	6f, 5f
	BR	6f, 5f
	BR	6f, 7f
7:	jmp	8f
	BR	7b, 8f
2:	decl	%ebx
3:	jz	6f
4:	call	2b
5:	nop
6:	ret
8:
	.endm
	TEST_BOTH recursion, "recursion"

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

	/* At CPL 3 this crashes the guest of an unpatched QEMU 7.2. */
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
	TEST_KERNEL to_user, "iret and far ret to CPL 3, int back"

/* ---- software interrupts ---- */

	.macro	body_int_n
	FIX	2f
1:	int	$VEC_INT
	EXC	1b, 65, 2f
2:	FIX	4f
3:	int	$VEC_INT
	EXC	3b, 65, 4f
	ud2
4:
	.endm
	TEST_BOTH int_n, "int n and the iret after it"

	.macro	body_int3
	FIX	2f
1:	int3
	EXC	1b, 3, 2f
	ud2
2:	FIX	4f
3:	.byte	0xcd, 3
	EXC	3b, 3, 4f
	ud2
4:
	.endm
	TEST_BOTH int3, "int3"

	.macro	body_int_dpl
	FIX	2f
1:	int	$VEC_DPL0
	EXC	1b, 13, 2f
	ud2
2:
	.endm
	TEST_USER int_dpl, "int n that is refused is one record, of #GP"

/* ---- exceptions: from is the interrupted instruction pointer ---- */

	.macro	body_ud
	FIX	2f
1:	ud2
	EXC	1b, 6, 2f
2:	jmp	3f
	BR	2b, 3f
3:
	.endm
	TEST_BOTH ud, "#UD"

	.macro	body_de
	xorl	%ebx, %ebx
	FIX	2f
1:	divl	%ebx
	EXC	1b, 0, 2f
	ud2
2:
	.endm
	TEST_BOTH de, "#DE"

	.macro	body_gp
	movl	$0x1230, %ebx
	FIX	2f
1:	movl	%ebx, %ds
	EXC	1b, 13, 2f
	ud2
2:
	.endm
	TEST_BOTH gp, "#GP"

	.macro	body_pf
	BAD	%rbx
	FIX	2f
1:	movq	(%rbx), %rax
	EXC	1b, 14, 2f
	ud2
2:	FIX	4f
3:	movq	%rax, (%rbx)
	EXC	3b, 14, 4f
	ud2
4:	FIX	6f
	movl	$4, %ecx
	movq	%rsp, %rsi
	movq	%rbx, %rdi
5:	rep movsb
	EXC	5b, 14, 6f
	ud2
6:
	.endm
	TEST_BOTH pf, "#PF on a load, a store and in rep movs"

	.macro	body_pf_fetch
	BAD	%rbx
	FIX	2f
1:	jmp	*%rbx
	BR	1b, UNMAPPED
	EXC	UNMAPPED, 14, 2f
	ud2
2:	FIX	4f
	movq	%rsp, %rbp
3:	call	*%rbx
	BR	3b, UNMAPPED
	EXC	UNMAPPED, 14, 4f
	ud2
4:	movq	%rbp, %rsp
	.endm
	TEST_BOTH pf_fetch, "a branch to nowhere, then #PF from there"

	.macro	body_faulting
	BAD	%rbx
	movq	%rsp, %rbp
	FIX	2f
1:	jmp	*(%rbx)
	EXC	1b, 14, 2f
	ud2
2:	FIX	4f
3:	call	*(%rbx)
	EXC	3b, 14, 4f
	ud2
4:	FIX	6f
	movq	%rbx, %rsp
5:	ret
	EXC	5b, 14, 6f
	ud2
6:	FIX	8f
	movq	%rbx, %rsp
7:	call	9f
	EXC	7b, 14, 8f
9:	ud2
8:	FIX	11f
	movq	%rbx, %rsp
10:	lretq
	EXC	10b, 14, 11f
	ud2
11:	FIX	13f
	movq	%rbx, %rsp
12:	iretq
	EXC	12b, 14, 13f
	ud2
13:	FIX	15f
	movq	%rbx, %rsp
14:	rex.w ljmp *(%rbx)
	EXC	14b, 14, 15f
	ud2
15:	movq	%rbp, %rsp
	.endm
	TEST_BOTH faulting, "a branch that faults is one record, of its #PF"

	.macro	body_faulting_far
	movq	%rsp, %rbp
	push	$0x1230
	leaq	9f(%rip), %rax
	push	%rax
	FIX	2f
1:	lretq
	EXC	1b, 13, 2f
	ud2
2:	FIX	4f
3:	rex.w ljmp *(%rsp)
	EXC	3b, 13, 4f
	ud2
4:	movl	%ss, %eax
	push	%rax
	push	%rbp
	pushf
	push	$0x1230
	leaq	9f(%rip), %rax
	push	%rax
	FIX	6f
5:	iretq
	EXC	5b, 13, 6f
9:	ud2
6:	movq	%rbp, %rsp
	.endm
	TEST_BOTH faulting_far, "a far branch to a bad selector is one record, of #GP"

	.macro	body_tf
	FIX	2f
	pushf
	orl	$0x100, (%rsp)
	popf
	nop
1:	EXC	1b, 1, 2f
	ud2
2:	FIX	5f
	pushf
	orl	$0x100, (%rsp)
	popf
3:	jmp	4f
	BR	3b, 4f
	ud2
4:	EXC	4b, 1, 5f
	ud2
5:
	.endm
	TEST_BOTH tf, "#DB by the trap flag, after a nop and after a jmp"

/* ---- interrupts ---- */

	.macro	body_irq
	FIX	2f
	sti
	nop
1:	EXC	1b, 81, 2f
	ud2
2:	cli
	.endm
	TEST_KERNEL irq, "external interrupt", BT_IRQ

	.macro	body_irq_jmp
	FIX	3f
	sti
1:	jmp	2f
	BR	1b, 2f
	ud2
2:	EXC	2b, 81, 3f
	ud2
3:	cli
	.endm
	TEST_KERNEL irq_jmp, "external interrupt right after a jmp", BT_IRQ

	.macro	body_irq_hlt
	FIX	2f
	sti
	hlt
1:	EXC	1b, 81, 2f
	ud2
2:	cli
	.endm
	TEST_KERNEL irq_hlt, "external interrupt out of hlt", BT_IRQ

	/* EFLAGS.IF comes with the iretq: the first instruction never runs. */
	.macro	body_irq_user
1:	EXC	1b, 81, 2f
	ud2
2:	jmp	3f
	BR	2b, 3f
	ud2
3:
	.endm
	TEST_USER irq_user, "external interrupt at CPL 3", (BT_IRQ | BT_USER_IF)

	/* Where it comes is up to the CPU, but the stub found out. */
	.macro	body_nmi
	FIX	2f
	movl	$0xfee00300, %ebx
	movl	$0x4400, (%rbx)
	nop
	movq	%cr3, %rax
	movq	%rax, %cr3
	nop
	movq	%rax, %cr3
	nop
	ud2
	EXC	0, 2, 2f
2:
	.endm
	TEST_KERNEL nmi, "NMI"

	/*
	 * The SMM handler below takes branches of its own; nothing of it, nor the
	 * way in and out, is recorded, and BTS goes on afterwards.
	 */
	.macro	body_smi
1:	jmp	2f
	BR	1b, 2f
	ud2
2:	movl	$0x55, %eax
	outb	%al, $0xb2
	movq	%cr3, %rax
	movq	%rax, %cr3
	nop
3:	jmp	4f
	BR	3b, 4f
	ud2
4:
	.endm
	TEST_KERNEL smi, "SMM suspends", BT_SMI

	.globl	smm_handler, smm_handler_end
	.code16
smm_handler:
	xorw	%ax, %ax
	movw	%ax, %ds
	movl	$smm_count, %ebx
	incl	(%ebx)
	jmp	1f
	hlt
1:	movw	$3, %cx
2:	loop	2b
	rsm
smm_handler_end:
	.code64

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

/* ---- string instructions ---- */

	.macro	body_rep
	subq	$256, %rsp
	movq	%rsp, %rsi
	leaq	64(%rsp), %rdi
	movl	$64, %ecx
	rep movsb
	movl	$8, %ecx
	rep stosq
	movl	$4, %ecx
	rep lodsb
	xorl	%ecx, %ecx
	rep movsb
	movl	$16, %ecx
	movq	%rsp, %rdi
	movq	%rsp, %rsi
	repe cmpsb
	movl	$16, %ecx
	movq	%rsp, %rdi
	repne scasb
	movl	$1, %ecx
	movq	%rsp, %rdi
	rep stosb
	movsb
	cmpsb
	std
	cld
	addq	$256, %rsp
	.endm
	TEST_BOTH rep, "rep string instructions, zero or many iterations"

/* ---- code that lies awkwardly ---- */

	/* 4093 is where a five-byte jmp straddles a page. */
	.macro	body_straddle
1:	jmp	2f
	BR	1b, 2f
	ud2
	.balign	4096
	.skip	4093, 0x90
2:	.byte	0xe9
	.long	4f - 3f
3:	BR	2b, 4f
	ud2
	.balign	4096
	.skip	4095, 0x90
4:	jmp	5f
	BR	4b, 5f
	ud2
5:	leaq	7f(%rip), %rbx
6:	jmp	*%rbx
	BR	6b, 7f
	ud2
	.balign	4096
	.skip	4094, 0x90
7:	xorl	%ebx, %ebx
8:	jz	9f
	BR	8b, 9f
	ud2
	.balign	4096
9:
	.endm
	TEST_BOTH straddle, "branches that lie across pages and go to page starts"

	.macro	body_self_jump
	movl	$2, %ecx
1:	loop	1b
	BR	1b, 1b
	movl	$5, %ecx
2:	loop	2b
	BR	2b, 2b
	BR	2b, 2b
	BR	2b, 2b
	BR	2b, 2b
	.endm
	TEST_BOTH self_jump, "a branch to itself"

/* ---- 32-bit code ---- */

	/*
	 * In and out of a compatibility mode segment with base `base`: records
	 * hold linear addresses, not offsets in the segment.
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
	TEST_USER compat_base, "32-bit code in a segment with a base", BT_NO_ALIAS

	/* The stub's iretq returns to the segment it came from. */
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
	TEST_USER compat_int, "int n and #UD in a segment with a base", BT_NO_ALIAS
