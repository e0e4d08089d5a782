/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Start a C program without a C library. The function bts_main() receives the initial stack (argc,
 * argv, environment, auxiliary vector), and returns the exit status.
 */
#ifndef BTS_NOLIBC_H
#define BTS_NOLIBC_H

int bts_main(unsigned long *stack);

__asm__(".text\n"
	".globl _start\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	mov	%rsp, %rdi\n"
	"	and	$-16, %rsp\n"
	"	call	bts_main\n"
	"	mov	%eax, %edi\n"
	"	mov	$231, %eax\n"	/* exit_group */
	"	syscall\n"
	"	ud2\n");

#endif
