/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Make more mappings than the tracer handles at once (BTS_VMAS). Only every second mapping is
 * executable, so that the kernel cannot merge adjacent mappings. If ENDS is defined, the program
 * then ends. Otherwise, it takes branches until it is killed.
 */
#include "prog.h"

#ifndef PAGES
#define PAGES		200
#endif

#define PROT_R		1
#define MAP_ANON	0x32		/* private, anonymous, fixed */

	.text
	.globl	_start
_start:
	mov	$PLACE, %ebx
	mov	$PROT_RX, %ebp
map:	mov	%ebx, %edi
	mov	$PAGE, %esi
	mov	%ebp, %edx
	mov	$MAP_ANON, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	SYS_CALL	SYS_mmap s_map
	xor	$(PROT_R ^ PROT_RX), %ebp
	add	$PAGE, %ebx
	cmp	$(PLACE + PAGES * PAGE), %ebx
j_map:	jb	map

#ifdef ENDS
	EXIT	0 s_exit
#endif
spin:	.skip	512, 0x90	/* nop, as in bts_spin.S */
j_spin:	jmp	spin
