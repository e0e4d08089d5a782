/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test bodies for test-property.c and test-pmi.c. Each body writes its first argument to
 * IA32_DEBUGCTL, performs the action that the body's name indicates, and writes 0 to IA32_DEBUGCTL.
 * With x-bts-tail=N, the CPU stores N more branches after the last write. So each body for
 * test-property.c ends with at least TAIL_JUMPS branches. All tests use an N below TAIL_JUMPS.
 */
#include "bare.h"

	.text

	.macro	ON
	movl	$IA32_DEBUGCTL, %ecx
	movl	%edi, %eax
	xorl	%edx, %edx
	wrmsr
	.endm

	.macro	OFF
	movl	$IA32_DEBUGCTL, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	.endm

	/* A two-byte jump to the next instruction. */
	.macro	JUMP
	.byte	0xeb, 0
	.endm

	.globl	tail_body, tail_branch, tail_jumps
tail_body:
	ON
tail_branch:
	JUMP
	OFF
	.globl	tail_settle
tail_settle:
tail_jumps:
	.rept	TAIL_JUMPS
	JUMP
	.endr
	ret

	/* index_body(debugctl, &index, value): write to the index while BTS is on. */
	.globl	index_body
index_body:
	movq	%rdx, %r8
	ON
	movq	%r8, (%rsi)
	JUMP
	movq	%r8, (%rsi)
	JUMP
	OFF
	jmp	tail_settle

	/* late_body(debugctl, &index, value): write to the index between two series of branches. */
	.globl	late_body
late_body:
	movq	%rdx, %r8
	ON
	.rept	LATE_BEFORE
	JUMP
	.endr
	movq	%r8, (%rsi)
	.rept	LATE_AFTER
	JUMP
	.endr
	OFF
	ret

	/* The pending VEC_IRQ wakes the CPU. The stub of VEC_IRQ returns to `fixup`. */
	.globl	hlt_body, hlt_next, mwait_body, mwait_next
hlt_body:
	ON
	sti
	hlt
hlt_next:
	cli
	OFF
	jmp	tail_settle

mwait_body:
	ON
	xorl	%ecx, %ecx
	leaq	mwait_body(%rip), %rax
	monitor
	sti
	mwait
mwait_next:
	cli
	OFF
	jmp	tail_settle

	/* With several CPUs, QEMU executes MWAIT as a PAUSE: the next branch is the JUMP below. */
	.globl	pause_body, pause_branch
pause_body:
	ON
	JUMP
	JUMP
	xorl	%ecx, %ecx
	leaq	pause_body(%rip), %rax
	monitor
	mwait
pause_branch:
	JUMP
	JUMP
	OFF
	jmp	tail_settle

	/* The write to CR3 ends a translation block, so QEMU delivers the SMI before the NOP. */
	.globl	smi_body, smi_branch
smi_body:
	ON
	movl	$0x55, %eax
	outb	%al, $0xb2
	movq	%cr3, %rax
	movq	%rax, %cr3
	nop
smi_branch:
	JUMP
	JUMP
	OFF
	jmp	tail_settle

	/* The #MC handler: save IA32_DEBUGCTL as the CPU has left it. */
	.globl	mce_entry
mce_entry:
	push	%rax
	push	%rcx
	push	%rdx
	movl	$IA32_DEBUGCTL, %ecx
	rdmsr
	movl	%eax, mce_debugctl(%rip)
	incl	mce_count(%rip)
	movl	$IA32_MCG_STATUS, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	pop	%rdx
	pop	%rcx
	pop	%rax
	iretq

	.data
	.globl	mce_debugctl, mce_count
mce_debugctl:
	.long	0
mce_count:
	.long	0
