/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Branches until it is killed: for what starts and stops while a program runs.
 * Linked three times, at different addresses (bts_spin, bts_spin_a,
 * bts_spin_b), so that a record says whose it is, whatever PID is beside it.
 */
#include "prog.h"

	.text
	.globl	_start
_start:
spin:	nop
j_spin:	jmp	spin
