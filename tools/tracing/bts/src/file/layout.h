/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the IDs of the tracer's events, and the offsets of the events' fields.
 *
 * Included by: file/, flow/.
 */
#ifndef BTS_LAYOUT_H
#define BTS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "dat.h"
#include "format.h"

/* The IDs, sizes and fields of the tracer's events. All threads share one layout. */
struct layout {
	uint32_t	branch_id;
	uint32_t	pack_id;
	uint32_t	lost_id;
	uint32_t	departs_id;
	uint32_t	arrives_id;
	uint32_t	map_id;
	uint32_t	pid_offset;
	uint32_t	from_offset;
	uint32_t	to_offset;
	/* The minimum sizes of the entries. */
	uint32_t	branch_size;
	uint32_t	pack_size;
	uint32_t	lost_size;
	const struct format *lost;
	const struct format *pack;
	const struct format_field *lost_count;
	const struct format_field *lost_cause;
	const struct format_field *lost_seq;
	const struct format_field *pack_seq;
	const struct format_field *pack_nr;
	const struct format_field *pack_from;
	/* NULL if the trace is from an old tracer, which used only the format BTS_PACK_FORMAT. */
	const struct format_field *pack_format;
	const struct format_field *pack_code;
};

/* If the format of bts_branch is missing or unknown, set @e and return false. */
bool layout_find(struct layout *layout, const struct formats *formats, struct dat *dat,
		 struct error *e);

#endif
