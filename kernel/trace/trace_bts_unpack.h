/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_UNPACK_H
#define _LINUX_KERNEL_TRACE_BTS_UNPACK_H

/*
 * Packed branches: what coder and decoder share, and the decoder's interface.
 * Kernel and tools compile this; trace_bts_unpack.c specifies the format.
 */

#include <linux/types.h>

/* A pack has at most so many branches, and so many different ones. */
#define BTS_PACK_MAX	2048
#define BTS_PACK_NODES	512

/* The ring buffer's alignment: so many bytes without meaning may follow the code. */
#define BTS_PACK_PADDING	3

/**
 * struct bts_node - a branch that the pack has had, and what followed it
 * @from:	where it began
 * @to:		where it led
 * @next:	the node of the branch that followed it last,
 * @other:	and of the one that followed it before that was another one
 */
struct bts_node {
	u64	from;
	u64	to;
	u16	next;
	u16	other;
};

/**
 * struct bts_pair - a branch
 * @from:	where it began
 * @to:		where it led
 */
struct bts_pair {
	u64	from;
	u64	to;
};

/**
 * struct bts_decoder - a pack that is being decoded
 * @in:		the code that is left
 * @end:	its end
 * @left:	branches that are still to come
 * @run:	of these, how many are as predicted
 * @cur:	the node of the last branch
 * @nodes:	how many nodes there are
 * @to:		where the last branch led; at first, where the pack's first one began
 * @node:	the nodes
 */
struct bts_decoder {
	const u8	*in;
	const u8	*end;
	unsigned int	left;
	unsigned int	run;
	unsigned int	cur;
	unsigned int	nodes;
	u64		to;
	struct bts_node	node[BTS_PACK_NODES];
};

void bts_decoder_begin(struct bts_decoder *d, const void *code, size_t len,
		       u64 from, unsigned int nr);
bool bts_decoder_next(struct bts_decoder *d, struct bts_pair *branch);
unsigned int bts_decoder_rest(struct bts_decoder *d, struct bts_pair *branches,
			      unsigned int max);
bool bts_decoder_damaged(const struct bts_decoder *d);

#endif /* _LINUX_KERNEL_TRACE_BTS_UNPACK_H */
