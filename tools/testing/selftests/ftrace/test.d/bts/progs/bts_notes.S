/* SPDX-License-Identifier: GPL-2.0 */
/* In this program, NOTES (63 or 64) empty notes precede the build ID. The program ends at once. */
#include "prog.h"

#define NT_GNU_BUILD_ID	3

	.section .note.bts, "a", @note
	.rept	NOTES
	.long	0, 0, 0
	.endr
	.long	4, 20, NT_GNU_BUILD_ID
	.ascii	"GNU\0"
	.fill	20, 1, 0xab

	.text
	.globl	_start
_start:
	EXIT	0 x_exit
