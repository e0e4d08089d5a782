// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: bring the ring buffer up to date
 *
 * Branches reach the ring buffer in batches of a few hundred. ftrace calls bts_sync() if it needs
 * the branches of an incomplete batch, if tracing is turned on or off, or if the targets change:
 *
 *	all CPUs	reason		action
 *	  yes		FLUSH		drain all CPUs
 *	  yes		POLL		drain all CPUs; with bts-circular, repeat this
 *					while the instance has a reader
 *	  yes		TARGETS		each CPU decides again what to record
 *	  yes		ON, OFF		the instance starts or stops recording
 *	  no		FLUSH		drain this CPU
 *	  no		EVENT		with bts-sync, drain this CPU, so that the event
 *					comes after the branches that led to it
 *	  no		ON		this CPU starts at once, the other CPUs later
 *	  all instances	OFF		in a crash, drain all CPUs and stop recording
 *
 * Concurrency:
 *
 *	- A call for one CPU may come from any context, and its caller may hold any lock, for
 *	  example a runqueue's lock. So in such a call, bts_sync() takes no lock. If a trace event
 *	  occurs during a drain, ds_bts_off() returns false, so bts_sync() starts no second drain.
 *	- The flag bts_instance.tracing is written under trace_types_lock. The exceptions are
 *	  bts_sync_on() and bts_crash(), which write the flag in any context without the lock.
 *	- A reader sets bts_instance.polled without taking trace_types_lock. Its open file prevents
 *	  a change of the tracer, just as the lock would. A worker clears the flag under the lock.
 */

#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "bts.h"

/*
 * If bts-sync is set, drain before an event is written, so that the event comes after the
 * earlier branches of this CPU. Context: any.
 */
static void bts_sync_event(struct bts_instance *b)
{
	guard(preempt_notrace)();
	if ((READ_ONCE(b->flags->val) & BTS_OPT_SYNC) && READ_ONCE(b->tracing) &&
	    tracer_tracing_is_on(b->tr))
		ds_bts_flush_cpu();
}

/*
 * Handle a reader that finds no data in a poll() or a non-blocking read(). The reader may then
 * sleep in epoll_wait(), which polls the file only once. With bts-circular, no interrupt drains
 * the CPUs, so drain them ten times a second until the instance has no reader.
 * Context: process context. While the reader's file is open, bts stays the current tracer.
 */
static void bts_sync_poll(struct bts_instance *b)
{
	ds_bts_flush_all();
	if (!(READ_ONCE(b->flags->val) & DS_BTS_CIRCULAR))
		return;
	WRITE_ONCE(b->polled, true);
	bts_poll();
}

/* Start recording on the CPUs on which bts_sync_on() did not run. Context: process context. */
static void bts_start_all(struct work_struct *work)
{
	guard(mutex)(&trace_types_lock);

	if (!list_empty(&bts_instances))
		ds_bts_update_all(DS_DRAIN_FLUSH);
}

static DECLARE_WORK(bts_start_work, bts_start_all);

/*
 * Context: hard interrupt, which is delayed while interrupts are off, for example during a task
 * switch. So the branches in the DS buffer always belong to current.
 */
static __ds_text void bts_start_here(struct irq_work *work)
{
	if (ds_bts_pause()) {
		ds_bts_drain(DS_DRAIN_FLUSH);
		ds_bts_ask(current);
		schedule_work(&bts_start_work);
		ds_bts_resume();
	}
}

static DEFINE_PER_CPU(struct irq_work, bts_start_irq) =
	IRQ_WORK_INIT_HARD(bts_start_here);

/*
 * Start recording when a trigger, a function probe or tracing_on() turns tracing on. The user
 * wants this CPU's next branches, so this CPU starts first, and the other CPUs start a moment
 * later. A traceoff trigger or probe stops only the ring buffer, and the CPUs continue to record.
 * If tracing is turned on again after a traceoff, this function does nothing, unless rows of
 * mappings are missing. If another tracer has just replaced bts, bts_instance.tracing has no
 * effect. bts_prepare() sets this flag when bts is chosen the next time. Context: any.
 */
