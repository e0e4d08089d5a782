/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions whose symbols have neither type nor size, like the symbols that NASM makes. */
	.globl	_start, first, second
	.text
_start:
	call	first
	call	second
	mov	$60, %eax
	xor	%edi, %edi
	syscall

first:
	ret

second:
	mov	$3, %ecx
again:
	dec	%ecx
	jnz	again
	call	first
	ret
