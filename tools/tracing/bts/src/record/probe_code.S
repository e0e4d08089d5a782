/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program of bts check --probe takes one branch of each kind. The macros after each branch
 * instruction list the records that the hardware must store, in the order of execution:
 *
 *	TAKES from, to, "description"		a branch between two addresses of user space
 *	ENTERS from, symbol, "description"	a branch into the kernel, to the symbol's address
 *	LEAVES to, "description"		a branch out of the kernel
 *
 * The macros after a call also list the branches of the called function. HANDLED lists a signal
 * handler's branches. Untaken branches and iterations of string instructions leave no record.
 */

#define SYS_rt_sigreturn	15
#define SYS_getpid		39
#define SYS_kill		62
#define SYS_getppid		110

#define SIGILL			4
#define SIGUSR1			10

/* The offset of rip in a signal handler's ucontext. */
#define UCONTEXT_RIP		168

	.macro	ENTRY from, to, symbol, words
	.pushsection .rodata.str1.1, "aMS", @progbits, 1
.Lwords\@:
	.string	"\words"
.Lsymbol\@:
	.string	"\symbol"
	.popsection
	.pushsection .data.rel.ro, "aw", @progbits
	.quad	\from, \to, .Lsymbol\@, .Lwords\@
	.popsection
	.endm

	.macro	TAKES from, to, words
	ENTRY	\from, \to, "", "\words"
	.endm

	.macro	ENTERS from, symbol, words
	ENTRY	\from, 0, \symbol, "\words"
	.endm

	.macro	LEAVES to, words
	ENTRY	0, \to, "", "\words"
	.endm

	/* Branches of a signal caused by \words: kernel -> handler -> restorer -> kernel -> \to. */
	.macro	HANDLED to, words
	LEAVES	handler, "to the handler of \words"
	TAKES	handler_returns, restorer, "return from a handler"
	ENTERS	restorer_calls, entry_SYSCALL_64, "rt_sigreturn() after \words"
	LEAVES	\to, "back to the program after \words"
	.endm

	.section .data.rel.ro, "aw", @progbits
	.balign	8
	.globl	probe_branches
probe_branches:

	.text
	.globl	probe_start
probe_start:

/* --- Functions ---------------------------------------------------------------------- */

callee:
callee_returns:
	ret

callee_pops:
	ret	$8

	/* handler(signal, info, context). For SIGILL, skip the 2 bytes of ud2. */
handler:
	xor	%eax, %eax
	cmp	$SIGILL, %edi
	sete	%al
	add	%eax, %eax
	add	%rax, UCONTEXT_RIP(%rdx)
handler_returns:
	ret

restorer:
	mov	$SYS_rt_sigreturn, %eax
restorer_calls:
	syscall
	ud2

/* --- The program -------------------------------------------------------------------- */

	.globl	probe_run
	.type	probe_run, @function
probe_run:
	push	%rbx
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdi, %rbx

	/* Jumps. */
jump_short:
	.byte	0xeb, jump_near - (. + 1)
	ud2
	TAKES	jump_short, jump_near, "jmp rel8"
jump_near:
	.byte	0xe9
	.long	1f - (. + 4)
	ud2
1:	TAKES	jump_near, 1b, "jmp rel32"
	lea	1f(%rip), %rax
jump_register:
	jmp	*%rax
	ud2
1:	TAKES	jump_register, 1b, "jmp *register"
	lea	1f(%rip), %rax
	push	%rax
jump_memory:
	jmp	*(%rsp)
	ud2
1:	TAKES	jump_memory, 1b, "jmp *memory"
	mov	%rbp, %rsp

	/* Conditional jumps. */
	xor	%eax, %eax
	jnz	probe_bad
cond_short:
	jz	1f
	ud2
1:	TAKES	cond_short, 1b, "jcc rel8"
cond_next:
	.byte	0x74, 0			/* je to the next instruction */
1:	TAKES	cond_next, 1b, "jcc to the next instruction"
cond_near:
	.byte	0x0f, 0x84		/* je rel32 */
	.long	1f - (. + 4)
	ud2
1:	TAKES	cond_near, 1b, "jcc rel32"
	mov	$3, %ecx
loop_top:
	nop
loop_branch:
	loop	loop_top
	TAKES	loop_branch, loop_top, "loop"
	TAKES	loop_branch, loop_top, "loop, again"
jump_rcx:
	jrcxz	1f
	ud2
1:	TAKES	jump_rcx, 1b, "jrcxz"

	/* String instructions leave no record. */
	sub	$64, %rsp
	mov	%rsp, %rdi
	mov	$64, %ecx
	xor	%eax, %eax
	cld
	rep stosb
	mov	%rbp, %rsp

	/* Calls and returns. */
call_near:
	call	callee
1:	TAKES	call_near, callee, "call rel32"
	TAKES	callee_returns, 1b, "ret"
	lea	callee(%rip), %rax
call_register:
	call	*%rax
1:	TAKES	call_register, callee, "call *register"
	TAKES	callee_returns, 1b, "ret"
	push	%rax
call_memory:
	call	*(%rsp)
1:	TAKES	call_memory, callee, "call *memory"
	TAKES	callee_returns, 1b, "ret"
call_pops:
	call	callee_pops
1:	TAKES	call_pops, callee_pops, "call rel32"
	TAKES	callee_pops, 1b, "ret imm16"

	/* Far branches whose target is in the same segment. */
	mov	%cs, %eax
	push	%rax
	lea	1f(%rip), %rcx
	push	%rcx
far_return:
	lretq
	ud2
1:	TAKES	far_return, 1b, "far ret"
	mov	%rsp, %rdx
	mov	%ss, %ecx
	push	%rcx
	push	%rdx
	pushfq
	push	%rax
	lea	1f(%rip), %rcx
	push	%rcx
interrupt_return:
	iretq
	ud2
1:	TAKES	interrupt_return, 1b, "iret"

	/* System calls. */
	mov	$SYS_getppid, %eax
system_call:
	syscall
1:	ENTERS	system_call, entry_SYSCALL_64, "syscall"
	LEAVES	1b, "back from getppid()"

	/* A page fault, after which the instruction is executed again. */
page_fault:
	movb	$1, (%rbx)
	ENTERS	page_fault, asm_exc_page_fault, "page fault"
	LEAVES	page_fault, "back from the page fault"

	/* A signal that the program sends to itself. child_probe() has installed the handler. */
	mov	$SYS_getpid, %eax
get_pid:
	syscall
1:	ENTERS	get_pid, entry_SYSCALL_64, "syscall"
	LEAVES	1b, "back from getpid()"
	mov	%eax, %edi
	mov	$SIGUSR1, %esi
	mov	$SYS_kill, %eax
send_signal:
	syscall
1:	ENTERS	send_signal, entry_SYSCALL_64, "syscall"
	HANDLED	1b, "kill()"

	/* Faults and traps that become signals. */
bad_instruction:
	ud2
1:	ENTERS	bad_instruction, asm_exc_invalid_op, "invalid opcode"
	HANDLED	1b, "ud2"
breakpoint:
	int3
1:	ENTERS	breakpoint, asm_exc_int3, "int3"
	HANDLED	1b, "int3"

	pop	%rbp
	pop	%rbx
probe_returns:
	ret
probe_bad:
	ud2
	.size	probe_run, . - probe_run

	.globl	probe_restorer
	.set	probe_restorer, restorer
	.globl	probe_handler
	.set	probe_handler, handler
	.globl	probe_end
probe_end:

	.section .data.rel.ro, "aw", @progbits
	.globl	probe_branches_end
probe_branches_end:

	.section .note.GNU-stack, "", @progbits
