/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the fields of the tracer's entries are.
 *
 * Included by: file/, flow/.
 */
#ifndef BTS_LAYOUT_H
#define BTS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "dat.h"
#include "format.h"

/* Where the fields are that the streams read; the same for all of them. */
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
	/* No entry of these events is smaller. */
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
	/* NULL: the trace is of one of the first tracers, which wrote the format known here. */
	const struct format_field *pack_format;
	const struct format_field *pack_code;
};

/* False, with @e set, if the file has no branches, or none of a form known here. */
bool layout_find(struct layout *layout, const struct formats *formats, struct dat *dat,
		 struct error *e);

#endif
