/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Software interrupts, exceptions, external interrupts, NMI and SMI. See body.h.
 */
#include "body.h"

#define UNMAPPED	0x20000000000	/* an address that is not mapped */

	/* Load the address UNMAPPED into a register. */
	.macro	BAD reg
	movabsq	$UNMAPPED, \reg
	.endm

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
	TEST_USER int_dpl, "an INT instruction that raises #GP leaves only the record of this #GP"

/* ---- exceptions, whose records begin at the interrupted instruction ---- */

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
	TEST_BOTH pf, "#PF on a load, on a store, and in rep movs"

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
	TEST_BOTH pf_fetch, "a branch to an unmapped address, then the #PF at this address"

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
	TEST_BOTH faulting, "a branch that faults leaves only the record of its #PF"

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
	TEST_BOTH faulting_far, "a far branch to a bad selector leaves only the record of its #GP"

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
	TEST_BOTH tf, "#DB caused by the trap flag, after a nop and after a jmp"

	.macro	body_btf
	FIX	4f
	movl	$IA32_DEBUGCTL, %ecx
	rdmsr
	orl	$DEBUGCTL_BTF, %eax
	wrmsr
	xorl	%ebx, %ebx
	pushf
	orl	$0x100, (%rsp)
	popf
	nop
	testl	%ebx, %ebx
	jnz	2f
1:	jmp	3f
	BR	1b, 3f
2:	ud2
3:	EXC	3b, 1, 4f
	ud2
4:	rdmsr
	testl	$DEBUGCTL_BTF, %eax
5:	jz	6f
	BR	5b, 6f
	ud2
6:
	.endm
	TEST_KERNEL btf, "with TF and BTF set, only a taken branch causes #DB, and #DB clears BTF"

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
	TEST_KERNEL irq_hlt, "external interrupt that ends hlt", BT_IRQ

	/* iretq sets EFLAGS.IF, so the interrupt is taken before the body's first instruction. */
	.macro	body_irq_user
1:	EXC	1b, 81, 2f
	ud2
2:	jmp	3f
	BR	2b, 3f
	ud2
3:
	.endm
	TEST_USER irq_user, "external interrupt at CPL 3", (BT_IRQ | BT_USER_IF)

	/*
	 * The NMI may interrupt any of these instructions, so the first argument of EXC is 0, not a
	 * label. The 0 stands for the interrupted RIP. The NMI's stub stores this RIP in frame_rip.
	 */
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
	 * The SMM handler below takes branches. BTS must record neither these branches nor the
	 * entry to SMM nor the exit from SMM. BTS must continue after SMM.
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
