// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read branches that the PMU intel_bts recorded.
 *
 * The hardware stores 24 bytes for each branch in an AUX area. For each part that the hardware has
 * filled, the kernel writes an AUX record into the ring buffer, with the part's offset and size. A
 * flag shows whether data is missing after the part. The command perf record copies parts of the
 * area into AUXTRACE records, which contain the parts' offsets. An AUXTRACE record may precede or
 * follow the AUX record for the same data.
 *
 * Files from bts dump contain no AUX records. In such a file, all branches of an AUXTRACE record
 * have the same time, which comes from the TSC value in the record's field "reference".
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "perf_aux.h"
#include "perf_task.h"

enum { BLOCK = 1024 };

struct record_auxtrace {
	struct perf_event_header	header;
	uint64_t			size, offset, reference;
	uint32_t			idx, tid, cpu, reserved;
};

void perf_aux_branches(struct perf_rows *rows, struct perf_out *out, const struct perf_id *id,
		       const struct bts_record *branches, size_t nr)
{
	/* The kernel pads pages with zeroes, so skip all-zero branches. */
	for (size_t i = 0; i < nr; i++)
		if (branches[i].from || branches[i].to)
			perf_rows_branch(rows, out, id, branches[i].from, branches[i].to);
}

bool perf_aux_is_cut(const struct record_aux *r)
{
	return r->flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL);
}

/* Multiply the upper and the lower bits separately, so that no product overflows. */
static uint64_t time_of(const struct perf_aux_clock *clock, uint64_t counter)
{
	uint64_t low = counter & ((1ULL << clock->shift) - 1);

	if (!clock->mult)
		return counter;
	return clock->zero + (counter >> clock->shift) * clock->mult +
	       (low * clock->mult >> clock->shift);
}

uint64_t perf_aux_data(struct perf_aux *aux, const struct perf_event_header *h, uint64_t at)
{
	const struct record_auxtrace *r = (const void *)h;
	struct perf_aux_part *part;

	if (h->size < sizeof(*r))
		return 0;
	aux->parts = mem_realloc(aux->parts, aux->nr + 1, sizeof(*part));
	part = &aux->parts[aux->nr++];
	*part = (struct perf_aux_part) {
		.tid = r->tid, .cpu = r->cpu, .offset = r->offset, .size = r->size, .at = at,
		.time = time_of(&aux->clock, r->reference),
	};
	return r->size;
}

/* Return the part of the task's AUX area that contains the byte at @offset. */
static struct perf_aux_part *find_part(const struct perf_aux *aux, int tid, uint64_t offset)
{
	for (size_t i = aux->nr; i--;) {
		struct perf_aux_part *part = &aux->parts[i];

		if (part->tid == tid && offset >= part->offset &&
		    offset - part->offset < part->size)
			return part;
	}
	return NULL;
}

/* Read at most BLOCK branches, and at most @size bytes. Return the number of branches. */
static size_t read_part(struct perf_aux_part *part, FILE *file, uint64_t skip, uint64_t size,
			struct bts_record *to)
{
	if (size > part->size - skip)
		size = part->size - skip;
	if (size > BLOCK * sizeof(*to))
		size = BLOCK * sizeof(*to);
	part->used = true;
	if (fseeko(file, part->at + skip, SEEK_SET))
		return 0;
	return fread(to, sizeof(*to), size / sizeof(*to), file);
}

/* Read at most BLOCK branches from @offset to @end. Return the number of branches. */
static size_t read_branches(const struct perf_aux *aux, FILE *file, int tid, uint64_t offset,
			    uint64_t end, struct bts_record *to)
{
	struct perf_aux_part *part = find_part(aux, tid, offset);

	return part ? read_part(part, file, offset - part->offset, end - offset, to) : 0;
}

void perf_aux_whole(struct perf_aux_part *part, FILE *file, struct perf_rows *rows,
		    struct perf_out *out)
{
	const struct perf_task *t = perf_task_find(rows, part->tid);
	const struct perf_id id = {
		.pid = t ? t->pid : part->tid, .tid = part->tid, .time = part->time,
	};
	struct bts_record branches[BLOCK];
	uint64_t skip = 0;
	size_t nr;

	do {
		nr = read_part(part, file, skip, part->size - skip, branches);
		perf_aux_branches(rows, out, &id, branches, nr);
		skip += nr * sizeof(*branches);
	} while (nr);
}

uint64_t perf_aux_unread(const struct perf_aux *aux)
{
	uint64_t unread = 0;

	for (size_t i = 0; i < aux->nr; i++)
		if (!aux->parts[i].used)
			unread += aux->parts[i].size / sizeof(struct bts_record);
	return unread;
}

void perf_aux_record(struct perf_aux *aux, FILE *file, struct perf_rows *rows,
		     struct perf_out *out, const struct perf_event_header *h,
		     const struct perf_id *id)
{
	const struct record_aux *r = (const void *)h;
	struct bts_record branches[BLOCK];
	uint64_t offset, end;
	size_t nr = 1;

	if (h->size < sizeof(*r) || r->size > UINT64_MAX - r->offset)
		return;
	end = r->offset + r->size;
	for (offset = r->offset; nr && end - offset >= sizeof(*branches);
	     offset += nr * sizeof(*branches)) {
		nr = read_branches(aux, file, id->tid, offset, end, branches);
		perf_aux_branches(rows, out, id, branches, nr);
	}
	if (!nr || perf_aux_is_cut(r))
		perf_rows_lost(rows, out, id);
}

void perf_aux_free(struct perf_aux *aux)
{
	free(aux->parts);
	*aux = (struct perf_aux) {};
}
