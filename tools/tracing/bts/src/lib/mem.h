/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocate memory and strings. These functions never return NULL. If memory runs out, the thread's
 * innermost mem_try() returns false. Outside mem_try(), a failed allocation calls the function that
 * mem_on_failure() has set.
 *
 * Included by: any file.
 */
#ifndef BTS_MEM_H
#define BTS_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

void *mem_alloc(size_t size);
void *mem_zalloc(size_t count, size_t size);
void *mem_realloc(void *ptr, size_t count, size_t size);
char *mem_strdup(const char *string);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/*
 * Call @run and return true. If memory runs out, jump out of @run and return false. The jump leaks
 * the memory that only local variables of @run point to.
 */
bool mem_try(void (*run)(void *arg), void *arg);
/* Fail as if there were no memory for an allocation. */
__attribute__((noreturn)) void mem_fail(void);
/*
 * Set the function that is called if an allocation outside mem_try() fails. Call mem_on_failure()
 * before any thread starts.
 */
void mem_on_failure(void (*end)(void));

#endif
