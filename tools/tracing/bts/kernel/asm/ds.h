/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_DS_H
#define _ASM_X86_DS_H

/* The part of the kernel's asm/ds.h that the pack encoder needs in a user-space program. */

#include <linux/types.h>

struct ds_bts_record {
	u64	from;
	u64	to;
	u64	flags;
};

#endif /* _ASM_X86_DS_H */
