// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the tool, and memory that is there or ends the program.
 *
 * Every failure has one form, "bts: what: object: reason", so that a script can take it
 * apart and a reader knows which file or PID it was. What is printed on standard output
 * is checked once, at the end: a full disk or a closed pipe is a failure like others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bts.h"

int bts_error(const char *what, const char *object, const char *reason, ...)
{
	va_list args;

	fflush(stdout);
	fputs("bts: ", stderr);
	if (what)
		fprintf(stderr, "%s: ", what);
	if (object)
		fprintf(stderr, "%s: ", object);
	va_start(args, reason);
	vfprintf(stderr, reason, args);
	va_end(args);
	fputc('\n', stderr);
	return BTS_FAILURE;
}

int bts_errno(const char *what, const char *object)
{
	return bts_error(what, object, "%s", strerror(errno));
}

void bts_warn(const char *remark, ...)
{
	va_list args;

	fflush(stdout);
	fputs("bts: ", stderr);
	va_start(args, remark);
	vfprintf(stderr, remark, args);
	va_end(args);
	fputc('\n', stderr);
}

int bts_misuse(const char *command, const char *reason, ...)
{
	va_list args;

	/* A command's argv[0] is "bts NAME". */
	if (command && !strncmp(command, "bts ", 4))
		command += 4;
	fprintf(stderr, "bts%s%s: ", command ? " " : "", command ? command : "");
	va_start(args, reason);
	vfprintf(stderr, reason, args);
	va_end(args);
	fprintf(stderr, "; see bts%s%s -h\n", command ? " " : "", command ? command : "");
	return BTS_MISUSE;
}

int bts_number(const char *command, const char *option, const char *text, unsigned long least,
	       unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least)
		return BTS_OK;
	return bts_misuse(command, "%s %s: not a whole number of at least %lu", option, text,
			  least);
}

int bts_usage(const char *text)
{
	fputs(text, stdout);
	return BTS_OK;
}

int bts_flush(int status)
{
	int failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return status;
	/* The reader of a pipe has seen enough: nothing to complain about. */
	if (errno == EPIPE)
		return status;
	return bts_errno("write", "standard output");
}

static void *or_die(void *memory)
{
	if (memory)
		return memory;
	bts_error(NULL, NULL, "out of memory");
	exit(BTS_FAILURE);
}

void *bts_alloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *bts_zalloc(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *bts_realloc(void *ptr, size_t count, size_t size)
{
	return or_die(reallocarray(ptr, count ? count : 1, size ? size : 1));
}

char *bts_strdup(const char *string)
{
	return or_die(strdup(string));
}

char *bts_vformat(const char *format, va_list args)
{
	char *string;

	return or_die(vasprintf(&string, format, args) < 0 ? NULL : string);
}

char *bts_format(const char *format, ...)
{
	char *string;
	va_list args;

	va_start(args, format);
	string = bts_vformat(format, args);
	va_end(args);
	return string;
}
