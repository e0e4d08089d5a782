// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decode each CPU's ring-buffer pages into batches, in a separate thread for each CPU.
 *
 * In this file, consecutive branches of one task form a batch (struct batch). A bts_branch entry
 * contains one branch, and a bts_pack entry contains many branches. Any other entry ends the batch
 * and becomes a separate batch. The header of a page reports whether entries before the page were
 * overwritten. The sequence number of a pack is the number of branches before the pack. If a header
 * or a sequence number shows a loss, the reader inserts a batch that reports the loss.
 *
 * If a page ends before the wanted time range, the reader uses only the page's mapping rows. The
 * reader stops after several consecutive pages that begin after the range. One such page is not
 * enough, because its time may be damaged.
 *
 * If an entry does not fit into its page, the reader reports damage, treats the rest of the page as
 * a loss, and continues with the next page. Pages that cannot be read are also a loss. The reader
 * replaces a truncated entry or a malformed pack with a loss.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "cpu_reader.h"
#include "ring_page.h"
#include "trace_dat.h"
#include "bts/unpack.h"

/* Stop after this number of consecutive pages that begin after the wanted time range. */
#define LATE_MAX		16

_Static_assert(sizeof(struct bts_pair) == sizeof(struct branch), "a pair is a branch");

/**
 * struct decode - the state of the thread that decodes a CPU's pages
 * @b:		the batch to which branches are added, or NULL
 * @decoder:	the decoder of the current pack
 * @ts:		the time of the current entry
 * @seq:	the sequence number that the next pack should have
 * @seq_known:	@seq is known. It is unknown after a bts_branch, which has no sequence number
 * @early:	the page ends before the wanted time range
 * @late:	number of consecutive pages that begin after the wanted time range
 * @stopped:	the pipeline wants no more batches
 * @missing:	branches are missing before the next entry, and no batch has reported this loss yet
 * @missing_count: the number of the missing branches; 0 if unknown
 * @missing_cause: why the branches are missing (LOSS_*)
 * @missing_from: the time of the last entry before the missing branches
 * @maps:	the pages are from the instance DAT_MAPS, which contains no branches
 */
struct decode {
	struct cpu_reader	*r;
	struct batch		*b;
	struct bts_decoder	*decoder;
	uint64_t		ts;
	uint64_t		seq;
	bool			seq_known;
	bool			early;
	unsigned int		late;
	bool			stopped;
	bool			missing;
	uint64_t		missing_count;
	uint32_t		missing_cause;
	uint64_t		missing_from;
	bool			maps;
};

static void end_batch(struct decode *d)
{
	if (!d->b)
		return;
	if (d->b->nr || d->b->type != BATCH_BRANCHES)
		queue_commit(&d->r->queue);
	d->b = NULL;
}

static struct batch *new_batch(struct decode *d, enum batch_type type, int pid)
{
	end_batch(d);
	d->b = queue_reserve(&d->r->queue);
	if (!d->b) {
		d->stopped = true;
		return NULL;
	}
	d->b->type = type;
	d->b->cpu = d->r->cpu->cpu;
	d->b->pid = pid;
	d->b->nr = 0;
	d->b->position = d->r->pages.at - d->r->cpu->offset;
	d->b->ts = d->ts;
	d->b->count = 0;
	d->b->cause = 0;
	return d->b;
}

/* Return a batch that has room for a branch of the task @pid. */
static inline struct batch *branches(struct decode *d, int pid)
{
	struct batch *b = d->b;

	if (b && b->type == BATCH_BRANCHES && b->pid == pid && b->nr < BATCH_BRANCHES_MAX)
		return b;
	return new_batch(d, BATCH_BRANCHES, pid);
}

static void missed(struct decode *d, uint64_t count, uint32_t cause)
{
	if (new_batch(d, BATCH_MISSED, -1)) {
		d->b->count = count;
		d->b->cause = cause;
	}
	end_batch(d);
}

/*
 * Note a loss, but do not report the loss yet, because the next entry may reveal its exact size. If
 * an earlier loss is still unreported, merge the two into one loss with the earlier cause.
 */
static void missing(struct decode *d, uint64_t count, uint32_t cause)
{
	if (d->missing) {
		d->missing_count = 0;
		return;
	}
	d->missing = true;
	d->missing_count = count;
	d->missing_cause = cause;
	d->missing_from = d->ts;
}

