// SPDX-License-Identifier: GPL-2.0
/*
 * Packed branches: specify the format, and decode packs
 *
 * A pack is a ring buffer entry of the type bts_pack. It contains the number of branches (nr), the
 * address where the first branch began (from), the number of the format (format), and the encoded
 * branches (code). A pack is self-contained, so its branches can be decoded even if earlier entries
 * are lost. This file specifies format 1. Before decoding a pack, the decoder's caller must check
 * that the pack has this format.
 *
 * The coder and the decoder build the same list of nodes while they process a pack. A node is a
 * branch that has occurred in the pack. Each node refers to two nodes, @next and @other. @next is
 * the branch that most recently followed this branch. When @next changes, @other gets the old value
 * of @next.
 *
 *	node	branch			@next	@other
 *	0	     0 -> 401000	1	0
 *	1	401000 -> 401020	2	0
 *	2	401023 -> 401050	3	1
 *	3	401058 -> 401000	...
 *
 * The current node is the node of the latest branch. The following branch is predicted to be @next
 * of the current node. A run is a sequence of correctly predicted branches. A token encodes a run,
 * a mispredicted branch, or both (first the run). If a mispredicted branch is @other of the current
 * node, the token says so. If the branch has another node, the token contains the node's number. If
 * the branch is new in the pack, the token contains its origin and target, and the branch becomes a
 * new node.
 *
 * Node 0 exists from the start. It is a branch from address 0 to the address where the first
 * branch begins. Until a branch has followed a node, the node's @next and @other are node 0.
 * New nodes get the numbers 1 to 511.
 *
 * Let b be the first byte of a token. For each b, this table shows the bytes that follow, and what
 * the token encodes:
 *
 *	00-2f		a run of b + 1
 *	30-4f		a run of b - 0x30, and then @other
 *	50-5f n		a run of b - 0x50, and then node n
 *	60-6f n		a run of b - 0x60, and then node n + 256
 *	70 n n		a run of n
 *	71 d T		a new branch, d + 128 bytes after the previous target
 *	72-78 d.. T	a new branch, d bytes after the previous target; d is signed and
 *			has b - 0x70 bytes
 *	80-ff T		a new branch, b - 0x80 bytes after the previous target
 *
 * T encodes the target of a new branch. In this table, b is the first byte of T. For each b, the
 * table shows the bytes that follow b, and the target:
 *
 *	00-7f		from + b - 0x40
 *	80-af n		from + ((b - 0x80) << 8 | n) - 0x1800
 *	b0-bf n		(from & ~15) + 16 * (((b - 0xb0) << 8 | n) - 0x800)
 *	c0-cf n n	(from & ~15) + 16 * (((b - 0xc0) << 16 | n) - 0x80000)
 *	d0-ef		return address of a call: the origin of node N - (b - 0xd0), + 5
 *			(N is the number of the newest node)
 *	f0-f5 n		return address of a call: the origin of node N - n, + (b - 0xee)
 *	f6-fd d..	from + d; d is signed and has b - 0xf5 bytes
 *
 * No token begins with 79-7f, and no target begins with fe or ff. Multi-byte numbers are
 * little-endian. The token of the last branch is followed by up to three bytes of padding with
 * arbitrary values, because the size of an entry is a multiple of four bytes.
 *
 * The decoder does not trust its input. It never reads outside of the encoded branches, returns at
 * most nr branches, and stops at an invalid token.
 */

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "unpack.h"

/* Read a signed little-endian number that has n bytes, where n is 1 to 8. */
static u64 bts_get_bytes(const u8 *p, unsigned int n)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		value |= (u64)p[i] << (8 * i);
	return (u64)((s64)(value << (64 - 8 * n)) >> (64 - 8 * n));
}

static u64 bts_get_aligned(u64 from, u64 units)
{
	return (from & ~15ULL) + 16 * units;
}

/* Compute the return address of a call of @length bytes. Return: false if the call has no node. */
static bool bts_get_call(const struct bts_decoder *d, unsigned int back, u64 length,
			 u64 *to)
{
	if (back >= d->nodes)
		return false;
	*to = d->node[d->nodes - 1 - back].from + length;
	return true;
}

/* Decode a branch target. Return: a pointer to the byte after it; NULL if it is invalid. */
static const u8 *bts_get_to(const struct bts_decoder *d, const u8 *p, u64 from, u64 *to)
{
	unsigned int kind = *p++;

	if (kind < BTS_TO_SHORT) {
		*to = from + kind + BTS_NEAR_MIN;
		return p;
	}
	if (kind < BTS_TO_ALIGNED) {
		*to = from + ((kind - BTS_TO_SHORT) << 8 | p[0]) + BTS_SHORT_MIN;
		return p + 1;
	}
	if (kind < BTS_TO_ALIGNED2) {
		*to = bts_get_aligned(from, (u64)((kind - BTS_TO_ALIGNED) << 8 | p[0]) +
				      BTS_ALIGNED_MIN);
		return p + 1;
	}
	if (kind < BTS_TO_CALL) {
		*to = bts_get_aligned(from, (u64)((kind - BTS_TO_ALIGNED2) << 16 |
						  p[1] << 8 | p[0]) + BTS_ALIGNED2_MIN);
		return p + 2;
	}
	if (kind < BTS_TO_CALL2)
		return bts_get_call(d, kind - BTS_TO_CALL, BTS_CALL_LENGTH, to) ? p : NULL;
	if (kind < BTS_TO_BYTES)
		return bts_get_call(d, p[0], kind - BTS_TO_CALL2 + BTS_CALL_SHORTEST, to) ?
		       p + 1 : NULL;
	if (kind < BTS_TO_BAD) {
		kind -= BTS_TO_BYTES - 1;
		*to = from + bts_get_bytes(p, kind);
		return p + kind;
	}
	return NULL;
}

