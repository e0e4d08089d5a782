// SPDX-License-Identifier: GPL-2.0-only
/*
 * From ring-buffer pages to batches of branches.
 *
 *	page:	time, bytes used | entry entry entry ...
 *	entry:	5 bits length, 27 bits time since the last one | type, pid, fields
 *
 * Branches that follow each other and are of one task make a batch, whether they are an
 * entry each (bts_branch) or many in one (bts_pack). Anything else ends the batch and is
 * one of its own. A page says if entries before it were overwritten, and a pack has the
 * number of branches before it: what is missing becomes a batch in its place.
 *
 * An entry that does not fit into its page is damage; the rest of the page is left out,
 * which is a loss of a number that is not known, and reading goes on with the next.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "cpu_reader.h"
#include "bts/unpack.h"

#define PAGE_HEADER	16
#define PAGE_USED	((1U << 27) - 1)
#define PAGE_STORED	(1U << 30)
#define PAGE_MISSED	(1U << 31)

enum {
	ENTRY_LONG		= 0,
	ENTRY_PADDING		= 29,
	ENTRY_TIME_EXTEND	= 30,
	ENTRY_TIME_STAMP	= 31,
};

#define ENTRY_DELTA_BITS	27
/* The upper five bits of a time stamp that is written whole are left out. */
#define TIME_UPPER		(0x1fULL << 59)

_Static_assert(sizeof(struct bts_pair) == sizeof(struct branch), "a pair is a branch");

/**
 * struct reader - what a thread knows while it reads
 * @b:		the batch that branches are being put into, or NULL
 * @ts:		of the last entry
 * @stopped:	the pipeline wants no more
 * @missing:	something is missing here: a batch is due that says so
 * @missing_count: as far as the page knows
 */
struct reader {
	struct cpustream	*s;
	struct batch	*b;
	uint64_t	ts;
	bool		stopped;
	bool		missing;
	uint64_t	missing_count;
};