/* Report the loss. If it begins in the wanted time range but ends later, report it at time_to. */
static void tell_missing(struct decode *d)
{
	uint64_t ts = d->ts, time_to = d->r->dat->time_to;

	if (!d->missing)
		return;
	if (ts > time_to && d->missing_from <= time_to)
		d->ts = time_to;
	missed(d, d->missing_count, d->missing_cause);
	d->ts = ts;
	d->missing = false;
}

static void damage(struct decode *d, const char *what)
{
	dat_damage(d->r->dat, d->r->pages.page_offset, "CPU %d: %s", d->r->cpu->cpu, what);
}

/* Report a truncated entry as a loss of unknown size, and mark d->seq as unknown. */
static void cut_off(struct decode *d)
{
	damage(d, "a truncated entry");
	tell_missing(d);
	missed(d, 0, LOSS_DAMAGED);
	d->seq_known = false;
}

/*
 * If branches are missing before the entry, report the loss. Then set d->seq to the next expected
 * sequence number. Ignore the page header's number of lost entries, because a whole pack is
 * only one entry. If the entry has no sequence number, the size of the loss stays unknown. In that
 * case, mark d->seq as unknown, so that the loss is not reported again at the next pack.
 */
static void in_sequence(struct decode *d, const struct ring_entry *e,
			const struct format_field *field, uint64_t nr)
{
	uint64_t seq;

	d->missing_count = 0;
	if (field) {
		seq = format_number(field, e->data, e->size);
		if (d->seq_known && seq > d->seq) {
			missing(d, 0, LOSS_MISSED);
			d->missing_count = seq - d->seq;
		}
		d->seq = seq + nr;
		d->seq_known = true;
	} else if (d->missing) {
		d->seq_known = false;
	}
	tell_missing(d);
}

static void one_branch(struct decode *d, const struct ring_entry *e, int pid)
{
	const struct layout *l = d->r->layout;
	struct batch *b;

	if (e->size < l->branch_size) {
		cut_off(d);
		return;
	}
	tell_missing(d);
	b = branches(d, pid);
	if (!b)
		return;
	b->branch[b->nr].from = ring_u64(e->data + l->from_offset);
	b->branch[b->nr].to = ring_u64(e->data + l->to_offset);
	b->times[b->nr++] = d->ts;
	d->seq_known = false;
}

/* Start decoding a pack. If the pack cannot be decoded, report the damage and return false. */
static bool begin_pack(struct decode *d, const struct ring_entry *e, uint32_t nr)
{
	const struct layout *l = d->r->layout;
	unsigned int format = BTS_PACK_FORMAT;
	uint32_t length;
	const void *code;
	char text[64];

	if (l->pack_format)
		format = format_number(l->pack_format, e->data, e->size);
	if (format != BTS_PACK_FORMAT) {
		snprintf(text, sizeof(text), "a pack " BTS_PACK_FOREIGN, format);
		damage(d, text);
		return false;
	}
	code = format_bytes(l->pack_code, e->data, e->size, &length);
	if (!code || !nr || nr > BTS_PACK_MAX) {
		damage(d, "a malformed pack");
		return false;
	}
	bts_decoder_begin(d->decoder, code, length,
			  format_number(l->pack_from, e->data, e->size), nr);
	return true;
}

static void pack(struct decode *d, const struct ring_entry *e, int pid)
{
	const struct layout *l = d->r->layout;
	struct bts_decoder *decoder = d->decoder;
	uint32_t left;

	if (e->size < l->pack_size) {
		cut_off(d);
		return;
	}
	left = format_number(l->pack_nr, e->data, e->size);
	in_sequence(d, e, l->pack_seq, left);
	if (!begin_pack(d, e, left)) {
		missed(d, left > BTS_PACK_MAX ? 0 : left, LOSS_DAMAGED);
		return;
	}
	while (left) {
		struct batch *b = branches(d, pid);
		uint32_t n;

		if (!b)
			return;
		n = BATCH_BRANCHES_MAX - b->nr;
		n = bts_decoder_rest(decoder, (struct bts_pair *)&b->branch[b->nr],
				     n < left ? n : left);
		for (uint32_t i = 0; i < n; i++)
			b->times[b->nr + i] = d->ts;
		b->nr += n;
		left -= n;
		if (!n)
			break;
	}
	if (bts_decoder_damaged(decoder)) {
		damage(d, "a damaged pack");
		missed(d, left, LOSS_DAMAGED);
	}
}

