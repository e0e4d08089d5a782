/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The startup code, from multiboot's 32-bit entry to the first C function, and code whose branches
 * the tests count. This code is in assembly, so that its branches do not depend on a compiler.
 *
 * A test body runs between two writes of IA32_DEBUGCTL. The interrupt stub of vector N is stub_N.
 * If `fixup` is set, the stub takes its fast path. The stub writes the interrupted RIP to
 * `frame_rip`, and the iretq at stub_iret_N returns to `fixup`. The stub takes no other branch, so
 * an exception causes exactly two records: from the interrupted RIP to stub_N, and from stub_iret_N
 * to `fixup`. If `fixup` is 0, the slow path calls the C handler of the vector. If the vector has
 * no C handler, the test fails, and abandon_run() leaves the body.
 *
 * `fixup` and `frame_rip` are not per-CPU variables, because only CPU 0 runs test bodies. CPU 1
 * runs only walk() and C functions. On CPU 1, the PMI handler uses neither variable.
 */
#include "bare.h"

	.section .multiboot, "a"
	.balign 4
	.long	0x1badb002, 0, -0x1badb002

	.text
	.code32
	.globl	start32
start32:
	cld
	movl	$stack_top, %esp
	movl	%ebx, multiboot_info

	/* Identity-map 4 GiB with 2 MiB pages that CPL 3 may access. */
	movl	$pd_low, %edi
	movl	$0x87, %eax
	movl	$2048, %ecx
