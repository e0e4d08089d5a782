/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes branches until it is killed, for cases that start and stop while a program runs. It
 * is linked three times, at different addresses (bts_spin, bts_spin_a, bts_spin_b), so that
 * a record identifies its program, whatever its PID is.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
spin:	nop
j_spin:	jmp	spin
