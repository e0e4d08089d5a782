/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory and strings. No function here returns NULL: if there is no memory, the program
 * ends with a message.
 *
 * Included by: any file.
 */
#ifndef BTS_MEM_H
#define BTS_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

void *mem_alloc(size_t size);
void *mem_zalloc(size_t count, size_t size);
void *mem_realloc(void *ptr, size_t count, size_t size);
char *mem_strdup(const char *string);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