struct entry {
	const uint8_t	*data;
	uint32_t	size;
};

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint64_t long_word(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void end_batch(struct reader *r)
{
	if (!r->b)
		return;
	if (r->b->nr || r->b->type != BATCH_BRANCHES)
		cpustream_commit(r->s);
	r->b = NULL;
}

static struct batch *new_batch(struct reader *r, enum batch_type type, int pid)
{
	end_batch(r);
	r->b = cpustream_reserve(r->s);
	if (!r->b) {
		r->stopped = true;
		return NULL;
	}
	r->b->type = type;
	r->b->cpu = r->s->cpu->cpu;
	r->b->pid = pid;
	r->b->nr = 0;
	r->b->ts = r->ts;
	r->b->count = 0;
	r->b->cause = 0;
	return r->b;
}

/* A batch for branches of @pid that has room for another. */
static inline struct batch *branches(struct reader *r, int pid)
{
	struct batch *b = r->b;

	if (b && b->type == BATCH_BRANCHES && b->pid == pid && b->nr < BATCH_BRANCHES_MAX)
		return b;
	return new_batch(r, BATCH_BRANCHES, pid);
}

static void missed(struct reader *r, uint64_t count)
{
	if (new_batch(r, BATCH_MISSED, -1))
		r->b->count = count;
	end_batch(r);
}

/* The next entry may have the number. */
static void missing(struct reader *r, uint64_t count)
{
	r->missing = true;
	r->missing_count = count;
}

static void tell_missing(struct reader *r)
{
	if (r->missing)
		missed(r, r->missing_count);
	r->missing = false;
}

/* The entry has the number of branches before it, and stands for @nr. */
static void in_sequence(struct reader *r, const struct entry *e,
			const struct format_field *field, uint64_t nr)
{
	struct cpustream *s = r->s;
	uint64_t seq;

	if (field) {
		seq = format_number(field, e->data, e->size);
		if (s->seq_known && seq > s->seq)
			missing(r, seq - s->seq);
		s->seq = seq + nr;
		s->seq_known = true;
	}
	tell_missing(r);
}

static void one_branch(struct reader *r, const struct entry *e, int pid)
{
	const struct layout *l = r->s->layout;
	struct batch *b;

	if (e->size < l->branch_size)
		return;
	tell_missing(r);
	b = branches(r, pid);
	if (!b)
		return;
	b->branch[b->nr].from = long_word(e->data + l->from_offset);
	b->branch[b->nr].to = long_word(e->data + l->to_offset);
	b->times[b->nr++] = r->ts;
}

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

static void row(struct reader *r, const struct entry *e, uint32_t id, int pid)
{
	const struct layout *l = r->s->layout;
	enum batch_type type = BATCH_EVENT;
	struct batch *b;

	if (id == l->departs_id)
		type = BATCH_DEPARTS;
	else if (id == l->arrives_id)
		type = BATCH_ARRIVES;
	else if (id == l->map_id)
		type = BATCH_MAP;
	else if (id == l->lost_id)
		type = BATCH_LOST;
	in_sequence(r, e, type == BATCH_LOST ? l->lost_seq : NULL,
		    type == BATCH_LOST ? format_number(l->lost_count, e->data, e->size) : 0);
	b = new_batch(r, type, pid);
	if (!b)
		return;
	b->id = id;
	b->size = e->size < sizeof(b->entry) ? e->size : sizeof(b->entry);
	memcpy(b->entry, e->data, b->size);
	if (type == BATCH_LOST) {
		b->count = format_number(l->lost_count, b->entry, b->size);
		b->cause = format_number(l->lost_cause, b->entry, b->size);
	}
	end_batch(r);
}

static void entry(struct reader *r, const struct entry *e)
{
	const struct layout *l = r->s->layout;
	uint16_t id;
	int pid;

	if (e->size < l->pid_offset + 4)
		return;
	memcpy(&id, e->data, 2);
	pid = word(e->data + l->pid_offset);
	if (id == l->branch_id)
		one_branch(r, e, pid);
	else if (id == l->pack_id)
		pack(r, e, pid);
	else
		row(r, e, id, pid);
}

/*
 * Takes the entry at @at apart. Returns where the next one is, or NULL if it does not
 * fit. @e->data is NULL for what is only time, or room left empty.
 */
static const uint8_t *take(struct reader *r, const uint8_t *at, const uint8_t *end,
			   struct entry *e)
{
	uint32_t head = word(at), type = head & 31, length;
	uint64_t delta = head >> 5;

	e->data = NULL;
	at += 4;
	if (type == ENTRY_PADDING && !delta)
		return end;
	if (type && type < ENTRY_PADDING) {
		length = type * 4;
		e->data = at;
		e->size = length;
	} else {
		if (end - at < 4)
			return NULL;
		length = word(at);
		if (type == ENTRY_TIME_EXTEND) {
			delta += (uint64_t)length << ENTRY_DELTA_BITS;
			length = 4;
		} else if (type == ENTRY_TIME_STAMP) {
			r->ts = (delta + ((uint64_t)length << ENTRY_DELTA_BITS)) |
				(r->ts & TIME_UPPER);
			delta = 0;
			length = 4;
		} else if (type == ENTRY_LONG) {
			if (length < 4 || length > end - at)
				return NULL;
			e->data = at + 4;
			e->size = length - 4;
			length = (length + 3) & ~3U;
		}
	}
	if (length > end - at)
		return NULL;
	r->ts += delta;
	return at + length;
}

/*
 * The usual: entries of one branch each, of the same task, without a gap in time. As
 * many as there are, from @at on; returns where they end.
 */
static const uint8_t *branches_run(struct reader *r, const uint8_t *at, const uint8_t *end)
{
	const struct layout *l = r->s->layout;
	struct batch *b = r->b;
	uint32_t head, nr, size = l->branch_size;
	uint64_t ts = r->ts;

	if (!b || b->type != BATCH_BRANCHES)
		return at;
	for (nr = b->nr; nr < BATCH_BRANCHES_MAX && end - at >= 4 + size; nr++) {
		uint16_t id;

		head = word(at);
		memcpy(&id, at + 4, 2);
		if ((head & 31) != size / 4 || id != l->branch_id ||
		    (int)word(at + 4 + l->pid_offset) != b->pid)
			break;
		ts += head >> 5;
		b->branch[nr].from = long_word(at + 4 + l->from_offset);
		b->branch[nr].to = long_word(at + 4 + l->to_offset);
		b->times[nr] = ts;
		at += 4 + size;
	}
	b->nr = nr;
	r->ts = ts;
	return at;
}

static void page(struct reader *r, const uint8_t *page, uint32_t page_size)
{
	uint64_t commit = long_word(page + 8), offset = r->s->pages.page_offset;
	uint32_t used = commit & PAGE_USED;
	const uint8_t *at = page + PAGE_HEADER, *end = at + used;
	struct entry e;

	r->ts = long_word(page);
	if (used > page_size - PAGE_HEADER) {
		dat_damage(r->s->dat, offset, "CPU %d: a page with %u bytes", r->s->cpu->cpu, used);
		missing(r, 0);
		return;
	}
	if (commit & PAGE_MISSED)
		missing(r, (commit & PAGE_STORED) && used + 8 <= page_size - PAGE_HEADER ?
			   long_word(end) : 0);
	while (end - at >= 4 && !r->stopped) {
		at = take(r, at, end, &e);
		if (!at) {
			dat_damage(r->s->dat, offset, "CPU %d: an entry larger than its page",
				   r->s->cpu->cpu);
			missing(r, 0);
			return;
		}
		if (e.data) {
			entry(r, &e);
			at = branches_run(r, at, end);
		}
	}
}

void cpustream_pages(struct cpustream *s)
{
	struct reader r = { .s = s };
	const uint8_t *p;

	s->decoder = mem_alloc(sizeof(*s->decoder));
	while (!r.stopped) {
		p = dat_pages_next(&s->pages);
		if (!p)
			break;
		page(&r, p, s->cpu->page_size);
	}
	tell_missing(&r);
	end_batch(&r);
	free(s->decoder);
}

static uint32_t format_id(const struct formats *formats, const char *name)
{
	const struct format *f = format_named(formats, name);

	return f ? f->id : UINT32_MAX;
}

static bool layout_branch(struct layout *l, const struct format *branch)
{
	const struct format_field *type = format_field(branch, "common_type", 2);
	const struct format_field *pid = format_field(branch, "common_pid", 4);
	const struct format_field *from = format_field(branch, "from", 8);
	const struct format_field *to = format_field(branch, "to", 8);

	if (!type || !pid || !from || !to || type->offset || pid->offset > 64 ||
	    from->offset > 64 || to->offset > 64)
		return false;
	l->pid_offset = pid->offset;
	l->from_offset = from->offset;
	l->to_offset = to->offset;
	l->branch_size = (from->offset > to->offset ? from->offset : to->offset) + 8;
	l->branch_size = (l->branch_size + 3) & ~3U;
	return pid->offset + 4 <= l->branch_size;
}

bool layout_find(struct layout *l, const struct formats *formats, struct dat *dat)
{
	const struct format *branch = format_named(formats, "bts_branch");

	*l = (struct layout) {};
	if (!branch) {
		msg_error("read", dat->path, "%s", dat->error ? dat->error :
			  "no branches: the kernel that it is of has no bts tracer");
		return false;
	}
	if (!layout_branch(l, branch)) {
		msg_error("read", dat->path, "the format of bts_branch is not one known here");
		return false;
	}
	l->branch_id = branch->id;
	l->lost = format_named(formats, "bts_lost");
	l->lost_id = format_id(formats, "bts_lost");
	l->lost_count = format_field(l->lost, "count", 0);
	l->lost_cause = format_field(l->lost, "cause", 0);
	l->pack = format_named(formats, "bts_pack");
	l->lost_seq = format_field(l->lost, "seq", 8);
	l->pack_id = format_id(formats, "bts_pack");
	l->pack_seq = format_field(l->pack, "seq", 8);
	l->pack_nr = format_field(l->pack, "nr", 4);
	l->pack_from = format_field(l->pack, "from", 8);
	l->pack_code = format_field(l->pack, "code", 0);
	l->departs_id = format_id(formats, "bts_departs");
	l->arrives_id = format_id(formats, "bts_arrives");
	l->map_id = format_id(formats, "bts_map");
	return true;
}
