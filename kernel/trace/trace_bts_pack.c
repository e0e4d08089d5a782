// SPDX-License-Identifier: GPL-2.0
/*
 * Packed branches: the coder
 */

#include "trace_bts_pack.h"

static u8 *bts_put_bytes(u8 *p, u64 value, unsigned int n)
{
	for (; n; n--, value >>= 8)
		*p++ = value;
	return p;
}

/* How many bytes of a signed number matter, n to 8. */
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
	return (addr >> 3) & ((1 << BTS_CALL_BITS) - 1);
}

/* The run goes into the last token, if that has room for it, or is one of its own. */
static u8 *bts_put_run(struct bts_coder *c, u8 *p)
{
	unsigned int run = c->run;

	if (!run)
		return p;
	c->nr += run;
	c->run = 0;
	if (run <= c->room) {
		*c->token += run;
		c->room = 0;
	} else if (run <= BTS_TOK_OTHER - BTS_TOK_RUN) {
		*p++ = BTS_TOK_RUN + run - 1;
	} else {
		*p++ = BTS_TOK_LONG;
		p = bts_put_bytes(p, run, 2);
	}
	return p;
}

/* A token that can take a run of less than @room. */
static u8 *bts_put_token(struct bts_coder *c, u8 *p, u8 token, unsigned int room)
{
	c->token = p;
	c->room = room - 1;
	*p++ = token;
	return p;
}

static u8 *bts_put_known(struct bts_coder *c, u8 *p, u32 node)
{
	p = bts_put_token(c, p, node < 256 ? BTS_TOK_KNOWN : BTS_TOK_KNOWN2,
			  BTS_TOK_KNOWN2 - BTS_TOK_KNOWN);
	*p++ = node;
	return p;
}

/* How many nodes ago was the one in this slot, if it began just before @to? */
static bool bts_find_call(const struct bts_coder *c, unsigned int slot, u64 to,
			  unsigned int *back)
{
	unsigned int node = c->call[slot];

	*back = c->nodes - 1 - node;
	return node < c->nodes && *back < 256 &&
	       to - c->node[node].from - BTS_CALL_SHORTEST <=
			BTS_CALL_LONGEST - BTS_CALL_SHORTEST;
}

/* A target that a call may have been followed by. Return: NULL if it is none. */
static u8 *bts_put_call(const struct bts_coder *c, u8 *p, u64 to)
{
	unsigned int slot = bts_call_slot(to - BTS_CALL_SHORTEST);
	unsigned int slot2 = bts_call_slot(to - BTS_CALL_LONGEST);
	unsigned int back, length;

	if (!bts_find_call(c, slot, to, &back) &&
	    (slot == slot2 || !bts_find_call(c, slot2, to, &back)))
		return NULL;
	length = to - c->node[c->nodes - 1 - back].from;
	if (length == BTS_CALL_LENGTH && back < BTS_TO_CALL2 - BTS_TO_CALL) {
		*p++ = BTS_TO_CALL + back;
	} else {
		*p++ = BTS_TO_CALL2 + length - BTS_CALL_SHORTEST;
		*p++ = back;
	}
	return p;
}

static u8 *bts_put_to(const struct bts_coder *c, u8 *p, u64 from, u64 to)
{
	u64 diff = to - from;
	u64 units = (to >> 4) - (from >> 4);
	unsigned int n;
	u8 *call;

	if (diff - BTS_NEAR_MIN < BTS_TO_SHORT - BTS_TO_NEAR) {
		*p++ = BTS_TO_NEAR + diff - BTS_NEAR_MIN;
		return p;
	}
	call = bts_put_call(c, p, to);
	if (call)
		return call;
	if (diff - BTS_SHORT_MIN < (BTS_TO_ALIGNED - BTS_TO_SHORT) << 8) {
		diff -= BTS_SHORT_MIN;
		*p++ = BTS_TO_SHORT + (diff >> 8);
		return bts_put_bytes(p, diff, 1);
	}
	if (!(to & 15) &&
	    units - BTS_ALIGNED_MIN < (BTS_TO_ALIGNED2 - BTS_TO_ALIGNED) << 8) {
		units -= BTS_ALIGNED_MIN;
		*p++ = BTS_TO_ALIGNED + (units >> 8);
		return bts_put_bytes(p, units, 1);
	}
	if (!(to & 15) &&
	    units - BTS_ALIGNED2_MIN < (BTS_TO_CALL - BTS_TO_ALIGNED2) << 16) {
		units -= BTS_ALIGNED2_MIN;
		*p++ = BTS_TO_ALIGNED2 + (units >> 16);
		return bts_put_bytes(p, units, 2);
	}
	n = bts_bytes(diff, 1);
	*p++ = BTS_TO_BYTES + n - 1;
	return bts_put_bytes(p, diff, n);
}

