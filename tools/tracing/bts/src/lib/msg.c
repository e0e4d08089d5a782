// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the tool's messages.
 *
 * All failures are reported as "bts: what: object: reason", so that scripts can parse the message,
 * and users see the affected file or PID. Before the tool exits, msg_flush() checks whether all
 * writes to standard output succeeded. A full disk is a failure, but a closed pipe is not.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"

int msg_error(const char *what, const char *object, const char *reason, ...)
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
	return STATUS_FAILURE;
}

int msg_errno(const char *what, const char *object)
{
	return msg_error(what, object, "%s", strerror(errno));
}

void msg_warn(const char *remark, ...)
{
	va_list args;

	fflush(stdout);
	fputs("bts: ", stderr);
	va_start(args, remark);
	vfprintf(stderr, remark, args);
	va_end(args);
	fputc('\n', stderr);
}

int msg_misuse(const char *command, const char *reason, ...)
{
	va_list args;

	/* Skip "bts ", because main() sets the argv[0] of a command to "bts NAME". */
	if (command && !strncmp(command, "bts ", 4))
		command += 4;
	fprintf(stderr, "bts%s%s: ", command ? " " : "", command ? command : "");
	va_start(args, reason);
	vfprintf(stderr, reason, args);
	va_end(args);
	fprintf(stderr, "; see bts%s%s -h\n", command ? " " : "", command ? command : "");
	return STATUS_MISUSE;
}

int msg_number(const char *command, const char *option, const char *text, unsigned long least,
	       unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least)
		return STATUS_OK;
	return msg_misuse(command, "%s %s: must be a whole number, at least %lu", option, text,
			  least);
}

int msg_usage(const char *text)
{
	fputs(text, stdout);
	return STATUS_OK;
}

int msg_flush(int status, int failure)
{
	int failed = ferror(stdout);

	if (!fflush(stdout) && !failed)
		return status;
	/* It is not a failure if the reader has closed the pipe. */
	if (errno == EPIPE)
		return status;
	msg_errno("write", "standard output");
	return failure;
}
