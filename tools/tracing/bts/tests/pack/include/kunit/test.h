/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H

/*
 * As much of KUnit as kernel/trace/trace_bts_pack_kunit.c needs, for a program of a
 * host. It prints KTAP, a line for each case, and exits with 1 if one has failed.
 * A file is a suite.
 */

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/types.h>

#define U64_MAX		UINT64_MAX
#define S64_MAX		INT64_MAX
#define GFP_KERNEL	0

struct kunit {
	void	*priv;
	bool	failed;
	jmp_buf	end;
};

struct kunit_case {
	const char	*name;
	void		(*run)(struct kunit *test);
};

struct kunit_suite {
	const char		*name;
	int			(*init)(struct kunit *test);
	struct kunit_case	*test_cases;
};

#define kunit_kzalloc(test, size, gfp)	calloc(1, (size))

#define KUNIT_CASE(function)	{ #function, function }

/* The first failure ends a case: hundreds of the same say nothing more. */
#define KUNIT_CHECK(test, good, ...)						\
	do {									\
		if (!(good)) {							\
			printf("# %s:%d: expected %s: ", __FILE__, __LINE__, #good); \
			printf(__VA_ARGS__);					\
			printf("\n");						\
			(test)->failed = true;					\
			longjmp((test)->end, 1);				\
		}								\
	} while (0)

#define KUNIT_COMPARE(test, a, op, b)						\
	KUNIT_CHECK(test, (a) op (b), "%#llx, %#llx",				\
		    (unsigned long long)(a), (unsigned long long)(b))

#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_COMPARE(test, a, ==, b)
#define KUNIT_EXPECT_TRUE(test, a)	KUNIT_CHECK(test, a, "no")
#define KUNIT_EXPECT_FALSE(test, a)	KUNIT_CHECK(test, !(a), "no")
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)	KUNIT_CHECK(test, (a) == (b), __VA_ARGS__)
#define KUNIT_EXPECT_TRUE_MSG(test, a, ...)	KUNIT_CHECK(test, a, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ(test, a, b, size)	KUNIT_CHECK(test, !memcmp(a, b, size), "no")
#define KUNIT_ASSERT_EQ(test, a, b)	KUNIT_COMPARE(test, a, ==, b)
#define KUNIT_ASSERT_LE(test, a, b)	KUNIT_COMPARE(test, a, <=, b)
#define KUNIT_ASSERT_LT(test, a, b)	KUNIT_COMPARE(test, a, <, b)
#define KUNIT_ASSERT_GE(test, a, b)	KUNIT_COMPARE(test, a, >=, b)
#define KUNIT_ASSERT_GT(test, a, b)	KUNIT_COMPARE(test, a, >, b)
#define KUNIT_ASSERT_TRUE(test, a)	KUNIT_CHECK(test, a, "no")
#define KUNIT_ASSERT_FALSE(test, a)	KUNIT_CHECK(test, !(a), "no")
#define KUNIT_ASSERT_NOT_NULL(test, a)	KUNIT_CHECK(test, a, "NULL")

static inline bool kunit_run_case(struct kunit_suite *suite, struct kunit_case *test_case)
{
	struct kunit test = { 0 };

	if (!setjmp(test.end)) {
		if (suite->init(&test))
			return false;
		test_case->run(&test);
	}
	free(test.priv);
	return !test.failed;
}

#define kunit_test_suite(suite)							\
	int main(void)								\
	{									\
		struct kunit_case *test_case;					\
		unsigned int n = 0, failed = 0;					\
		bool good;							\
										\
		for (test_case = (suite).test_cases; test_case->name; test_case++) \
			n++;							\
		printf("KTAP version 1\n1..%u\n", n);				\
		n = 0;								\
		for (test_case = (suite).test_cases; test_case->name; test_case++) { \
			good = kunit_run_case(&(suite), test_case);		\
			failed += !good;					\
			printf("%s %u %s\n", good ? "ok" : "not ok", ++n, test_case->name); \
			fflush(stdout);						\
		}								\
		return failed ? 1 : 0;						\
	}

#endif /* _KUNIT_TEST_H */
