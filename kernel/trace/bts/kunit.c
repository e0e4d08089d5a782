// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of bts.c, filter.c, output.c, and of the tracer's functions in ring_buffer.c */

#include <kunit/test.h>
#include <linux/ring_buffer.h>

#include <asm/sections.h>

#include "bts.h"

/* Check which modes want branches in user space, in the kernel, and between the two. */
static void bts_test_wanted(struct kunit *test)
{
	static const struct ds_bts_record user = { 0x401000, 0x7fffffffffff };
	static const struct ds_bts_record enter = { 0x401000, 0xffffffff81000000 };
	static const struct ds_bts_record leave = { 0xffff800000000000, 0x401000 };
	static const struct ds_bts_record kernel = { ~0UL, 0xffff800000000000 };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		unsigned int more = (i & 1 ? DS_BTS_CPL_FILTER : 0) |
				    (i & 2 ? DS_BTS_CIRCULAR : 0);

		KUNIT_EXPECT_FALSE(test, bts_wanted(more, &user));
		KUNIT_EXPECT_FALSE(test, bts_wanted(more, &enter));
		KUNIT_EXPECT_FALSE(test, bts_wanted(more, &leave));
		KUNIT_EXPECT_FALSE(test, bts_wanted(more, &kernel));

		KUNIT_EXPECT_TRUE(test, bts_wanted(more | DS_BTS_USER, &user));
		KUNIT_EXPECT_TRUE(test, bts_wanted(more | DS_BTS_USER, &enter));
		KUNIT_EXPECT_TRUE(test, bts_wanted(more | DS_BTS_USER, &leave));
		KUNIT_EXPECT_FALSE(test, bts_wanted(more | DS_BTS_USER, &kernel));

		KUNIT_EXPECT_FALSE(test, bts_wanted(more | DS_BTS_KERNEL, &user));
		KUNIT_EXPECT_TRUE(test, bts_wanted(more | DS_BTS_KERNEL, &enter));
		KUNIT_EXPECT_TRUE(test, bts_wanted(more | DS_BTS_KERNEL, &leave));
		KUNIT_EXPECT_TRUE(test, bts_wanted(more | DS_BTS_KERNEL, &kernel));
	}
}

/* Every error has a message. */
static void bts_test_errors(struct kunit *test)
{
	int i;

	for (i = DS_FAULT_NONE + 1; i < BTS_ERRS; i++)
		KUNIT_EXPECT_NOT_NULL(test, bts_errs[i]);
	KUNIT_EXPECT_EQ(test, bts_err_of(-EBUSY), BTS_ERR_BUSY);
	KUNIT_EXPECT_EQ(test, bts_err_of(-ENOMEM), BTS_ERR_NO_MEMORY);
	KUNIT_EXPECT_EQ(test, bts_err_of(-ENODEV), BTS_ERR_NO_BTS);
}

/* Return a trace array in which only the per-CPU data is allocated. */
static struct trace_array *bts_test_array(struct kunit *test)
{
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	tr->array_buffer.data = alloc_percpu(struct trace_array_cpu);
	KUNIT_ASSERT_TRUE(test, tr->array_buffer.data);
	return tr;
}

/* Without PID lists, all tasks are targets, even if ftrace has stored FTRACE_PID_IGNORE. */
static void bts_test_targets(struct kunit *test)
{
	struct trace_array *tr = bts_test_array(test);
	struct trace_pid_list *pids = trace_pid_list_alloc();
	bool other, self, not_listed;

	KUNIT_ASSERT_NOT_NULL(test, pids);
	preempt_disable();
	this_cpu_write(tr->array_buffer.data->ftrace_ignore_pid, FTRACE_PID_IGNORE);
	other = bts_is_target(tr, &init_task);
	self = bts_is_target(tr, current);
	rcu_assign_pointer(tr->function_pids, pids);
	not_listed = bts_is_target(tr, &init_task);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, other);
	KUNIT_EXPECT_TRUE(test, self);
	KUNIT_EXPECT_FALSE(test, not_listed);

	trace_pid_list_free(pids);
	free_percpu(tr->array_buffer.data);
}