static void bts_sync_on(struct bts_instance *b)
{
	if (READ_ONCE(b->tracing) && !READ_ONCE(b->maps_missed))
		return;
	WRITE_ONCE(b->maps_missed, false);
	WRITE_ONCE(b->tracing, true);
	guard(preempt_notrace)();
	irq_work_queue(this_cpu_ptr(&bts_start_irq));
}

static void bts_start(struct bts_instance *b)
{
	bts_map_forget(b);
	WRITE_ONCE(b->tracing, true);
	ds_bts_update_all(DS_DRAIN_FLUSH);
}

/**
 * bts_stop - stop recording for an instance
 * @b: the instance, whose ring buffer is still on and receives the last records
 *
 * After this call, bts may remain the tracer of the instance, or another tracer may replace bts.
 *
 * Context: Process context, trace_types_lock held.
 */
void bts_stop(struct bts_instance *b)
{
	WRITE_ONCE(b->tracing, false);
	ds_bts_update_all(DS_DRAIN_STOP);
	/* Write the held entries. If the ring buffer has no room, count their branches as lost. */
	ds_bts_flush_all();
	/* Forget the shown mappings now, because bts_sync_on() cannot forget them in an NMI. */
	bts_map_forget(b);
}

/*
 * On an oops or a panic, drain all CPUs into the ring buffers and then switch the ring buffers
 * off. Walking the list bts_instances needs no lock, because an instance that leaves the list is
 * freed a grace period later. Context: any.
 */
static void bts_crash(void)
{
	struct bts_instance *b;
	unsigned long flags;
	bool tracing = false;

	/* Do not use rcu_read_lock(), because it warns if RCU is not watching this CPU. */
	guard(preempt_notrace)();
	list_for_each_entry_rcu(b, &bts_instances, list, true) {
		tracing |= READ_ONCE(b->tracing);
		WRITE_ONCE(b->tracing, false);
	}
	raw_local_irq_save(flags);
	if (tracing)
		ds_bts_crash();
	raw_local_irq_restore(flags);
	list_for_each_entry_rcu(b, &bts_instances, list, true)
		tracer_tracing_off(b->tr);
}

/* Context: process context. For POLL, ON and OFF, bts must remain the current tracer. */
static void bts_sync_all(struct bts_instance *b, enum tracer_sync_reason why)
{
	switch (why) {
	case TRACER_SYNC_POLL:
		bts_sync_poll(b);
		break;
	case TRACER_SYNC_TARGETS:
		ds_bts_update_all(DS_DRAIN_FLUSH);
		bts_wake(b);
		break;
	case TRACER_SYNC_ON:
		bts_start(b);
		break;
	case TRACER_SYNC_OFF:
		bts_stop(b);
		break;
	default:
		ds_bts_flush_all();
	}
}

/* Context: any. */
static void bts_sync_here(struct bts_instance *b, enum tracer_sync_reason why)
{
	switch (why) {
	case TRACER_SYNC_EVENT:
		bts_sync_event(b);
		break;
	case TRACER_SYNC_ON:
		bts_sync_on(b);
		break;
	default:
		ds_bts_flush_cpu();
	}
}

/**
 * bts_sync - the tracer's sync() callback
 * @tr:		the trace array, whose current or previous tracer is bts; NULL in a crash
 * @cpu:	RING_BUFFER_ALL_CPUS, or this CPU
 * @why:	the reason
 *
 * Context: see trace_sync.h.
 */
void bts_sync(struct trace_array *tr, int cpu, enum tracer_sync_reason why)
{
	if (!tr)
		bts_crash();
	else if (cpu == RING_BUFFER_ALL_CPUS)
		bts_sync_all(tr->bts, why);
	else
		bts_sync_here(tr->bts, why);
}