static void row(struct decode *d, const struct ring_entry *e, uint32_t id, int pid)
{
	const struct layout *l = d->r->layout;
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
	if (type == BATCH_LOST && e->size < l->lost_size) {
		cut_off(d);
		return;
	}
	in_sequence(d, e, type == BATCH_LOST ? l->lost_seq : NULL,
		    type == BATCH_LOST ? format_number(l->lost_count, e->data, e->size) : 0);
	b = new_batch(d, type, pid);
	if (!b)
		return;
	b->id = id;
	b->size = e->size < sizeof(b->entry) ? e->size : sizeof(b->entry);
	memcpy(b->entry, e->data, b->size);
	if (type == BATCH_LOST) {
		b->count = format_number(l->lost_count, b->entry, b->size);
		b->cause = format_number(l->lost_cause, b->entry, b->size);
	}
	end_batch(d);
}

static void entry(struct decode *d, const struct ring_entry *e)
{
	const struct layout *l = d->r->layout;
	uint16_t id;
	int pid;

	if (e->size < l->pid_offset + 4) {
		cut_off(d);
		return;
	}
	memcpy(&id, e->data, 2);
	pid = ring_u32(e->data + l->pid_offset);
	if (d->early && id != l->map_id)
		return;
	if (id == l->branch_id)
		one_branch(d, e, pid);
	else if (id == l->pack_id)
		pack(d, e, pid);
	else
		row(d, e, id, pid);
}

/*
 * Add consecutive bts_branch entries of one task to the batch. This fast path begins at @at, and
 * stops at an entry of another task or type, such as a time extend. Return the address at which the
 * fast path stopped.
 */
static const uint8_t *branches_run(struct decode *d, const uint8_t *at, const uint8_t *end)
{
	const struct layout *l = d->r->layout;
	struct batch *b = d->b;
	uint32_t head, nr, size = l->branch_size;
	uint64_t ts = d->ts;

	if (!b || b->type != BATCH_BRANCHES)
		return at;
	for (nr = b->nr; nr < BATCH_BRANCHES_MAX && end - at >= 4 + size; nr++) {
		uint16_t id;

		head = ring_u32(at);
		memcpy(&id, at + 4, 2);
		if ((head & 31) != size / 4 || id != l->branch_id ||
		    (int)ring_u32(at + 4 + l->pid_offset) != b->pid)
			break;
		ts += head >> 5;
		b->branch[nr].from = ring_u64(at + 4 + l->from_offset);
		b->branch[nr].to = ring_u64(at + 4 + l->to_offset);
		b->times[nr] = ts;
		at += 4 + size;
	}
	if (nr > b->nr)
		d->seq_known = false;
	b->nr = nr;
	d->ts = ts;
	return at;
}

static bool entry_seq(const struct ring_entry *e, uint32_t size, const struct format_field *field,
		      uint64_t *seq)
{
	if (!field || e->size < size)
		return false;
	*seq = format_number(field, e->data, e->size);
	return true;
}

/* Set @seq to the sequence number of the page's first branch. Return false if it is unknown. */
static bool first_seq(const struct layout *l, const struct ring_page *p, uint64_t *seq)
{
	const uint8_t *at = p->at;
	struct ring_entry e;
	uint64_t ts = 0;

	while (at && p->end - at >= 4) {
		uint16_t id;

		at = ring_page_next(at, p->end, &ts, &e);
		if (!at || !e.data || e.size < sizeof(id))
			continue;
		memcpy(&id, e.data, sizeof(id));
		if (id == l->branch_id)
			return false;
		if (id == l->pack_id)
			return entry_seq(&e, l->pack_size, l->pack_seq, seq);
		if (id == l->lost_id)
			return entry_seq(&e, l->lost_size, l->lost_seq, seq);
	}
	return false;
}

/*
 * Report the number of branches that are missing before the page. Do this before reading any rows
 * at the beginning of the page: these rows have no sequence number that would reveal the loss.
 */
static void measure_missing(struct decode *d, const struct ring_page *p)
{
	uint64_t seq;

	if (!d->seq_known || d->early || !first_seq(d->r->layout, p, &seq))
		return;
	d->missing_count = seq > d->seq ? seq - d->seq : 0;
	d->seq = seq;
	tell_missing(d);
}