/* If one CPU is missing in tracing_cpumask, the ring buffer is off for this CPU only. */
static void bts_test_off(struct kunit *test)
{
	struct trace_array *tr = bts_test_array(test);
	int cpu, other;

	KUNIT_ASSERT_TRUE(test, alloc_cpumask_var(&tr->tracing_cpumask, GFP_KERNEL));
	cpumask_setall(tr->tracing_cpumask);
	for_each_possible_cpu(cpu) {
		cpumask_clear_cpu(cpu, tr->tracing_cpumask);
		for_each_possible_cpu(other)
			KUNIT_EXPECT_EQ(test, bts_is_off(tr, other), other == cpu);
		cpumask_set_cpu(cpu, tr->tracing_cpumask);
	}
	free_cpumask_var(tr->tracing_cpumask);
	free_percpu(tr->array_buffer.data);
}

/*
 * Write @nr events, which contain the numbers @first, @first + 1 and so on. Reserve @want events
 * at a time. Return: the number of events that were written.
 */
static u32 bts_test_write(struct trace_buffer *buffer, u32 first, u32 nr, u32 want,
			  unsigned int size)
{
	const unsigned int stride = ring_buffer_event_stride(size);
	struct ring_buffer_event *event;
	unsigned int some, i;
	u32 done = 0;
	u32 *data;

	while (done < nr) {
		some = min(want, nr - done);
		event = ring_buffer_lock_reserve_events(buffer, size, &some);
		if (!event)
			break;
		data = ring_buffer_event_data(event);
		for (i = 0; i < some; i++, data = (void *)data + stride)
			*data = ~(first + done++);
		ring_buffer_unlock_commit(buffer);
	}
	return done;
}

/*
 * Read the numbers back. Each number must be present, and its time must not be before the time
 * of the previous number.
 */
static u32 bts_test_read(struct kunit *test, struct trace_buffer *buffer, u32 first,
			 unsigned int size)
{
	struct ring_buffer_event *event;
	u64 ts, last = 0;
	u32 nr = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		while ((event = ring_buffer_consume(buffer, cpu, &ts, NULL))) {
			KUNIT_ASSERT_EQ(test, ~*(u32 *)ring_buffer_event_data(event), first + nr);
			KUNIT_ASSERT_GE(test, ring_buffer_event_length(event), size);
			KUNIT_ASSERT_LE(test, ring_buffer_event_length(event), size + 3);
			KUNIT_ASSERT_GE(test, ts, last);
			KUNIT_ASSERT_LE(test, ts, ring_buffer_time_stamp(buffer));
			last = ts;
			nr++;
		}
	}
	return nr;
}

static const unsigned int bts_test_sizes[] = { 4, 24, 36, 112, 116, 1000 };

#define BTS_TEST_PAGES	4

/* Return how many events fit into a ring buffer if each reservation is for @want events. */
static u32 bts_test_room(struct kunit *test, unsigned int size, u32 want)
{
	struct trace_buffer *buffer = ring_buffer_alloc(BTS_TEST_PAGES * PAGE_SIZE, 0);
	u32 nr;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	migrate_disable();
	nr = bts_test_write(buffer, 0, U32_MAX, want, size);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), nr);
	KUNIT_EXPECT_EQ(test, bts_test_read(test, buffer, 0, size), nr);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 0);
	migrate_enable();
	ring_buffer_free(buffer);
	return nr;
}

/* If events are reserved together, the ring buffer has room for at most 2% fewer events. */
static void bts_test_reserve(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bts_test_sizes); i++) {
		unsigned int size = bts_test_sizes[i];
		u32 nr = bts_test_room(test, size, 1);

		KUNIT_EXPECT_GE(test, nr, BTS_TEST_PAGES);
		KUNIT_EXPECT_GE(test, bts_test_room(test, size, 3), nr - nr / 50);
		KUNIT_EXPECT_GE(test, bts_test_room(test, size, U32_MAX), nr - nr / 50);
	}
}

