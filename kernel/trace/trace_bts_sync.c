// SPDX-License-Identifier: GPL-2.0
/*
 * Branch tracer: the ring buffer is brought up to date
 *
 * Branches reach the ring buffer some hundred at a time, and only while tracing is on.
 * ftrace calls bts_sync() where that is too late, or has to change:
 *
 *	all CPUs	reason			what is done
 *	  yes		READ, SWAP		drain all CPUs
 *	  yes, or one	CLEAR			number its branches anew, and the same
 *	  yes		POLL			the same, and again while the file is open
 *						if the hardware wraps
 *	  yes		TARGETS			all CPUs ask anew what to record
 *	  yes		ON, OFF			the instance starts, or stops
 *	  no		OFF, SWAP, MARKER	drain this CPU
 *	  no		EVENT, TRIGGER		the same, if the event is to stand after
 *						the branches that led to it
 *	  no		ON			this CPU starts, the others follow
 *	  all instances	CRASH			drain all CPUs, and record no more
 *
 * Concurrency:
 *
 *	- What is for one CPU runs in any context, with what its caller holds: the
 *	  runqueue's lock, for instance. It takes none. An event during a drain
 *	  does not drain again: see ds_bts_off().
 *	- bts_instance.tracing is written under trace_types_lock, but by
 *	  bts_start_here() and bts_crash(), in any context.
 *	- bts_instance.polled is set by readers, which keep the tracer chosen, and
 *	  cleared by the worker, under trace_types_lock.
 */

#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "trace_bts.h"

/* How often the CPUs are drained for a reader that waits, in a flight recorder. */
#define BTS_POLL_AGAIN	(HZ / 10)

/* Context: any. */
static void bts_drain_cpu(void)
{
	struct ds_job job = { DS_DRAIN_FLUSH };
	unsigned long flags;

	raw_local_irq_save(flags);
	ds_run(&job);
	raw_local_irq_restore(flags);
}

/* Context: preemption off. */
static __always_inline bool bts_wants_event(struct bts_instance *b, bool may_end)
{
	if (!READ_ONCE(b->tracing) || !tracer_tracing_is_on(b->tr))
		return false;
	return may_end || (READ_ONCE(b->flags->val) & BTS_OPT_SYNC);
}

/*
 * An event of another kind is about to be reserved. With bts-sync it is to stand after
 * the branches of this CPU that came before it, and always if a trigger that runs once
 * it is reserved may end the trace.
 * Context: any.
 */
static void bts_sync_event(struct bts_instance *b, bool may_end)
{
	guard(preempt_notrace)();
	if (bts_wants_event(b, may_end))
		bts_drain_cpu();
}

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

static void bts_poll_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(bts_poll_work, bts_poll_again);

/* Context: process context. */
static void bts_poll_again(struct work_struct *work)
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
	schedule_delayed_work(&bts_poll_work, BTS_POLL_AGAIN);
}

/*
 * A reader finds nothing, and does not sleep in read(). It may have epoll wake it up,
 * which asks the file only once. In a flight recorder no interrupt brings the branches:
 * the CPUs are drained ten times a second from now on, until no reader has the file open.
 * Context: process context; the reader has its file open, so that bts stays chosen.
 */
static void bts_sync_poll(struct bts_instance *b)
{
	ds_bts_flush_all();
	if (!(READ_ONCE(b->flags->val) & BTS_OPT_CIRCULAR))
		return;
	WRITE_ONCE(b->polled, true);
	schedule_delayed_work(&bts_poll_work, BTS_POLL_AGAIN);
}

/* The other CPUs, after bts_sync_on(). Context: process context. */
static void bts_start_all(struct work_struct *work)
{
	guard(mutex)(&trace_types_lock);

	if (!list_empty(&bts_instances))
		ds_bts_update_all(DS_DRAIN_FLUSH);
}

static DECLARE_WORK(bts_start_work, bts_start_all);

/* Context: as bts_start_here(), BTS off. */
static noinline void bts_start_current(void)
{
	ds_bts_drain(DS_DRAIN_FLUSH);
	ds_bts_ask(current);
	schedule_work(&bts_start_work);
}

/*
 * Context: hard interrupt, as soon as interrupts are on: not during a task switch, then,
 * so that current is the task that the CPU's records belong to.
 */
static __ds_text void bts_start_here(struct irq_work *work)
{
	if (ds_bts_off()) {
		bts_start_current();
		ds_bts_on();
	}
}

static DEFINE_PER_CPU(struct irq_work, bts_start_irq) =
	IRQ_WORK_INIT_HARD(bts_start_here);

/*
 * A trigger, a function probe or tracing_on(). What follows on this CPU is what
 * is wanted: the task that runs here goes first, the other CPUs a moment later.
 * After a traceoff the hardware is on, but mappings may be missing.
 * Context: any; the tracer may be left meanwhile, and then @tracing does not matter.
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
 * bts_stop - record no more for an instance, which has bts and keeps it or leaves it
 * @b: the instance, whose ring buffer still is on: what is drained now goes into it
 *
 * Context: Process context, trace_types_lock held.
 */
void bts_stop(struct bts_instance *b)
{
	WRITE_ONCE(b->tracing, false);
	ds_bts_update_all(DS_DRAIN_STOP);
	/* What is held comes to its end now, one way or the other. */
	ds_bts_flush_all();
	/* What turns tracing on again may be in no state to do this. */
	bts_map_forget(b);
}

/*
 * An oops or a panic: what the CPUs have recorded goes into the ring buffers, which then
 * go off. The list is all that is looked at: no instance without bts, and no lock. An
 * instance that leaves meanwhile is freed a grace period later.
 * Context: any.
 */
static void bts_crash(void)
{
	struct bts_instance *b;
	unsigned long flags;
	bool tracing = false;

	/* RCU's read lock; a crash where RCU does not watch needs no warning of it. */
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

/* There is room for what is held. Context: as bts_sync_all(). */
static void bts_sync_clear(struct bts_instance *b, int cleared)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (cleared == RING_BUFFER_ALL_CPUS || cleared == cpu)
			WRITE_ONCE(per_cpu_ptr(b->cpu, cpu)->cleared, true);
	}
	ds_bts_flush_all();
}

/* Context: process context; bts is chosen and stays so. */
static void bts_sync_all(struct bts_instance *b, enum tracer_sync_reason why)
{
	switch (why) {
	case TRACER_SYNC_POLL:
		bts_sync_poll(b);
		break;
	case TRACER_SYNC_TARGETS:
		ds_bts_update_all(DS_DRAIN_FLUSH);
		bts_look_again();
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
	case TRACER_SYNC_TRIGGER:
		bts_sync_event(b, why == TRACER_SYNC_TRIGGER);
		break;
	case TRACER_SYNC_ON:
		bts_sync_on(b);
		break;
	default:
		bts_drain_cpu();
	}
}

/**
 * bts_sync - the sync() of the tracer
 * @tr:		the trace array, which has bts, or has just left it; NULL in a crash
 * @cpu:	RING_BUFFER_ALL_CPUS, or this CPU; the one that was cleared
 * @why:	the reason
 *
 * Context: see @sync of struct tracer.
 */
void bts_sync(struct trace_array *tr, int cpu, enum tracer_sync_reason why)
{
	if (why == TRACER_SYNC_CRASH)
		bts_crash();
	else if (why == TRACER_SYNC_CLEAR)
		bts_sync_clear(tr->bts, cpu);
	else if (cpu == RING_BUFFER_ALL_CPUS)
		bts_sync_all(tr->bts, why);
	else
		bts_sync_here(tr->bts, why);
}
