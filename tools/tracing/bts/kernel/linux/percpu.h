/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's asm/ds.h needs it, this directory's does not. */
