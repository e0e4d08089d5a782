/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take branches until a signal kills the program. Test cases start and stop tracing while the
 * program runs. The program is linked at three different addresses (bts_spin, bts_spin_a,
 * bts_spin_b), so that the address of a branch identifies its program.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
spin:	nop
j_spin:	jmp	spin
