/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory and strings. No function here returns NULL. If there is no memory, the innermost
 * mem_try() of the thread ends; without one, mem_on_failure() says what happens.
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
 * Call @run. Return false if there was no memory: @run has ended there, and what it had
 * allocated and not put anywhere is lost.
 */
bool mem_try(void (*run)(void *arg), void *arg);
/* There is no memory. */
__attribute__((noreturn)) void mem_fail(void);
/* What ends a program that is in no mem_try(). Called before threads begin. */
void mem_on_failure(void (*end)(void));

#endif
