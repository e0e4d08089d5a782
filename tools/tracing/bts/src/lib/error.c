// SPDX-License-Identifier: GPL-2.0-only
/*
 * Store the first failure (see error.h).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "mem.h"

bool error_set(struct error *e, int code, const char *what, const char *object,
	       const char *reason, ...)
{
	va_list args;
	char *text;

	if (e->code)
		return false;
	e->code = code;
	va_start(args, reason);
	text = mem_vformat(reason, args);
	va_end(args);
	e->text = mem_format("%s: %s%s%s", what, object ? object : "", object ? ": " : "", text);
	free(text);
	return false;
}

bool error_errno(struct error *e, const char *what, const char *object)
{
	int code = errno;

	return error_set(e, code, what, object, "%s", strerror(code));
}

const char *error_text(const struct error *e)
{
	return e->text ? e->text : "out of memory";
}

void error_free(struct error *e)
{
	free(e->text);
	*e = (struct error) {};
}