static void page(struct decode *d, const uint8_t *bytes, uint32_t page_size)
{
	uint64_t offset = d->r->pages.page_offset;
	const uint8_t *at, *end;
	struct ring_entry e;
	struct ring_page p;
	bool fits = ring_page_begin(&p, bytes, page_size);

	if (!fits) {
		dat_damage(d->r->dat, offset, "CPU %d: a page with invalid size %u",
			   d->r->cpu->cpu, (uint32_t)(p.end - p.at));
		missing(d, 0, LOSS_DAMAGED);
		return;
	}
	d->ts = p.ts;
	if (p.missed && !d->maps)
		missing(d, p.count, LOSS_MISSED);
	if (d->missing)
		measure_missing(d, &p);
	at = p.at;
	end = p.end;
	while (end - at >= 4 && !d->stopped) {
		at = ring_page_next(at, end, &d->ts, &e);
		if (!at) {
			dat_damage(d->r->dat, offset, "CPU %d: an entry larger than its page",
				   d->r->cpu->cpu);
			missing(d, 0, LOSS_DAMAGED);
			return;
		}
		if (e.data) {
			entry(d, &e);
			at = branches_run(d, at, end);
		}
	}
}

/*
 * Report the branches that the recorder could not write. Also report a loss if the recorder was
 * killed or the imported file was damaged.
 */
static void tell_unwritten(struct decode *d)
{
	char key[sizeof(DAT_UNWRITTEN_CPU) + 11];
	uint64_t count;

	if (d->maps)
		return;
	snprintf(key, sizeof(key), DAT_UNWRITTEN_CPU, d->r->cpu->cpu);
	count = stats_number(d->r->dat->info.text, key);
	if (count)
		missed(d, count, LOSS_UNWRITTEN);
	if (stats_number(d->r->dat->info.text, "recorder_killed"))
		missed(d, 0, LOSS_KILLED);
	if (stats_number(d->r->dat->info.text, "perf_damaged"))
		missed(d, 0, LOSS_DAMAGED);
}

/* Drop a loss that occurred before the wanted time range. */
static void forget_loss(struct decode *d)
{
	d->missing = false;
	d->seq_known = false;
}

/* Get the next page. If unreadable pages were skipped, note a loss. */
static const uint8_t *next_page(struct decode *d)
{
	struct dat_pages *pages = &d->r->pages;
	const uint8_t *p = dat_pages_next(pages);

	if (pages->lost)
		missing(d, 0, LOSS_DAMAGED);
	pages->lost = false;
	/* The skipped pages may be in the time range. Move the loss there, so that bts shows it. */
	if (!p && d->missing && d->ts < d->r->dat->time_from)
		d->ts = d->r->dat->time_from;
	return p;
}

static void decode_pages(void *arg)
{
	struct cpu_reader *r = arg;
	struct decode d = { .r = r, .maps = dat_cpu_is_maps(r->cpu) };
	const uint8_t *p;

	d.decoder = mem_alloc(sizeof(*d.decoder));
	while (!d.stopped && d.late < LATE_MAX) {
		p = next_page(&d);
		if (!p)
			break;
		d.early = dat_pages_early(&r->pages);
		d.late = ring_u64(p) > r->dat->time_to ? d.late + 1 : 0;
		page(&d, p, r->cpu->page_size);
		if (d.early)
			forget_loss(&d);
	}
	tell_missing(&d);
	if (!d.stopped && d.late < LATE_MAX)
		tell_unwritten(&d);
	end_batch(&d);
	free(d.decoder);
}

static void *run_thread(void *arg)
{
	struct cpu_reader *r = arg;

	r->failed = !mem_try(decode_pages, r);
	queue_end(&r->queue);
	return NULL;
}

bool cpu_reader_start(struct cpu_reader *r, struct dat *dat, struct dat_cpu *cpu,
		      const struct layout *layout, struct error *e)
{
	*r = (struct cpu_reader) { .dat = dat, .cpu = cpu, .layout = layout };
	dat_pages_open(&r->pages, dat, cpu);
	queue_init(&r->queue, dat->nr_cpus);
	errno = pthread_create(&r->thread, NULL, run_thread, r);
	r->started = !errno;
	if (errno)
		error_errno(e, "start a thread", dat->path);
	return r->started;
}

void cpu_reader_stop(struct cpu_reader *r)
{
	if (r->started) {
		queue_stop(&r->queue);
		pthread_join(r->thread, NULL);
	}
	dat_pages_close(&r->pages);
	queue_free(&r->queue);
}
