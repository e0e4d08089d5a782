// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: what the CPUs hold is written before it is missed
 *
 * A reader that does not sleep in read() has the CPUs drained when it finds nothing,
 * and looks again: bts_sync_reader().
 *
 * Concurrency: bts_instance.polled is set by readers, which keep the tracer chosen, and
 * cleared by the worker, under trace_types_lock.
 */

#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "trace_bts.h"

/* How often the CPUs are asked for a reader that waits, in a flight recorder. */
#define BTS_ASK_AGAIN	(HZ / 10)

static bool bts_is_read(struct bts_instance *b)
{
	int cpu;

	if (READ_ONCE(b->readers.nr))
		return true;
	for_each_possible_cpu(cpu) {
		if (READ_ONCE(per_cpu_ptr(b->cpu, cpu)->readers.nr))
			return true;
	}
	return false;
}

static void bts_ask_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(bts_ask_work, bts_ask_again);

/* Context: process context. */
static void bts_ask_again(struct work_struct *work)
{
	struct bts_instance *b;
	bool any = false;

	guard(mutex)(&trace_types_lock);

	list_for_each_entry(b, &bts_instances, list) {
		if (!bts_is_read(b))
			WRITE_ONCE(b->polled, false);
		any |= READ_ONCE(b->polled);
	}
	if (!any)
		return;
	ds_bts_flush_all();
	schedule_delayed_work(&bts_ask_work, BTS_ASK_AGAIN);
}

/**
 * bts_sync_reader - a reader finds nothing, and does not sleep in read()
 * @b: the instance
 *
 * It may have epoll wake it up, which asks the file but once. In a flight recorder there
 * is no interrupt to bring the branches: the CPUs are asked ten times a second from now
 * on, until no reader has the file open.
 *
 * Context: process context; the reader has its file open, so that bts stays chosen.
 */
void bts_sync_reader(struct bts_instance *b)
{
	ds_bts_flush_all();
	if (!(READ_ONCE(b->flags->val) & BTS_OPT_CIRCULAR))
		return;
	WRITE_ONCE(b->polled, true);
	schedule_delayed_work(&bts_ask_work, BTS_ASK_AGAIN);
}
