/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H

/*
 * With this part of KUnit, the files kernel/trace/bts/*pack_kunit.c can run as a program on the
 * host. The program prints KTAP, with a line for each test case, and exits with 1 if a test case
 * has failed. Each file is a test suite.
 */

#include <setjmp.h>
#include <stdarg.h>
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

static inline void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	(void)test;
	(void)gfp;
	return calloc(1, size);
}

/* The first failure ends a test case, because hundreds of identical failures add no information. */
static inline void __attribute__((noreturn, format(printf, 2, 3)))
kunit_fail(struct kunit *test, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	test->failed = true;
	longjmp(test->end, 1);
}

static inline void kunit_check(struct kunit *test, bool good, const char *file, int line,
			       const char *what)
{
	if (!good)
		kunit_fail(test, "%s:%d: expected: %s", file, line, what);
}

/* Check that the comparison "@a @op @b" is true. */
static inline void kunit_compare(struct kunit *test, unsigned long long a, const char *op,
				 unsigned long long b, const char *file, int line,
				 const char *first, const char *second)
{
	bool good = op[0] == '=' ? a == b :
		    op[0] == '<' ? (op[1] ? a <= b : a < b) : (op[1] ? a >= b : a > b);

	if (!good)
		kunit_fail(test, "%s:%d: expected: %s %s %s; they are %#llx and %#llx", file,
			   line, first, op, second, a, b);
}

#define KUNIT_CASE(function)	{ #function, function }

#define KUNIT_CHECK(test, good) \
	kunit_check(test, good, __FILE__, __LINE__, #good)
#define KUNIT_COMPARE(test, a, op, b) \
	kunit_compare(test, a, op, b, __FILE__, __LINE__, #a, #b)

/* Do not print the message of a check, because the line number identifies the check. */
#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_COMPARE(test, a, "==", b)
#define KUNIT_EXPECT_TRUE(test, a)	KUNIT_CHECK(test, a)
#define KUNIT_EXPECT_FALSE(test, a)	KUNIT_CHECK(test, !(a))
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)	KUNIT_COMPARE(test, a, "==", b)
#define KUNIT_EXPECT_TRUE_MSG(test, a, ...)	KUNIT_CHECK(test, a)
#define KUNIT_EXPECT_MEMEQ(test, a, b, size)	KUNIT_CHECK(test, !memcmp(a, b, size))
#define KUNIT_ASSERT_EQ(test, a, b)	KUNIT_COMPARE(test, a, "==", b)
#define KUNIT_ASSERT_LE(test, a, b)	KUNIT_COMPARE(test, a, "<=", b)
#define KUNIT_ASSERT_LT(test, a, b)	KUNIT_COMPARE(test, a, "<", b)
#define KUNIT_ASSERT_GE(test, a, b)	KUNIT_COMPARE(test, a, ">=", b)
#define KUNIT_ASSERT_GT(test, a, b)	KUNIT_COMPARE(test, a, ">", b)
#define KUNIT_ASSERT_TRUE(test, a)	KUNIT_CHECK(test, a)
#define KUNIT_ASSERT_FALSE(test, a)	KUNIT_CHECK(test, !(a))
#define KUNIT_ASSERT_NOT_NULL(test, a)	KUNIT_CHECK(test, a)

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

static inline int kunit_run_suite(struct kunit_suite *suite)
{
	struct kunit_case *test_case = suite->test_cases;
	unsigned int n = 0, failed = 0;
	bool good;

	while (test_case[n].name)
		n++;
	printf("KTAP version 1\n1..%u\n", n);
	for (n = 0; test_case[n].name; n++) {
		good = kunit_run_case(suite, &test_case[n]);
		failed += !good;
		printf("%s %u %s\n", good ? "ok" : "not ok", n + 1, test_case[n].name);
		fflush(stdout);
	}
	return failed ? 1 : 0;
}

#define kunit_test_suite(suite) \
	int main(void) { exit(kunit_run_suite(&(suite))); }

#endif /* _KUNIT_TEST_H */
