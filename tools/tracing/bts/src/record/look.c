// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scan a CPU's ring-buffer pages.
 *
 * The kernel does not count the tasks and switches in the trace, so bts record scans each page
 * before it writes the page. If bts record is killed, bts restore scans the pages again.
 */
#include <stdint.h>
#include <string.h>

#include "file/ring_page.h"
#include "look.h"

/* Replace the stored name, because an exec() may have changed the task's name. */
static void look_at_name(struct look *look, const uint8_t *entry, int size, int comm,
			 uint64_t ts)
{
	if (comm < 0 || comm + NAME_LENGTH > size)
		return;
	memcpy(look->last->comm, entry + comm, NAME_LENGTH);
	look->last->ts = ts;
}

static void look_at_pack(struct look *look, const uint8_t *entry, int size)
{
	int at = look->events->pack_nr;
	uint16_t nr;

	if (at < 0 || at + (int)sizeof(nr) > size)
		return;
	memcpy(&nr, entry + at, sizeof(nr));
	look->branches += nr;
}

static void look_at_entry(struct look *look, const uint8_t *entry, int size, uint64_t ts)
{
	const struct look_events *events = look->events;
	uint16_t type;
	int32_t pid;

	if (size < 8)
		return;
	memcpy(&type, entry, sizeof(type));
	memcpy(&pid, entry + 4, sizeof(pid));
	look->maps |= type == events->map;
	/*
	 * Count only tasks that have rows with branches or switches. The task of any other row,
	 * such as a loss row, may be a task that is not a target.
	 */
	if (type != events->branch && type != events->pack && type != events->departs &&
	    type != events->arrives)
		return;
	if (!look->last || look->last->pid != pid)
		look->last = names_get(&look->counts.names, pid);
	if (type == events->branch) {
		look->branches++;
	} else if (type == events->pack) {
		look_at_pack(look, entry, size);
	} else if (type == events->departs) {
		look->counts.switches++;
		look_at_name(look, entry, size, events->departs_comm, ts);
	} else if (type == events->arrives) {
		look_at_name(look, entry, size, events->arrives_comm, ts);
	}
}

void look_at_page(struct look *look, const void *page, unsigned int page_size)
{
	struct ring_entry e;
	struct ring_page p;

	if (!ring_page_begin(&p, page, page_size))
		return;
	look->counts.overwritten += p.count;
	while (p.at && p.end - p.at >= 4) {
		p.at = ring_page_next(p.at, p.end, &p.ts, &e);
		if (p.at && e.data)
			look_at_entry(look, e.data, e.size, p.ts);
	}
}

void look_open(struct look *look, const struct look_events *events)
{
	*look = (struct look) { .events = events };
}

void look_close(struct look *look)
{
	names_free(&look->counts.names);
}
