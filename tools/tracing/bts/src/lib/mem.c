// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocate memory. If memory runs out, return to the innermost mem_try().
 *
 *	mem_try(run) -> run() -> ... mem_alloc()
 *	     ^-------------------------'	no memory: mem_try() returns false
 *
 * If memory runs out, the tool prints a message and exits. The library must not exit, so each of
 * its entry points uses mem_try(). After a failed allocation, a longjmp() to mem_try() skips the
 * functions that called mem_alloc(). Therefore, these functions must not hold a lock while they
 * allocate memory. They must also finish allocating before they change a pointer that is used after
 * the longjmp().
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct attempt {
	jmp_buf		end;
	struct attempt	*outer;
};

static _Thread_local struct attempt *innermost;
static void (*failure)(void);

bool mem_try(void (*run)(void *arg), void *arg)
{
	struct attempt attempt = { .outer = innermost };

	if (setjmp(attempt.end)) {
		innermost = innermost->outer;
		return false;
	}
	innermost = &attempt;
	run(arg);
	innermost = attempt.outer;
	return true;
}

void mem_fail(void)
{
	if (innermost)
		longjmp(innermost->end, 1);
	if (failure)
		failure();
	__builtin_trap();
}

void mem_on_failure(void (*end)(void))
{
	failure = end;
}

static void *or_fail(void *memory)
{
	if (!memory)
		mem_fail();
	return memory;
}

void *mem_alloc(size_t size)
{
	return or_fail(malloc(size ? size : 1));
}

void *mem_zalloc(size_t count, size_t size)
{
	return or_fail(calloc(count ? count : 1, size ? size : 1));
}

void *mem_realloc(void *ptr, size_t count, size_t size)
{
	return or_fail(reallocarray(ptr, count ? count : 1, size ? size : 1));
}

char *mem_strdup(const char *string)
{
	return or_fail(strdup(string));
}

char *mem_vformat(const char *format, va_list args)
{
	char *string;

	return or_fail(vasprintf(&string, format, args) < 0 ? NULL : string);
}

char *mem_format(const char *format, ...)
{
	char *string;
	va_list args;

	va_start(args, format);
	string = mem_vformat(format, args);
	va_end(args);
	return string;
}
