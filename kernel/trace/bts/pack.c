// SPDX-License-Identifier: GPL-2.0
/*
 * Packed branches: encode branches into a pack
 *
 * The comment in unpack.c specifies the format, and explains nodes, @next, @other, runs and tokens.
 * For each record, the coder takes @next and @other from the previous branch's node, and asks:
 *
 *	a record -> equals @next?  -> run + 1
 *		 -> equals @other? -> a token, which includes the run
 *		 -> has a node?    -> a token, which includes the run; edge[] finds the node
 *		 -> is new         -> the run, a token, the target; if the branch is a
 *				      return, call[] finds its call
 *
 * Unlike the decoder, the coder has tables (edge[] and call[]) to find nodes. The tables need not
 * contain all nodes. A new pack does not clear the tables, so they may also contain node numbers of
 * earlier packs. So the coder compares each node that it finds with the record.
 *
 * Two alternatives were rejected. First, predicting from the last two branches instead of one would
 * take longer, and only one more branch in 200 would be predicted correctly. (In a recursive fib(),
 * the gain is one branch in ten, but fib() is not typical.) Second, a coder could keep its state
 * from one pack to the next. This would save less than one byte per branch in the ring buffer, and
 * would not make a compressed file smaller. But readers could no longer skip packs.
 *
 * A coder belongs to one CPU, whose batches never nest, so the coder need not be reentrant. The
 * coder takes no lock, allocates nothing, and needs a limited time for each record.
 */

#include "pack.h"

static bool bts_node_is(const struct bts_coder_node *node, u64 from, u64 to)
{
	return node->from == from && node->to == to;
}

static u8 *bts_put_bytes(u8 *p, u64 value, unsigned int n)
{
	for (; n; n--, value >>= 8)
		*p++ = value;
	return p;
}

/* Return how many bytes the signed number @value needs: at least @n, and at most 8. */
static unsigned int bts_bytes(u64 value, unsigned int n)
{
	for (; n < 8 && (u64)((s64)value >> (8 * n - 1)) + 1 > 1; n++)
		;
	return n;
}

static unsigned int bts_edge_slot(u64 from, u64 to)
{
	return ((from ^ to << 21) * 0x9e3779b97f4a7c15ULL) >> (64 - BTS_EDGE_BITS);
}

static unsigned int bts_call_slot(u64 addr)
{
	return (addr >> 4) & ((1 << BTS_CALL_BITS) - 1);
}

static u8 *bts_put_run(u8 *p, unsigned int run)
{
	if (!run)
		return p;
	if (run <= BTS_TOK_OTHER - BTS_TOK_RUN) {
		*p++ = BTS_TOK_RUN + run - 1;
		return p;
	}
	*p++ = BTS_TOK_LONG;
	return bts_put_bytes(p, run, 2);
}

/* Encode @run predicted branches, and then @token. A @run below @room is stored in the token. */
static u8 *bts_put_token(u8 *p, u8 token, unsigned int run, unsigned int room)
{
	if (run >= room) {
		p = bts_put_run(p, run);
		run = 0;
	}
	*p++ = token + run;
	return p;
}

static u8 *bts_put_known(u8 *p, unsigned int run, u32 node)
{
	p = bts_put_token(p, node < 256 ? BTS_TOK_KNOWN : BTS_TOK_KNOWN2, run,
			  BTS_TOK_KNOWN2 - BTS_TOK_KNOWN);
	*p++ = node;
	return p;
}

/* If the branch in @slot of call[] is a call, report whether @to may be its return address. */
static bool bts_call_is(const struct bts_coder *c, unsigned int slot, u64 to)
{
	unsigned int x = c->call[slot];

	return x < c->nodes && to - c->node[x].from - BTS_CALL_SHORTEST <=
			       BTS_CALL_LONGEST - BTS_CALL_SHORTEST;
}

