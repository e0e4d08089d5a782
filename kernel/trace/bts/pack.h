/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_PACK_H
#define _LINUX_KERNEL_TRACE_BTS_PACK_H

/* Packed branches: the coder's interface. The comment at the top of pack.c explains the coder. */

#include <linux/compiler.h>

#include <asm/ds.h>

#include "unpack.h"

/* The maximum size of an encoded run, in bytes. A run is a sequence of predicted branches. */
#define BTS_RUN_MAX	3

/* The maximum number of bytes that encode a run, then a branch, and then another run. */
#define BTS_PACK_WORST	(BTS_RUN_MAX + BTS_TOKEN_MAX + BTS_RUN_MAX)

/* The binary logarithms of the sizes of the tables edge[] and call[]. */
#define BTS_EDGE_BITS	9
#define BTS_CALL_BITS	8

/**
 * struct bts_coder_node - like struct bts_node, but with pointers
 * @from:	the origin of the branch
 * @to:		the target of the branch
 * @next:	the node of the latest branch that followed this branch
 * @other:	the node of the latest branch that followed this branch and differs from @next
 */
struct bts_coder_node {
	u64			from;
	u64			to;
	struct bts_coder_node	*next;
	struct bts_coder_node	*other;
};

/**
 * struct bts_coder - a pack that is being filled; one per CPU
 * @start:	the first byte of the encoded branches
 * @out:	the address at which the next token will be stored
 * @limit:	while @out is at most @limit, another encoded branch surely fits
 * @cur:	the node of the latest branch
 * @run:	the number of predicted branches that are not encoded yet
 * @nr:		the number of branches in the pack
 * @nodes:	the number of nodes
 * @from:	the origin of the first branch; set by bts_coder_end()
 * @to:		the target of the last branch; set by bts_coder_end()
 * @edge:	maps a branch to its node
 * @call:	maps the return address of a call to the call's node
 * @node:	the nodes
 *
 * A new pack does not clear the tables @edge and @call, so they may contain node numbers of earlier
 * packs. The coder checks each node that it finds there.
 */
struct bts_coder {
	u8			*start;
	u8			*out;
	u8			*limit;
	struct bts_coder_node	*cur;
	unsigned int		run;
	unsigned int		nr;
	unsigned int		nodes;
	u64			from;
	u64			to;
	u16			edge[1 << BTS_EDGE_BITS];
	u16			call[1 << BTS_CALL_BITS];
	struct bts_coder_node	node[BTS_PACK_NODES];
};

void bts_coder_begin(struct bts_coder *c, void *buf, size_t size);
unsigned int bts_coder_add_all(struct bts_coder *c, const struct ds_bts_record *rec,
			       unsigned int nr);
size_t bts_coder_end(struct bts_coder *c);

#endif /* _LINUX_KERNEL_TRACE_BTS_PACK_H */
