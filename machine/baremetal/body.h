/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Macros for the branch tests. Each expected record is declared next to its branch.
 *
 * A test body is a macro that is expanded for CPL 0, for CPL 3 or for both. CUR is the CPL for
 * which it is expanded. BR FROM, TO expects a record of the branch from label FROM to label TO. The
 * BRs are in the order in which the CPU takes the branches. The CPU must not record any other
 * branch. FIX LABEL makes LABEL the return address of the next exception or interrupt. EXC FROM,
 * VECTOR, LABEL expects two records: the delivery of an exception, and the return from its handler.
 * A `ud2` without an EXC marks code that the CPU must not reach. At CPL 0, the code around the body
 * switches BTS on and off without taking a branch. At CPL 3, an iretq enters the body, and an int
 * leaves the body. The file test-branch.c expects the records of the iretq and of the int, too.
 *
 * A body without BT_NO_ALIAS also runs through a second mapping of the image (ALIAS). So a body
 * that uses absolute addresses of its code needs BT_NO_ALIAS.
 */
#ifndef BODY_H
#define BODY_H

#include "bare.h"

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

#endif