/* Encode a branch target as the return address of a call. Return: NULL if no call is found. */
static u8 *bts_put_call(const struct bts_coder *c, u8 *p, u64 to)
{
	unsigned int slot = bts_call_slot(to - BTS_CALL_SHORTEST);
	unsigned int back, length;

	if (!bts_call_is(c, slot, to)) {
		slot = bts_call_slot(to - BTS_CALL_LONGEST);
		if (!bts_call_is(c, slot, to))
			return NULL;
	}
	back = c->nodes - 1 - c->call[slot];
	length = to - c->node[c->call[slot]].from;
	if (length == BTS_CALL_LENGTH && back < BTS_TO_CALL2 - BTS_TO_CALL) {
		*p++ = BTS_TO_CALL + back;
		return p;
	}
	if (back >= 256)
		return NULL;
	*p++ = BTS_TO_CALL2 + length - BTS_CALL_SHORTEST;
	*p++ = back;
	return p;
}

/* Encode a branch target that is a multiple of 16. Return: NULL if the target is too far away. */
static u8 *bts_put_aligned(u8 *p, u64 units)
{
	if (units - BTS_ALIGNED_MIN < (BTS_TO_ALIGNED2 - BTS_TO_ALIGNED) << 8) {
		units -= BTS_ALIGNED_MIN;
		*p++ = BTS_TO_ALIGNED + (units >> 8);
		*p++ = units;
		return p;
	}
	if (units - BTS_ALIGNED2_MIN < (BTS_TO_CALL - BTS_TO_ALIGNED2) << 16) {
		units -= BTS_ALIGNED2_MIN;
		*p++ = BTS_TO_ALIGNED2 + (units >> 16);
		*p++ = units;
		*p++ = units >> 8;
		return p;
	}
	return NULL;
}

static u8 *bts_put_to(const struct bts_coder *c, u8 *p, u64 from, u64 to)
{
	u64 diff = to - from;
	unsigned int n;
	u8 *end;

	if (diff - BTS_NEAR_MIN < BTS_TO_SHORT - BTS_TO_NEAR) {
		*p++ = BTS_TO_NEAR + diff - BTS_NEAR_MIN;
		return p;
	}
	end = bts_put_call(c, p, to);
	if (end)
		return end;
	if (diff - BTS_SHORT_MIN < (BTS_TO_ALIGNED - BTS_TO_SHORT) << 8) {
		diff -= BTS_SHORT_MIN;
		*p++ = BTS_TO_SHORT + (diff >> 8);
		*p++ = diff;
		return p;
	}
	if (!(to & 15)) {
		end = bts_put_aligned(p, (s64)(to - (from & ~15ULL)) >> 4);
		if (end)
			return end;
	}
	n = bts_bytes(diff, 1);
	*p++ = BTS_TO_BYTES + n - 1;
	return bts_put_bytes(p, diff, n);
}

/* Encode a branch that is new in the pack and follows a branch whose target is @last. */
static u8 *bts_put_new(const struct bts_coder *c, u8 *p, u64 last, u64 from, u64 to)
{
	u64 distance = from - last;
	unsigned int n;

	if (distance < 256 - BTS_TOK_NEW) {
		*p++ = BTS_TOK_NEW + distance;
	} else if (distance - BTS_FAR_MIN < 256) {
		*p++ = BTS_TOK_FAR;
		*p++ = distance - BTS_FAR_MIN;
	} else {
		n = bts_bytes(distance, 2);
		*p++ = BTS_TOK_FAR + n - 1;
		p = bts_put_bytes(p, distance, n);
	}
	return bts_put_to(c, p, from, to);
}

/* From now on, predict @node after @cur. */
static void bts_coder_learn(struct bts_coder_node *cur, struct bts_coder_node *node)
{
	cur->other = cur->next;
	cur->next = node;
}

/*
 * Encode @run predicted branches, and then the branch from @from to @to. This branch must differ
 * from @next and from @other of the current node, @c->cur.
 * Return: the end of the encoded branches, or NULL if the branch is new but all nodes are in use.
 */
