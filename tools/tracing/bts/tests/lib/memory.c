// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory TRACE: read a trace many times while memory allocations fail
 *
 * For various N, read the trace twice: first only allocation N fails, then allocation N and all
 * later allocations fail. Each time, the library must return a failure, and must be able to close
 * the trace. To build the program, link it with --wrap=NAME for each function __wrap_NAME below.
 */
#include <errno.h>
#include <libbts.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_ulong requests;
static unsigned long fails_at;
static bool fails_on;
static atomic_bool failed;

/* The linker defines these names. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_reallocarray(void *ptr, size_t nr, size_t size);
char *__real_strdup(const char *string);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_reallocarray(void *ptr, size_t nr, size_t size);
char *__wrap_strdup(const char *string);
int __wrap_vasprintf(char **string, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
int __real_vasprintf(char **string, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static bool none(void)
{
	unsigned long request = atomic_fetch_add(&requests, 1) + 1;

	if (request != fails_at && !(fails_on && request > fails_at))
		return false;
	atomic_store(&failed, true);
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return none() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return none() ? NULL : __real_calloc(nr, size);
}

void *__wrap_reallocarray(void *ptr, size_t nr, size_t size)
{
	return none() ? NULL : __real_reallocarray(ptr, nr, size);
}

char *__wrap_strdup(const char *string)
{
	return none() ? NULL : __real_strdup(string);
}

int __wrap_vasprintf(char **string, const char *format, va_list args)
{
	return none() ? -1 : __real_vasprintf(string, format, args);
}

static int branch(void *ctx, const struct bts_task *task, struct bts_branch *b)
{
	const char *file;
	unsigned int line;

	(void)task;
	if (!b->user)
		bts_line(ctx, &b->from, &file, &line);
	b->user = ctx;
	return 0;
}

static int frame(void *ctx, const struct bts_task *task, struct bts_frame *frame)
{
	(void)ctx;
	(void)task;
	(void)frame;
	return 0;
}

static int row(void *ctx, const struct bts_task *task, const struct bts_row *row)
{
	(void)ctx;
	(void)task;
	return !row->text;
}

/* Return: true if the library returned -ENOMEM exactly when an allocation failed. */
static bool try(const char *path, unsigned long at, bool on)
{
	struct bts_trace *trace;
	bool good;
	int ret;

	atomic_store(&requests, 0);
	atomic_store(&failed, false);
	fails_at = at;
	fails_on = on;
	ret = bts_open(&trace, path);
	if (!ret) {
		bts_on_branch(trace, branch);
		bts_on_row(trace, row);
		bts_on_call(trace, frame);
		ret = bts_run(trace, trace);
	}
	good = ret == (atomic_load(&failed) ? -ENOMEM : 0) && !ret == !bts_error(trace);
	if (ret && trace)
		good = good && bts_run(trace, trace) == -ENOMEM && !bts_bill(trace, false) &&
		       bts_set(trace, "pid", "1") == -ENOMEM;
	bts_close(trace);
	return good;
}

int main(int argc, char **argv)
{
	unsigned long at, tries = 0;

	if (argc != 2)
		return 2;
	for (at = 1; !tries || atomic_load(&failed); at += 1 + at / 16) {
		for (int on = 0; on < 2; on++) {
			if (!try(argv[1], at, on)) {
				printf("wrong: request %lu%s\n", at, on ? " and all later" : "");
				return 1;
			}
			tries++;
		}
	}
	return printf("%lu tries, %lu requests\n", tries, atomic_load(&requests)) < 0;
}
