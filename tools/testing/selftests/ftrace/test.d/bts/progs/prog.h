/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Definitions for the assembly programs, whose branches are known in advance.
 *
 * In each program, comments beside the branches state the records that the program must produce, in
 * order of execution. A comment has this form:
 *
 *	expect: FROM -> TO [xCOUNT]
 *
 * From these comments, the script expect.awk makes the list of expected records. In the list, the
 * addresses from the output of nm replace the labels. The word "kernel" stands for any address in
 * the kernel. The lines between "repeat N" and "end" appear N times. The line "task N" starts the
 * list of task N. The program starts as task 0. The next new task is task 1, and so on.
 *
 * Interrupts, and page faults that only map a page, return to the interrupted instruction. The
 * records of these events may be anywhere in the trace, and need not be in the list.
 */
#ifndef BTS_PROG_H
#define BTS_PROG_H

#define SYS_rt_sigaction	13
#define SYS_rt_sigreturn	15
#define SYS_sched_yield		24
#define SYS_nanosleep		35
#define SYS_getpid		39
#define SYS_clone		56
#define SYS_fork		57
#define SYS_vfork		58
#define SYS_execve		59
#define SYS_exit		60
#define SYS_wait4		61
#define SYS_kill		62
#define SYS_getppid		110
#define SYS_sched_setaffinity	203

#define SIGILL		4
#define SIGUSR1		10
#define SIGSEGV		11
#define SIGCHLD		17

/* Make a system call, and put labels on its instruction and on its return address. */
.macro SYS_CALL nr label
	mov	$\nr, %eax
\label:	syscall
\label\()_ret:
.endm

#define SYS_mmap	9
#define SYS_mprotect	10

#define PLACE		0x10000000
#define PAGE		4096

#define PROT_RW		3
#define PROT_RX		5
#define MAP_JIT		0x32		/* private, anonymous, fixed */

/* Write a function into a page at PLACE, as a JIT compiler does. The function is a single ret. */
.macro JIT_FUNCTION
	mov	$PLACE, %edi
	mov	$PAGE, %esi
	mov	$PROT_RW, %edx
	mov	$MAP_JIT, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	SYS_CALL	SYS_mmap s_anon
	movb	$0xc3, PLACE		/* ret */
	mov	$PLACE, %edi
	mov	$PAGE, %esi
	mov	$PROT_RX, %edx
	SYS_CALL	SYS_mprotect s_exec
.endm

/* End the task with a system call that does not return. */
.macro EXIT status label
	mov	$\status, %edi
	mov	$SYS_exit, %eax
\label:	syscall
.endm

#endif
