// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is there or ends the program: no caller could go on without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "msg.h"

static void *or_die(void *memory)
{
	if (memory)
		return memory;
	msg_error(NULL, NULL, "out of memory");
	exit(STATUS_FAILURE);
}

void *mem_alloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *mem_zalloc(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *mem_realloc(void *ptr, size_t count, size_t size)
{
	return or_die(reallocarray(ptr, count ? count : 1, size ? size : 1));
}

char *mem_strdup(const char *string)
{
	return or_die(strdup(string));
}

char *mem_vformat(const char *format, va_list args)
{
	char *string;

	return or_die(vasprintf(&string, format, args) < 0 ? NULL : string);
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
