/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_PACK_H
#define _LINUX_KERNEL_TRACE_BTS_PACK_H

/* Packed branches: the coder. trace_bts_pack.c explains how it works. */

#include <asm/ds.h>

#include "trace_bts_unpack.h"

/* No branch takes more bytes, the run before it included. */
#define BTS_PACK_WORST	22

/* Slots of the tables that find nodes. */
#define BTS_PACK_SLOTS	512

/**
 * struct bts_coder - a pack that is being filled; one per CPU
 * @out:	where the next byte goes
 * @limit:	up to here, a branch may be begun
 * @start:	the first byte
 * @run:	branches as predicted that are not yet coded
 * @nr:		branches in the pack, @run included
 * @cur:	the node of the last branch
 * @nodes:	how many nodes there are
 * @from:	where the first branch began
 * @to:		where the last branch led
 * @edge:	finds the node of a branch,
 * @call:	and that of one that began just before an address. What is found may be
 *		of an earlier pack, and is always compared: nothing is ever emptied
 * @node:	the nodes
 */
struct bts_coder {
	u8		*out;
	u8		*limit;
	u8		*start;
	unsigned int	run;
	unsigned int	nr;
	unsigned int	cur;
	unsigned int	nodes;
	u64		from;
	u64		to;
	u16		edge[BTS_PACK_SLOTS];
	u16		call[BTS_PACK_SLOTS];
	struct bts_node	node[BTS_PACK_NODES];
};

void bts_coder_begin(struct bts_coder *c, void *buf, size_t size);
bool bts_coder_add(struct bts_coder *c, u64 from, u64 to);
unsigned int bts_coder_add_all(struct bts_coder *c, const struct ds_bts_record *rec,
			       unsigned int nr);
size_t bts_coder_end(struct bts_coder *c);

#endif /* _LINUX_KERNEL_TRACE_BTS_PACK_H */
