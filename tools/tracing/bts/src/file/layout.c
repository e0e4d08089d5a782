// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the field offsets of the tracer's entries only once per file, because a lookup for each
 * entry would be slow.
 */
#include <errno.h>

#include "lib/error.h"
#include "layout.h"

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

/* Return the offset at which the event's last field ends. */
static uint32_t layout_size(const struct format *event)
{
	uint32_t size = 0;

	for (size_t i = 0; event && i < event->nr; i++) {
		const struct format_field *f = &event->fields[i];

		if (f->offset + f->size > size)
			size = f->offset + f->size;
	}
	return size;
}

bool layout_find(struct layout *l, const struct formats *formats, struct dat *dat,
		 struct error *e)
{
	const struct format *branch = format_named(formats, "bts_branch");

	*l = (struct layout) {};
	if (!branch)
		return error_set(e, dat->error ? EBADMSG : ENODATA, "read", dat->path, "%s",
				 dat->error ? dat->error :
				 "no branches: the recorded kernel has no bts tracer");
	if (!layout_branch(l, branch))
		return error_set(e, EOPNOTSUPP, "read", dat->path,
				 "the event bts_branch has an unknown format; try a newer bts");
	l->branch_id = branch->id;
	l->lost = format_named(formats, "bts_lost");
	l->lost_id = format_id(formats, "bts_lost");
	l->lost_count = format_field(l->lost, "count", 0);
	l->lost_cause = format_field(l->lost, "cause", 0);
	l->pack = format_named(formats, "bts_pack");
	l->lost_seq = format_field(l->lost, "seq", 8);
	l->pack_id = format_id(formats, "bts_pack");
	l->pack_seq = format_field(l->pack, "seq", 8);
	l->pack_nr = format_field(l->pack, "nr", 0);
	l->pack_from = format_field(l->pack, "from", 8);
	l->pack_format = format_field(l->pack, "format", 0);
	l->pack_size = layout_size(l->pack);
	l->lost_size = layout_size(l->lost);
	l->pack_code = format_field(l->pack, "code", 0);
	l->departs_id = format_id(formats, "bts_departs");
	l->arrives_id = format_id(formats, "bts_arrives");
	l->map_id = format_id(formats, "bts_map");
	return true;
}
