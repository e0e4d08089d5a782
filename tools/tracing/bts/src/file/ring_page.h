/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse a ring-buffer page, whose contents may be damaged.
 *
 *	page:	time, bytes used | entry entry entry ...
 *	entry:	5 bits length, 27 bits time since the previous entry | type, pid, fields
 *
 * Included by: file/, record/.
 */
#ifndef BTS_RING_PAGE_H
#define BTS_RING_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define RING_PAGE_HEADER	16

/* The second word of a page: the number of bytes used, and flags about overwritten entries. */
#define RING_PAGE_USED		((1U << 27) - 1)
#define RING_PAGE_STORED	(1U << 30)
#define RING_PAGE_MISSED	(1U << 31)

enum {
	RING_ENTRY_LONG		= 0,
	RING_ENTRY_PADDING	= 29,
	RING_ENTRY_TIME_EXTEND	= 30,
	RING_ENTRY_TIME_STAMP	= 31,
};

#define RING_DELTA_BITS		27
/* The upper five bits of the time. An absolute time stamp does not contain these bits. */
#define RING_TIME_UPPER		(0x1fULL << 59)

/**
 * struct ring_entry - an entry of a page
 * @data:	the entry's bytes, or NULL if the entry contains only a time or padding
 * @size:	the number of bytes
 */
struct ring_entry {
	const uint8_t	*data;
	uint32_t	size;
};

/**
 * struct ring_page - the header of a page
 * @ts:		the time of the page
 * @at:		the first entry
 * @end:	the end of the last entry
 * @missed:	entries that preceded this page were overwritten
 * @count:	the number of overwritten entries, or 0 if unknown
 */
struct ring_page {
	uint64_t	ts;
	const uint8_t	*at;
	const uint8_t	*end;
	bool		missed;
	uint64_t	count;
};

static inline uint32_t ring_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t ring_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Read the page header. Return false if the header claims more bytes than the page has. */
static inline bool ring_page_begin(struct ring_page *p, const uint8_t *page, uint32_t page_size)
{
	uint64_t commit = ring_u64(page + 8);
	uint32_t used = commit & RING_PAGE_USED, room = page_size - RING_PAGE_HEADER;

	*p = (struct ring_page) {
		.ts	= ring_u64(page),
		.at	= page + RING_PAGE_HEADER,
		.end	= page + RING_PAGE_HEADER + used,
		.missed	= commit & RING_PAGE_MISSED,
	};
	if (used > room)
		return false;
	if (p->missed && commit & RING_PAGE_STORED && used + sizeof(uint64_t) <= room)
		p->count = ring_u64(p->end);
	return true;
}

/*
 * Parse the entry at @at, and update the time @ts. Return the address of the next entry, or NULL if
 * the parsed entry does not fit into the page. @at must be at least 4 bytes before @end.
 */
static inline const uint8_t *ring_page_next(const uint8_t *at, const uint8_t *end, uint64_t *ts,
					    struct ring_entry *e)
{
	uint32_t head = ring_u32(at), type = head & 31, length;
	uint64_t delta = head >> 5;

	e->data = NULL;
	at += 4;
	if (type == RING_ENTRY_PADDING && !delta)
		return end;
	if (type && type < RING_ENTRY_PADDING) {
		length = type * 4;
		e->data = at;
		e->size = length;
	} else {
		if (end - at < 4)
			return NULL;
		length = ring_u32(at);
		if (type == RING_ENTRY_TIME_EXTEND) {
			delta += (uint64_t)length << RING_DELTA_BITS;
			length = 4;
		} else if (type == RING_ENTRY_TIME_STAMP) {
			*ts = (delta + ((uint64_t)length << RING_DELTA_BITS)) |
			      (*ts & RING_TIME_UPPER);
			delta = 0;
			length = 4;
		} else if (type == RING_ENTRY_LONG) {
			if (length < 4 || length > end - at)
				return NULL;
			e->data = at + 4;
			e->size = length - 4;
			length = (length + 3) & ~3U;
		}
	}
	if (length > end - at)
		return NULL;
	*ts += delta;
	return at + length;
}

#endif