1:	movl	%eax, (%edi)
	movl	$0, 4(%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	loop	1b
	movl	$pdpt_low, %edi
	movl	$pd_low + 7, %eax
	movl	$4, %ecx
1:	movl	%eax, (%edi)
	addl	$4096, %eax
	addl	$8, %edi
	loop	1b
	movl	$pdpt_low + 7, pml4
	movl	$pdpt_low + 7, pml4 + 511 * 8

	call	long_mode
	lgdt	gdtr
	ljmp	$SEL_KCS64, $start64

	/* Set CR0.WP, so that CPL 0 cannot write to read-only pages. SSE stays off. */
long_mode:
	movl	$0x20, %eax
	movl	%eax, %cr4
	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$IA32_EFER, %ecx
	rdmsr
	orl	$0x101, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80010001, %eax
	movl	%eax, %cr0
	ret

	.code64
start64:
	call	load_segments
	movl	multiboot_info(%rip), %edi
	xorl	%ebp, %ebp
	call	c_main
1:	hlt
	jmp	1b

load_segments:
	movl	$SEL_KDS, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	xorl	%eax, %eax
	movl	%eax, %fs
	movl	%eax, %gs
	ret

	/* CPU 1 starts in a copy of this code at AP_TRAMPOLINE, and switches to long mode. */
	.code16
	.globl	ap_start, ap_end
ap_start:
	cli
	cld
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	AP_TRAMPOLINE + ap_gdtr - ap_start
	movl	$0x20, %eax
	movl	%eax, %cr4
	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$IA32_EFER, %ecx
	rdmsr
	orl	$0x101, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80010001, %eax
	andl	$0x9fffffff, %eax
	movl	%eax, %cr0
	ljmpl	$SEL_KCS64, $ap_start64
	.balign 4
ap_gdtr:
	.word	gdt_end - gdt - 1
	.long	gdt
ap_end:

	.code64
ap_start64:
	movq	$ap_stack_top, %rsp
	call	load_segments
	xorl	%ebp, %ebp
	call	ap_main
1:	hlt
	jmp	1b

	/* int run_kernel(u64 fn): call fn at CPL 0; return -1 if an unexpected exception ends fn */
	.globl	run_kernel
run_kernel:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	movq	%rsp, run_rsp(%rip)
	call	*%rdi
run_done:
	xorl	%eax, %eax
run_out:
	cli
	cld
	movq	run_rsp(%rip), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

	.globl	abandon_run
abandon_run:
	movl	$-1, %eax
	jmp	run_out

	/* int run_user(u64 fn, u64 rsp, u64 rflags): like run_kernel(), but at CPL 3 */
	.globl	run_user, user_enter
run_user:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	movq	%rsp, run_rsp(%rip)
	push	$SEL_UDS
	push	%rsi
	push	%rdx
	push	$SEL_UCS64
	push	%rdi
	movl	$IA32_DEBUGCTL, %ecx
	movl	run_debugctl(%rip), %eax
	xorl	%edx, %edx
	wrmsr
user_enter:
	iretq

	/* Handle VEC_USER_EXIT: clear IA32_DEBUGCTL, and return 0 from run_user(). */
	.globl	stub_64
stub_64:
	movl	$IA32_DEBUGCTL, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	jmp	run_done

	/* A body for run_user(): a LOOP instruction branches to itself USER_LOOPS times. */
	.globl	user_loop, user_loop_branch
user_loop:
	movl	$USER_LOOPS + 1, %ecx
user_loop_branch:
	loop	user_loop_branch
	int	$VEC_USER_EXIT

	/* Handle VEC_TO_KERNEL: continue the test's body at CPL 0. R12 contains the old RSP. */
	.globl	stub_66, stub_66_jmp
stub_66:
	movq	fixup(%rip), %rax
	movq	$0, fixup(%rip)
	movq	%r12, %rsp
stub_66_jmp:
	jmp	*%rax

	/* int wrmsr_safe(u32 msr, u64 value): return 0, or -1 if wrmsr faults */
	.globl	wrmsr_safe
wrmsr_safe:
	leaq	1f(%rip), %rax
	movq	%rax, fixup(%rip)
	movl	%edi, %ecx
	movl	%esi, %eax
	movq	%rsi, %rdx
	shrq	$32, %rdx
	wrmsr
	movq	$0, fixup(%rip)
	xorl	%eax, %eax
	ret
1:	movl	$-1, %eax
	ret

	/* int rdmsr_safe(u32 msr, u64 *value) */
	.globl	rdmsr_safe
rdmsr_safe:
	leaq	1b(%rip), %rax
	movq	%rax, fixup(%rip)
	movl	%edi, %ecx
	rdmsr
1:	movq	$0, fixup(%rip)
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, (%rsi)
	xorl	%eax, %eax
	ret

	/* int rdpmc_safe(u32 counter, u64 *value) */
	.globl	rdpmc_safe
rdpmc_safe:
	leaq	2f(%rip), %rax
	movq	%rax, fixup(%rip)
	movl	%edi, %ecx
	rdpmc
	jmp	1b
2:	movl	$-1, %eax
	ret

	/*
	 * void walk(u64 count, u64 seed, u64 debugctl): take exactly `count` branches
	 * between 64 landing pads. The order of the landing pads depends only on `seed`,
	 * so walk_next() of ds.c can predict the branches. The last branch leads to walk_end.
	 */
	.altmacro
	.macro	PAD n
pad_&n:	imulq	%r8, %rsi
	addq	%r9, %rsi
	movq	%rsi, %rax
	shrq	$58, %rax
	decq	%rdi
pad_jz_&n:
	jz	walk_end
pad_jmp_&n:
	jmp	*pad_table(, %rax, 8)
	.pushsection .data.pads, "aw"
	.quad	pad_&n, pad_jmp_&n, pad_jz_&n
	.popsection
	.pushsection .data.pad_table, "aw"
	.quad	pad_&n
	.popsection
	.endm

	.pushsection .data.pads, "aw"
	.globl	pads
	.balign	8
pads:
	.popsection
	.pushsection .data.pad_table, "aw"
	.balign	8
pad_table:
	.popsection

	.globl	walk, walk_end
walk:
	movq	walk_mul(%rip), %r8
	movq	walk_add(%rip), %r9
	movl	$IA32_DEBUGCTL, %ecx
	movl	%edx, %eax
	xorl	%edx, %edx
	wrmsr
	.set	i, 0
	.rept	64
	PAD	%i
	.set	i, i + 1
	.endr
walk_end:
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	ret

	/* u64 fib(u64 n): in assembly, because a compiler could change the number of branches */
	.globl	fib
fib:
	movq	%rdi, %rax
	cmpq	$1, %rdi
	jle	1f
	pushq	%rbp
	pushq	%rbx
	movq	%rdi, %rbx
	leaq	-1(%rdi), %rdi
	call	fib
	movq	%rax, %rbp
	leaq	-2(%rbx), %rdi
	call	fib
	addq	%rbp, %rax
	popq	%rbx
	popq	%rbp
	ret
1:	ret

	.macro	PUSH_REGS
	push	%rax
	push	%rcx
	push	%rdx
	push	%rbx
	push	%rsi
	push	%rdi
	push	%rbp
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

	.macro	POP_REGS
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rbp
	pop	%rdi
	pop	%rsi
	pop	%rbx
	pop	%rdx
	pop	%rcx
	pop	%rax
	.endm

	/*
	 * The handler for PMIs that are delivered as NMIs or with the vector VEC_PMI. Like
	 * an operating system's handler, it switches BTS off before its first branch.
	 */
	.globl	pmi_entry, pmi_iret
pmi_entry:
	push	$0
	push	$0
	PUSH_REGS
	cld
	movl	$IA32_DEBUGCTL, %ecx
	rdmsr
	movl	%eax, %edi
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	movq	%rsp, %rsi
	movq	%rsp, %rbp
	andq	$-16, %rsp
	call	pmi_c
	movq	%rbp, %rsp
	movl	$IA32_DEBUGCTL, %ecx
	xorl	%edx, %edx
	wrmsr
	POP_REGS
	addq	$16, %rsp
pmi_iret:
	iretq

slow:
	PUSH_REGS
	cld
	movq	%rsp, %rdi
	movq	%rsp, %rbp
	andq	$-16, %rsp
	call	unexpected
	movq	%rbp, %rsp
	POP_REGS
	addq	$16, %rsp
	iretq

	/* The fast path clears TF in the frame. Otherwise single-stepping would never end. */
	.macro	STUB n err
	.globl	stub_\n, stub_iret_\n
stub_\n:
	cmpq	$0, fixup(%rip)
	je	slow_\n
	push	%rax
	movq	8 + 8 * \err(%rsp), %rax
	movq	%rax, frame_rip(%rip)
	movq	fixup(%rip), %rax
	movq	%rax, 8 + 8 * \err(%rsp)
	andl	$~0x100, 24 + 8 * \err(%rsp)
	movq	$0, fixup(%rip)
	pop	%rax
	addq	$8 * \err, %rsp
stub_iret_\n:
	iretq
slow_\n:
	.if	\err == 0
	push	$0
	.endif
	push	$\n
	jmp	slow
	.endm

	.pushsection .data.stub_table, "aw"
	.globl	stub_table
	.balign	8
stub_table:
	.popsection

	.set	i, 0
	.rept	256
	.if	i == 8 || (i >= 10 && i <= 14) || i == 17 || i == 21
	STUB	%i 1
	.elseif	i != 64 && i != 66
	STUB	%i 0
	.endif
	.altmacro
	.macro	ENTRY n
	.pushsection .data.stub_table, "aw"
	.quad	stub_&n
	.popsection
	.endm
	ENTRY	%i
	.purgem	ENTRY
	.set	i, i + 1
	.endr

	.data
	.balign	8
	.globl	fixup, frame_rip, run_rsp, run_debugctl, walk_mul, walk_add
fixup:		.quad 0
frame_rip:	.quad 0
run_rsp:	.quad 0
run_debugctl:	.quad 0
walk_mul:	.quad 6364136223846793005
walk_add:	.quad 1442695040888963407
multiboot_info:	.long 0
	.globl	smm_count
smm_count:	.long 0

	.balign	8
	.globl	gdt
gdt:	.quad	0
	.quad	0x00af9b000000ffff	/* SEL_KCS64 */
	.quad	0x00cf93000000ffff	/* SEL_KDS */
	.quad	0x00cffb000000ffff	/* SEL_UCS32 */
	.quad	0x00cff3000000ffff	/* SEL_UDS */
	.quad	0x00affb000000ffff	/* SEL_UCS64 */
	.quad	0x00cff3000000ffff	/* SEL_UDS2 */
	.quad	0x00cffb010000ffff	/* SEL_UCS32_BASED, base CS_BASE */
	.quad	0, 0			/* SEL_TSS0 */
	.quad	0, 0			/* SEL_TSS1 */
gdt_end:
gdtr:	.word	gdt_end - gdt - 1
	.quad	gdt

	.bss
	.balign	4096
	.globl	pml4
pml4:		.skip 4096
pdpt_low:	.skip 4096
pd_low:		.skip 4 * 4096
		.skip 16384
stack_top:
		.skip 16384
ap_stack_top:
