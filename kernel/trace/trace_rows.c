// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the rows of a ring buffer entry, which may have several rows
 */

#include <linux/trace_events.h>

#include "trace.h"
#include "trace_output.h"

/**
 * trace_rows - return the number of rows of the current entry
 * @iter: the iterator
 *
 * Called with trace_event_read_lock() held.
 *
 * Printing an entry of the function_graph tracer may consume entries, so iter->ent may be invalid
 * afterwards. Even so, rows() may read iter->ent, because the print functions of an event that has
 * a rows() callback do not consume entries.
 */
unsigned int trace_rows(struct trace_iterator *iter)
{
	const u64 others = TRACE_ITER(BIN) | TRACE_ITER(HEX) | TRACE_ITER(RAW);
	struct trace_event *event = ftrace_find_event(iter->ent_type);

	if (!event || !event->funcs->rows)
		return 1;
	/* The option "fields" prints the entry as one row, but bin, hex and raw take precedence. */
	if ((iter->tr->trace_flags & (TRACE_ITER(FIELDS) | others)) == TRACE_ITER(FIELDS))
		return 1;
	return event->funcs->rows(iter);
}

/**
 * trace_next_row - advance to the next row of the current entry
 * @iter: the iterator, which has printed or skipped a row
 *
 * Called with trace_event_read_lock() held.
 *
 * Return: false if the entry has no further row.
 */
bool trace_next_row(struct trace_iterator *iter)
{
	iter->row++;
	iter->row_cpu = iter->cpu;
	iter->row_ts = iter->ts;
	if (iter->row < trace_rows(iter))
		return true;
	iter->row = 0;
	return false;
}
