// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of trace_bts.c and trace_bts_filter.c */

#include <kunit/test.h>

#include "trace_bts.h"

/* Both ends in user space, both in the kernel, and the two ways between them. */
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

/* Every error of a claim has its words. */
static void bts_test_errors(struct kunit *test)
{
	int i;

	for (i = 0; i < BTS_ERRS; i++)
		KUNIT_EXPECT_NOT_NULL(test, bts_errs[i]);
	KUNIT_EXPECT_EQ(test, bts_err_of(-EBUSY), BTS_ERR_BUSY);
	KUNIT_EXPECT_EQ(test, bts_err_of(-ENOMEM), BTS_ERR_NO_MEMORY);
	KUNIT_EXPECT_EQ(test, bts_err_of_fault(DS_FAULT_NO_AREA), BTS_ERR_NO_DS_AREA);
	KUNIT_EXPECT_EQ(test, bts_err_of_fault(DS_FAULT_REFUSED), BTS_ERR_REFUSED);
	KUNIT_EXPECT_EQ(test, bts_err_of_fault(DS_FAULT_NO_RECORD), BTS_ERR_NO_RECORD);
	KUNIT_EXPECT_EQ(test, bts_err_of_fault(DS_FAULT_NO_INTERRUPT),
			BTS_ERR_NO_INTERRUPT);
	KUNIT_EXPECT_EQ(test, bts_err_of(-ENODEV), BTS_ERR_NO_BTS);
}

/* A trace array that has nothing but its part of each CPU. */
static struct trace_array *bts_test_array(struct kunit *test)
{
	struct trace_array *tr = kunit_kzalloc(test, sizeof(*tr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tr);
	tr->array_buffer.data = alloc_percpu(struct trace_array_cpu);
	KUNIT_ASSERT_TRUE(test, tr->array_buffer.data);
	return tr;
}

/* With no PID in either list, ftrace's verdict on the task that comes does not count. */
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

/* A CPU that is not in tracing_cpumask is off, whichever CPU asks. */
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

static struct kunit_case bts_test_cases[] = {
	KUNIT_CASE(bts_test_wanted),
	KUNIT_CASE(bts_test_errors),
	KUNIT_CASE(bts_test_targets),
	KUNIT_CASE(bts_test_off),
	{ }
};

static struct kunit_suite bts_test_suite = {
	.name		= "trace_bts",
	.test_cases	= bts_test_cases,
};

kunit_test_suite(bts_test_suite);
