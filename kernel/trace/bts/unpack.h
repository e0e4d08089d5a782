/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_BTS_UNPACK_H
#define _LINUX_KERNEL_TRACE_BTS_UNPACK_H

/*
 * Packed branches: the format, which coder and decoder share, and the decoder's
 * interface. The kernel and the tools compile this. unpack.c specifies
 * the format in words.
 */

#include <linux/types.h>

/*
 * The number of the code's format, which each pack contains. If the code changes so that this
 * decoder would misread it, the format gets the next number. No format has the number 0: the
 * first tracers had four bytes for nr, and the third of them, always 0, is now the format.
 */
#define BTS_PACK_FORMAT		1

/* The message about a pack of another format. */
#define BTS_PACK_FOREIGN	"written by another tracer: format %u"

/* A pack has at most so many branches, of which so many differ, less one. */
#define BTS_PACK_MAX	2048
#define BTS_PACK_NODES	512

/* The ring buffer's alignment: so many bytes without meaning may follow the code. */
#define BTS_PACK_PADDING	3

/* The longest token, with what belongs to it. */
#define BTS_TOKEN_MAX	18

/* The longest code: each of its tokens stands for at least one branch. */
#define BTS_CODE_MAX	(BTS_PACK_MAX * BTS_TOKEN_MAX + BTS_PACK_PADDING)

/* The first byte of a token, or the first one of several in a row. */
enum bts_token {
	BTS_TOK_RUN	= 0x00,	/* so many predicted branches, less one */
	BTS_TOK_OTHER	= 0x30,	/* so many predicted branches, then the other successor */
	BTS_TOK_KNOWN	= 0x50,	/* the same, then a node below 256, in the next byte */
	BTS_TOK_KNOWN2	= 0x60,	/* the same, then a node above */
	BTS_TOK_LONG	= 0x70,	/* a run, in the next two bytes */
	BTS_TOK_FAR	= 0x71,	/* a new branch; its distance, less 128, follows */
	BTS_TOK_FAR2	= 0x72,	/* a new branch: 2 to 8 bytes of distance follow */
	BTS_TOK_BAD	= 0x79,
	BTS_TOK_NEW	= 0x80,	/* a new branch, in this distance */
};

/* The first byte of a new branch's target, or the first one of several in a row. */
enum bts_target {
	BTS_TO_NEAR	= 0x00,	/* from + 7 bits */
	BTS_TO_SHORT	= 0x80,	/* from + 48 * 256 values */
	BTS_TO_ALIGNED	= 0xb0,	/* 12 bits, in units of 16 bytes */
	BTS_TO_ALIGNED2	= 0xc0,	/* 20 bits, in units of 16 bytes */
	BTS_TO_CALL	= 0xd0,	/* 5 bytes after the start of one of the last nodes */
	BTS_TO_CALL2	= 0xf0,	/* 2 to 7 bytes after that of the node in the next byte */
	BTS_TO_BYTES	= 0xf6,	/* from + 1 to 8 bytes */
	BTS_TO_BAD	= 0xfe,
};

/* What is signed is coded as its difference from the least value of its kind. */
#define BTS_NEAR_MIN		(-0x40)
#define BTS_SHORT_MIN		(-0x1800)
#define BTS_ALIGNED_MIN		(-0x800)
#define BTS_ALIGNED2_MIN	(-0x80000)

/* A distance of one byte more begins here. */
#define BTS_FAR_MIN		128

#define BTS_CALL_LENGTH		5
#define BTS_CALL_SHORTEST	2
#define BTS_CALL_LONGEST	7

/**
 * struct bts_node - a branch that the pack has had, and what followed it
 * @from:	where it began
 * @to:		where it led
 * @next:	the node of the branch that followed it last,
 * @other:	and of the last one that followed it and was another one
 */
struct bts_node {
	u64	from;
	u64	to;
	u32	next;
	u32	other;
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
 * @run:	of these, how many are as predicted,
 * @then:	and the node that comes after them, plus 1; 0 if none does
 * @cur:	the node of the last branch
 * @nodes:	how many nodes there are
 * @damaged:	the code is not a pack's
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
bool bts_decoder_next(struct bts_decoder *d, struct bts_pair *branch);
unsigned int bts_decoder_rest(struct bts_decoder *d, struct bts_pair *branches,
			      unsigned int max);
bool bts_decoder_damaged(const struct bts_decoder *d);

/* The node of a branch that is not the predicted one, but the one before that. */
#define BTS_NODE_OTHER	BTS_PACK_NODES

/* After @cur came @x, which is not what @cur predicts. */
static inline void bts_node_learn(struct bts_node *cur, u32 x)
{
	cur->other = cur->next;
	cur->next = x;
}

#endif /* _LINUX_KERNEL_TRACE_BTS_UNPACK_H */
