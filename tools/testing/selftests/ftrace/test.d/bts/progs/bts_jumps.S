/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take every kind of branch in user mode, each a known number of times. Also execute instructions
 * that do not branch: conditional jumps that are not taken, REP string instructions, and CMOV. The
 * only system call ends the program.
 */
#include "prog.h"

	.bss
	.balign	16
from:	.skip	64
to:	.skip	64

	.section .rodata
	.balign	8
table:	.quad	bad, in_table, bad

	.text
	.globl	_start
_start:
	/* expect: kernel -> _start */
	xor	%eax, %eax
	jnz	bad			/* not taken, so not recorded */
	cmovnz	%rsp, %rax

j_short: jmp	t_short
	ud2
t_short:				/* expect: j_short -> t_short */

j_near:	.byte	0xe9
	.long	t_near - 1f
1:	ud2
t_near:					/* expect: j_near -> t_near */

	/* A taken branch to the next instruction also produces a record. */
j_next:	.byte	0xeb, 0x00
t_next:					/* expect: j_next -> t_next */
	cmp	%eax, %eax
j_je0:	.byte	0x74, 0x00
t_je0:					/* expect: j_je0 -> t_je0 */
	.byte	0x75, 0x00		/* jne +0, which is not taken */
j_je0n:	.byte	0x0f, 0x84, 0, 0, 0, 0
t_je0n:					/* expect: j_je0n -> t_je0n */
	.byte	0x0f, 0x85, 0, 0, 0, 0	/* near jne +0, which is not taken */
c_next:	call	t_cnext
t_cnext:				/* expect: c_next -> t_cnext */
	pop	%rax

	/* Test each condition with a jump that is taken and with a jump that is not taken. */
	mov	$1, %eax
	cmp	$2, %eax
j_b:	jb	t_b
	ud2
t_b:	jae	bad			/* expect: j_b -> t_b */
j_l:	jl	t_l
	ud2
t_l:	jge	bad			/* expect: j_l -> t_l */
j_s:	js	t_s
	ud2
t_s:	jns	bad			/* expect: j_s -> t_s */
j_ne:	jne	t_ne
	ud2
t_ne:	je	bad			/* expect: j_ne -> t_ne */
j_no:	jno	t_no
	ud2
t_no:	jo	bad			/* expect: j_no -> t_no */
j_p:	jp	t_p
	ud2
t_p:	jnp	bad			/* expect: j_p -> t_p */

	xor	%ecx, %ecx
j_rcxz:	jrcxz	t_rcxz
bad_near: ud2
t_rcxz:					/* expect: j_rcxz -> t_rcxz */
	mov	$5, %ecx
	jrcxz	bad_near
back:	nop
j_loop:	loop	back			/* expect: j_loop -> back x4 */
	mov	$3, %ecx
	xor	%eax, %eax
back_e:	cmp	%eax, %eax
j_loope: loope	back_e			/* expect: j_loope -> back_e x2 */
	mov	$2, %ecx
	loopne	bad_near			/* not taken, because ZF is set */

	/* Execute direct calls, indirect calls, indirect jumps, and returns. */
c_dir:	call	f_dir			/* expect: c_dir -> f_dir */
r_dir:					/* expect: f_dir -> r_dir */
	lea	f_reg(%rip), %rax
c_reg:	call	*%rax			/* expect: c_reg -> f_reg */
r_reg:					/* expect: f_reg_ret -> r_reg */
	push	%rax
	push	%rax
c_arg:	call	f_arg			/* expect: c_arg -> f_arg */
r_arg:					/* expect: f_arg -> r_arg */
	lea	t_ind(%rip), %rax
j_ind:	jmp	*%rax			/* expect: j_ind -> t_ind */
	ud2
t_ind:	mov	$1, %ecx
j_tab:	jmp	*table(, %rcx, 8)	/* expect: j_tab -> in_table */
	ud2
in_table:
	lea	t_ret(%rip), %rax
	push	%rax
j_ret:	ret				/* expect: j_ret -> t_ret */
	ud2
t_ret:
	mov	%cs, %eax
	push	%rax
	lea	t_lret(%rip), %rcx
	push	%rcx
j_lret:	lretq				/* expect: j_lret -> t_lret */
	ud2
t_lret:
	mov	%rsp, %rdx
	mov	%ss, %ecx
	push	%rcx
	push	%rdx
	push	$2			/* the flags: only the reserved bit 1 is set */
	push	%rax
	lea	t_iret(%rip), %rcx
	push	%rcx
j_iret:	iretq				/* expect: j_iret -> t_iret */
	ud2
t_iret:
	/* The iterations of REP instructions are not branches. */
	lea	from(%rip), %rsi
	lea	to(%rip), %rdi
	mov	$64, %ecx
	rep movsb
	lea	to(%rip), %rdi
	mov	$8, %ecx
	xor	%eax, %eax
	rep stosq
	lea	to(%rip), %rdi
	mov	$64, %ecx
	repe scasb
j_self:	jmp	j_end			/* expect: j_self -> j_end */
bad:	ud2
j_end:	EXIT	0 x_exit		/* expect: x_exit -> kernel */

f_dir:	ret
f_reg:	nop
f_reg_ret:
	ret
f_arg:	ret	$16