/* Decode a new branch, whose origin is @distance bytes after the previous target. */
static const u8 *bts_get_new(struct bts_decoder *d, const u8 *p, u64 distance)
{
	struct bts_node *cur = &d->node[d->cur];
	struct bts_node *node = &d->node[d->nodes];

	if (d->nodes >= BTS_PACK_NODES)
		return NULL;
	node->from = cur->to + distance;
	p = bts_get_to(d, p, node->from, &node->to);
	node->next = 0;
	node->other = 0;
	bts_node_learn(cur, d->nodes);
	d->run = 1;
	d->nodes++;
	return p;
}

/* @run predicted branches come next, then @node. @node is a node's number or BTS_NODE_OTHER. */
static const u8 *bts_get_known(struct bts_decoder *d, const u8 *p, unsigned int run,
			       u32 node)
{
	if (node >= d->nodes && node != BTS_NODE_OTHER)
		return NULL;
	d->run = run;
	d->then = node + 1;
	return p;
}

/*
 * Decode a token, which determines the next branches. Read up to BTS_TOKEN_MAX bytes. Return:
 * a pointer to the byte after the token; NULL if the token is invalid.
 */
static const u8 *bts_get_token(struct bts_decoder *d, const u8 *p)
{
	unsigned int token = *p++;

	if (token >= BTS_TOK_NEW)
		return bts_get_new(d, p, token - BTS_TOK_NEW);
	if (token < BTS_TOK_OTHER) {
		d->run = token - BTS_TOK_RUN + 1;
		return p;
	}
	if (token < BTS_TOK_KNOWN)
		return bts_get_known(d, p, token - BTS_TOK_OTHER, BTS_NODE_OTHER);
	if (token < BTS_TOK_KNOWN2)
		return bts_get_known(d, p + 1, token - BTS_TOK_KNOWN, p[0]);
	if (token < BTS_TOK_LONG)
		return bts_get_known(d, p + 1, token - BTS_TOK_KNOWN2, 256 + p[0]);
	if (token < BTS_TOK_FAR) {
		d->run = p[0] | p[1] << 8;
		return p + 2;
	}
	if (token == BTS_TOK_FAR)
		return bts_get_new(d, p + 1, p[0] + BTS_FAR_MIN);
	if (token < BTS_TOK_BAD) {
		token -= BTS_TOK_FAR - 1;
		return bts_get_new(d, p + token, bts_get_bytes(p, token));
	}
	return NULL;
}

/* The last token of a pack may be truncated, so decode a zero-padded copy of the token. */
static const u8 *bts_get_last_token(struct bts_decoder *d)
{
	u8 copy[BTS_TOKEN_MAX] = { 0 };
	size_t len = d->end - d->in;
	const u8 *p;

	memcpy(copy, d->in, len);
	p = bts_get_token(d, copy);
	return p && (size_t)(p - copy) <= len ? d->in + (p - copy) : NULL;
}

/* Decode the next token. Return: false if the token is invalid or missing. */
static bool bts_decode(struct bts_decoder *d)
{
	const u8 *p;

	if (d->damaged)
		return false;
	p = d->end - d->in >= BTS_TOKEN_MAX ? bts_get_token(d, d->in) :
					      bts_get_last_token(d);
	if (!p || d->run + !!d->then > d->left) {
		d->damaged = true;
		d->run = 0;
		d->then = 0;
		return false;
	}
	d->in = p;
	return true;
}

/**
 * bts_decoder_begin - begin to decode a pack
 * @d:		the decoder, which need not be initialized
 * @code:	the encoded branches, which are not copied
 * @len:	the size of @code, including padding
 * @from:	the origin of the first branch
 * @nr:		the number of branches
 *
 * Context: any.
 */
void bts_decoder_begin(struct bts_decoder *d, const void *code, size_t len,
		       u64 from, unsigned int nr)
{
	d->in = code;
	d->end = d->in + len;
	d->left = nr;
	d->run = 0;
	d->then = 0;
	d->cur = 0;
	d->nodes = 1;
	d->damaged = nr > BTS_PACK_MAX || len > BTS_CODE_MAX;
	d->node[0] = (struct bts_node){ .to = from };
}

/**
 * bts_decoder_rest - decode branches
 * @d:		the decoder
 * @branches:	the results
 * @max:	the maximum number of branches to decode
 *
 * Context: any.
 * Return: the number of decoded branches; less than @max if no more branches follow, or if the
 * pack is damaged.
 */
unsigned int bts_decoder_rest(struct bts_decoder *d, struct bts_pair *branches,
			      unsigned int max)
{
	struct bts_node *node = &d->node[d->cur];
	struct bts_pair *out = branches;
	unsigned int n;
	u32 x;

	if (max > d->left)
		max = d->left;
	while (max) {
		if (d->run) {
			n = d->run < max ? d->run : max;
			d->run -= n;
		} else if (d->then) {
			x = d->then - 1;
			bts_node_learn(node, x == BTS_NODE_OTHER ? node->other : x);
			d->then = 0;
			n = 1;
		} else {
			if (!bts_decode(d))
				break;
			continue;
		}
		d->left -= n;
		max -= n;
		do {
			node = &d->node[node->next];
			out->from = node->from;
			out->to = node->to;
			out++;
		} while (--n);
		d->cur = node - d->node;
	}
	return out - branches;
}

/**
 * bts_decoder_damaged - report whether the input was damaged
 * @d: the decoder, after all branches were decoded
 *
 * Context: any.
 * Return: true if branches are missing, or if the last branch is followed by more than padding.
 */
bool bts_decoder_damaged(const struct bts_decoder *d)
{
	return d->damaged || d->left || d->end - d->in > BTS_PACK_PADDING;
}
