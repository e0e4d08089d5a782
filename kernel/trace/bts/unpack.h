/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_UNPACK_H
#define _LINUX_KERNEL_TRACE_BTS_UNPACK_H

/*
 * Packed branches: the format and the decoder's interface. Both the kernel and the tools include
 * this file. The comment in unpack.c specifies the format.
 */

#include <linux/types.h>

/*
 * The format number. Each pack contains this number. Increment the number if a format change would
 * make this decoder misread new packs. Format 0 is the format of the tracer's first versions. Their
 * packs have no format number. In its place, they have a byte that is always 0: the third byte of
 * nr (the number of branches).
 */
#define BTS_PACK_FORMAT		1

/* Messages contain this text if a pack's format is not BTS_PACK_FORMAT. */
#define BTS_PACK_FOREIGN	"in unknown format %u"

/* The maximum numbers of branches and of nodes (see unpack.c) in a pack. Node 0 is counted, too. */
#define BTS_PACK_MAX	2048
#define BTS_PACK_NODES	512

/* Entries are aligned, so up to this many bytes of padding follow the encoded branches. */
#define BTS_PACK_PADDING	3

/* The maximum size of a token with its operands. */
#define BTS_TOKEN_MAX	18

/* The maximum size of the encoded branches. Each token encodes at least one branch. */
#define BTS_CODE_MAX	(BTS_PACK_MAX * BTS_TOKEN_MAX + BTS_PACK_PADDING)

/* The first byte of each kind of token. If a token contains a number n, n is added to this byte. */
enum bts_token {
	BTS_TOK_RUN	= 0x00,	/* n + 1 predicted branches */
	BTS_TOK_OTHER	= 0x30,	/* n predicted branches, then @other (see struct bts_node) */
	BTS_TOK_KNOWN	= 0x50,	/* n predicted branches, then a known branch: node m (next byte) */
	BTS_TOK_KNOWN2	= 0x60,	/* like BTS_TOK_KNOWN, but m is 256 + the next byte */
	BTS_TOK_LONG	= 0x70,	/* a run; its length is in the next two bytes */
	BTS_TOK_FAR	= 0x71,	/* like BTS_TOK_NEW, but the distance is 128 + the next byte */
	BTS_TOK_FAR2	= 0x72,	/* like BTS_TOK_NEW, but the distance is in the next 2 to 8 bytes */
	BTS_TOK_BAD	= 0x79,
	BTS_TOK_NEW	= 0x80,	/* new branch, distance n: its origin is the previous target + n */
};

/*
 * The first byte of an encoded branch target is one of these values plus a number n. The second
 * byte is m. The origin is the address where the branch begins. N is the newest node's number.
 */
enum bts_target {
	BTS_TO_NEAR	= 0x00,	/* origin + a 7-bit number */
	BTS_TO_SHORT	= 0x80,	/* origin + a number from -0x1800 to 0x17ff */
	BTS_TO_ALIGNED	= 0xb0,	/* (origin & ~15) + 16 * a 12-bit number */
	BTS_TO_ALIGNED2	= 0xc0,	/* (origin & ~15) + 16 * a 20-bit number */
	BTS_TO_CALL	= 0xd0,	/* return address of a call: (origin of node N - n) + 5 */
	BTS_TO_CALL2	= 0xf0,	/* return address of a call: (origin of node N - m) + n + 2 */
	BTS_TO_BYTES	= 0xf6,	/* origin + a signed number in the next n + 1 bytes */
	BTS_TO_BAD	= 0xfe,
};

/* A signed number is encoded as its difference from one of these minimums. */
#define BTS_NEAR_MIN		(-0x40)
#define BTS_SHORT_MIN		(-0x1800)
#define BTS_ALIGNED_MIN		(-0x800)
#define BTS_ALIGNED2_MIN	(-0x80000)

/* The smallest distance that BTS_TOK_FAR can encode. BTS_TOK_NEW encodes smaller distances. */
#define BTS_FAR_MIN		128

#define BTS_CALL_LENGTH		5
#define BTS_CALL_SHORTEST	2
#define BTS_CALL_LONGEST	7

/**
 * struct bts_node - a branch of the pack, and two branches that followed it
 * @from:	the origin of the branch
 * @to:		the target of the branch
 * @next:	the node of the latest branch that followed this branch
 * @other:	the value that @next had before @next last changed
 */
struct bts_node {
	u64	from;
	u64	to;
	u32	next;
	u32	other;
};

/**
 * struct bts_pair - a branch
 * @from:	the origin of the branch
 * @to:		the target of the branch
 */
struct bts_pair {
	u64	from;
	u64	to;
};

/**
 * struct bts_decoder - a pack that is being decoded
 * @in:		the next byte to decode
 * @end:	the end of the encoded branches
 * @left:	the number of branches still to come
 * @run:	the number of predicted branches still to decode
 * @then:	1 + the number of the node that follows the run, or 0 if no node follows
 * @cur:	the node of the latest decoded branch
 * @nodes:	the number of nodes
 * @damaged:	the pack is damaged
 * @node:	the nodes
 */
struct bts_decoder {
	const u8	*in;
	const u8	*end;
	unsigned int	left;
	unsigned int	run;
	u32		then;
	unsigned int	cur;
	unsigned int	nodes;
	bool		damaged;
	struct bts_node	node[BTS_PACK_NODES];
};

void bts_decoder_begin(struct bts_decoder *d, const void *code, size_t len,
		       u64 from, unsigned int nr);
unsigned int bts_decoder_rest(struct bts_decoder *d, struct bts_pair *branches,
			      unsigned int max);
bool bts_decoder_damaged(const struct bts_decoder *d);

/* In the decoder, this number means @other of the current node. No node has this number. */
#define BTS_NODE_OTHER	BTS_PACK_NODES

/* From now on, predict node @x after @cur. */
static inline void bts_node_learn(struct bts_node *cur, u32 x)
{
	cur->other = cur->next;
	cur->next = x;
}

#endif /* _LINUX_KERNEL_TRACE_BTS_UNPACK_H */
