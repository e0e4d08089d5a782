/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jumps, calls and returns within the code segment, and instructions that are not branches. See
 * body.h.
 */
#include "body.h"

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
	TEST_BOTH jcc_hint, "jcc with a branch hint: the source is the address of the prefix"

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
	TEST_BOTH no_branch, "instructions that are not branches"

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
	TEST_KERNEL no_branch_k, "privileged instructions that end a translated block"

	.macro	body_fall_through
	.skip	9000, 0x90
	.endm
	TEST_BOTH fall_through, "crossing a page boundary is not a branch"

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
	TEST_BOTH jmp, "short jmp, near jmp, backward jmp, and jmp to the next instruction"

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
	TEST_BOTH loop, "loope; loop and loopne, taken and untaken; loop to the next instruction"

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

/* ---- code at page boundaries ---- */

	/* A five-byte jmp at offset 4093 of its page crosses the page boundary. */
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
	TEST_BOTH straddle, "branches that cross a page boundary or lead to the start of a page"

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
