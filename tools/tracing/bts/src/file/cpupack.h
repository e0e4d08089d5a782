/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Part of cpucpupages.c: many branches in one entry, decoded by the kernel's own file.
 */
#ifndef BTS_CPUPACK_H
#define BTS_CPUPACK_H

_Static_assert(sizeof(struct bts_pair) == sizeof(struct branch), "a pair is a branch");

static void pack(struct reader *r, const struct entry *e, int pid)
{
	const struct layout *l = r->s->layout;
	struct bts_decoder *d = r->s->decoder;
	struct dat *dat = r->s->dat;
	uint32_t length, left;
	const void *code;

	left = format_number(l->pack_nr, e->data, e->size);
	in_sequence(r, e, l->pack_seq, left);
	code = format_bytes(l->pack_code, e->data, e->size, &length);
	if (!code || left > BTS_PACK_MAX) {
		dat_damage(dat, r->s->pages.page_offset, "CPU %d: a pack that is none",
			   r->s->cpu->cpu);
		missing(r, 0);
		return;
	}
	bts_decoder_begin(d, code, length, format_number(l->pack_from, e->data, e->size), left);
	while (left) {
		struct batch *b = branches(r, pid);
		uint32_t n;

		if (!b)
			return;
		n = BATCH_BRANCHES_MAX - b->nr;
		n = bts_decoder_rest(d, (struct bts_pair *)&b->branch[b->nr], n < left ? n : left);
		for (uint32_t i = 0; i < n; i++)
			b->times[b->nr + i] = r->ts;
		b->nr += n;
		left -= n;
		if (!n)
			break;
	}
	r->s->packs++;
	if (bts_decoder_damaged(d)) {
		dat_damage(dat, r->s->pages.page_offset, "CPU %d: a damaged pack",
			   r->s->cpu->cpu);
		end_batch(r);
		missed(r, left);
	}
}

#endif