static noinline u8 *bts_add_else(struct bts_coder *c, u8 *p, unsigned int run,
				 u64 from, u64 to)
{
	u16 *slot = &c->edge[bts_edge_slot(from, to)];
	struct bts_coder_node *cur = c->cur;
	unsigned int x = *slot;

	if (x < c->nodes && bts_node_is(&c->node[x], from, to)) {
		p = bts_put_known(p, run, x);
	} else {
		x = c->nodes;
		if (x == BTS_PACK_NODES)
			return NULL;
		if (x == 1 && !run)
			cur->to = from;
		p = bts_put_new(c, bts_put_run(p, run), cur->to, from, to);
		*slot = x;
		c->call[bts_call_slot(from)] = x;
		c->node[x] = (struct bts_coder_node){ from, to, c->node, c->node };
		c->nodes++;
	}
	c->cur = &c->node[x];
	bts_coder_learn(cur, c->cur);
	return p;
}

/**
 * bts_coder_add_all - put branches into the pack
 * @c:		the coder, after bts_coder_begin()
 * @rec:	the branches
 * @nr:		the number of branches
 *
 * Context: one call at a time for each coder.
 * Return: the number of branches put into the pack; if less than @nr, the pack is full.
 */
unsigned int bts_coder_add_all(struct bts_coder *c, const struct ds_bts_record *rec,
			       unsigned int nr)
{
	struct bts_coder_node *cur = c->cur, *node;
	unsigned int left, mark;
	u8 *out = c->out, *p;

	if (nr > BTS_PACK_MAX - c->nr)
		nr = BTS_PACK_MAX - c->nr;
	/* In the loop, (mark - left - 1) is the number of predicted branches still to encode. */
	mark = nr + c->run + 1;
	for (left = nr; left; left--, rec++, cur = node) {
		node = cur->next;
		if (likely(bts_node_is(node, rec->from, rec->to)))
			continue;
		if (out > c->limit)
			break;
		node = cur->other;
		/* likely() lets the compiler move the call to bts_add_else() out of the loop. */
		if (likely(bts_node_is(node, rec->from, rec->to))) {
			bts_coder_learn(cur, node);
			out = bts_put_token(out, BTS_TOK_OTHER, mark - left - 1,
					    BTS_TOK_KNOWN - BTS_TOK_OTHER);
		} else {
			c->cur = cur;
			p = bts_add_else(c, out, mark - left - 1, rec->from, rec->to);
			if (!p)
				break;
			out = p;
			node = c->cur;
		}
		mark = left;
	}
	c->out = out;
	c->cur = cur;
	c->run = mark - left - 1;
	c->nr += nr - left;
	return nr - left;
}

/**
 * bts_coder_begin - begin a pack
 * @c:		the coder
 * @buf:	room for the encoded branches
 * @size:	the size of @buf, at least BTS_PACK_WORST
 *
 * Context: one call at a time for each coder.
 */
void bts_coder_begin(struct bts_coder *c, void *buf, size_t size)
{
	c->start = buf;
	c->out = buf;
	c->limit = c->start + (size - BTS_PACK_WORST);
	c->run = 0;
	c->nr = 0;
	c->cur = c->node;
	c->nodes = 1;
	c->node[0] = (struct bts_coder_node){ 0, 0, c->node, c->node };
}

/**
 * bts_coder_end - end a pack
 * @c: the coder
 *
 * This function sets @c->from and @c->to. The caller copies them and @c->nr into the pack.
 *
 * Context: one call at a time for each coder.
 * Return: the size of the encoded branches in bytes.
 */
size_t bts_coder_end(struct bts_coder *c)
{
	c->out = bts_put_run(c->out, c->run);
	c->from = c->node[0].to;
	c->to = c->cur->to;
	return c->out - c->start;
}