/*
 * The ring buffer counts each overwritten event. The count is right even if the sub-buffers still
 * contain events of another size, which an earlier iteration of the loop has written.
 */
static void bts_test_overrun(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(BTS_TEST_PAGES * PAGE_SIZE,
							RB_FL_OVERWRITE);
	const u32 nr = 10000;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	migrate_disable();
	for (i = 0; i < ARRAY_SIZE(bts_test_sizes); i++) {
		unsigned int size = bts_test_sizes[i];
		u32 gone;

		KUNIT_EXPECT_EQ(test, bts_test_write(buffer, 0, nr, 256, size), nr);
		gone = ring_buffer_overruns(buffer);
		KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), nr - gone);
		KUNIT_EXPECT_EQ(test, bts_test_read(test, buffer, gone, size), nr - gone);
		ring_buffer_reset(buffer);
	}
	migrate_enable();
	ring_buffer_free(buffer);
}

/* After a loss and a single branch, the ring buffer must contain exactly two entries. */
static void bts_test_last(struct kunit *test)
{
	static const struct ds_bts_record rec = { 0x401000, 0x402000 };
	struct trace_buffer *buffer = ring_buffer_alloc(BTS_TEST_PAGES * PAGE_SIZE, 0);
	struct bts_cpu *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	c->write.buffer = buffer;
	c->hold.oldest = BTS_NONE_HELD;
	migrate_disable();
	bts_lose(c, BTS_LOST_RING_BUFFER, 5, 1);
	bts_deliver(NULL, c, &rec, 1);
	KUNIT_EXPECT_EQ(test, ring_buffer_entries(buffer), 2);
	migrate_enable();
	ring_buffer_free(buffer);
}

/* In a trace from another boot, only addresses in kernel text are adjusted to this boot. */
static void bts_test_text(struct kunit *test)
{
	const unsigned long here = (unsigned long)_stext + 0x100;
	const long delta = 0x1e000000;
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	KUNIT_EXPECT_EQ(test, bts_text_here(tr, here), here);
	tr->text_delta = delta;
	KUNIT_EXPECT_EQ(test, bts_text_here(tr, here - delta), here);
	KUNIT_EXPECT_EQ(test, bts_text_here(tr, MODULES_VADDR), MODULES_VADDR);
	tr->text_delta = -delta;
	KUNIT_EXPECT_EQ(test, bts_text_here(tr, here + delta), here);
}

/* During a drain, __bts_resume_user() does nothing, so its caller must release mmap_lock. */
static __ds_text unsigned long bts_test_resume_busy(bool locked)
{
	unsigned long ret = 0;

	if (ds_bts_pause()) {
		ret = __bts_resume_user(PAGE_SIZE, locked);
		ds_bts_resume();
	}
	return ret;
}

static void bts_test_resume(struct kunit *test)
{
	unsigned long free, locked, flags;

	local_irq_save(flags);
	free = bts_test_resume_busy(false);
	locked = bts_test_resume_busy(true);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, free, BTS_MAPS_NONE);
	KUNIT_EXPECT_EQ(test, locked, BTS_MAPS_BUSY);
}

static struct kunit_case bts_test_cases[] = {
	KUNIT_CASE(bts_test_wanted),
	KUNIT_CASE(bts_test_errors),
	KUNIT_CASE(bts_test_targets),
	KUNIT_CASE(bts_test_off),
	KUNIT_CASE(bts_test_reserve),
	KUNIT_CASE(bts_test_overrun),
	KUNIT_CASE(bts_test_last),
	KUNIT_CASE(bts_test_text),
	KUNIT_CASE(bts_test_resume),
	{ }
};

static struct kunit_suite bts_test_suite = {
	.name		= "trace_bts",
	.test_cases	= bts_test_cases,
};

kunit_test_suite(bts_test_suite);