/* A branch that the pack has not had yet. */
static u8 *bts_put_new(struct bts_coder *c, u8 *p, u64 from, u64 to)
{
	u64 distance = from - c->node[c->cur].to;
	unsigned int n;

	c->room = 0;
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
	p = bts_put_to(c, p, from, to);
	c->call[bts_call_slot(from)] = c->nodes;
	c->node[c->nodes++] = (struct bts_node){ .from = from, .to = to };
	return p;
}

static bool bts_node_is(const struct bts_node *node, u64 from, u64 to)
{
	return node->from == from && node->to == to;
}

/* A branch that is not as predicted. */
bool __bts_coder_add(struct bts_coder *c, u64 from, u64 to)
{
	struct bts_node *cur = &c->node[c->cur];
	u8 *p = c->out;
	u32 x = cur->other;
	u16 *slot;

	if (p > c->limit || c->nr + c->run >= BTS_PACK_MAX)
		return false;
	if (!(c->nr + c->run)) {
		c->from = from;
		cur->to = from;
	}
	p = bts_put_run(c, p);
	if (bts_node_is(&c->node[x], from, to)) {
		p = bts_put_token(c, p, BTS_TOK_OTHER, BTS_TOK_KNOWN - BTS_TOK_OTHER);
		goto known;
	}
	slot = &c->edge[bts_edge_slot(from, to)];
	x = *slot;
	if (x < c->nodes && bts_node_is(&c->node[x], from, to)) {
		p = bts_put_known(c, p, x);
		goto known;
	}
	c->out = p;
	if (c->nodes == BTS_PACK_NODES)
		return false;
	x = c->nodes;
	p = bts_put_new(c, p, from, to);
	*slot = x;
known:
	bts_node_learn(cur, x);
	c->cur = x;
	c->nr++;
	c->out = p;
	return true;
}

/**
 * bts_coder_add_all - put branches into the pack
 * @c:		the coder, after bts_coder_begin()
 * @rec:	the branches
 * @nr:		how many there are
 *
 * Context: one at a time for each coder.
 * Return: how many are in the pack now; if not @nr, it is full.
 */
unsigned int bts_coder_add_all(struct bts_coder *c, const struct ds_bts_record *rec,
			       unsigned int nr)
{
	const struct ds_bts_record *start = rec, *mark = rec;
	const struct ds_bts_record *end = rec + nr;
	const struct bts_node *node = &c->node[c->cur], *next;

	if (nr > BTS_PACK_MAX - c->nr - c->run)
		end = rec + (BTS_PACK_MAX - c->nr - c->run);
	while (rec < end) {
		next = &c->node[node->next];
		if (next->from == rec->from && next->to == rec->to) {
			node = next;
			rec++;
			continue;
		}
		c->cur = node - c->node;
		c->run += rec - mark;
		mark = rec;
		if (!__bts_coder_add(c, rec->from, rec->to))
			break;
		node = &c->node[c->cur];
		mark = ++rec;
	}
	c->cur = node - c->node;
	c->run += rec - mark;
	return rec - start;
}

/**
 * bts_coder_begin - begin a pack
 * @c:		the coder
 * @buf:	where the code of its branches goes
 * @size:	how much room is there, at least BTS_PACK_WORST
 *
 * Context: one at a time for each coder.
 */
void bts_coder_begin(struct bts_coder *c, void *buf, size_t size)
{
	c->start = buf;
	c->out = buf;
	c->limit = c->start + (size - BTS_PACK_WORST);
	c->room = 0;
	c->run = 0;
	c->nr = 0;
	c->cur = 0;
	c->nodes = 1;
	c->from = 0;
	c->node[0] = (struct bts_node){ 0 };
}

/**
 * bts_coder_end - end a pack
 * @c:	the coder
 *
 * @c->nr, @c->from and @c->to are valid then.
 *
 * Context: one at a time for each coder.
 * Return: how many bytes of code there are.
 */
size_t bts_coder_end(struct bts_coder *c)
{
	c->out = bts_put_run(c, c->out);
	c->to = c->node[c->cur].to;
	return c->out - c->start;
}
