/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take branches until a signal kills the program. Test cases start and stop tracing while the
 * program runs. The program is linked at three different addresses (bts_spin, bts_spin_a,
 * bts_spin_b), so that the address of a branch identifies its program.
 *
 * Take a branch only once every 513 instructions. With a shorter loop, the program would take
 * millions of branches while a test case sleeps, and an emulator would take seconds to process
 * them.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
spin:	.skip	512, 0x90	/* nop */
j_spin:	jmp	spin
