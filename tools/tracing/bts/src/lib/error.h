/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Store the library's first failure for the caller, because the library prints nothing.
 *
 * Included by: any file.
 */
#ifndef BTS_ERROR_H
#define BTS_ERROR_H

#include <stdbool.h>

/**
 * struct error - the first failure
 * @code:	an errno value, or 0 if nothing has failed
 * @text:	"what: object: reason", or NULL if memory ran out
 */
struct error {
	int	code;
	char	*text;
};

/* Store a failure in @e, if @e is empty. The argument @object may be NULL. Return false. */
bool error_set(struct error *e, int code, const char *what, const char *object,
	       const char *reason, ...) __attribute__((format(printf, 5, 6)));
/* Call error_set() with errno as the code and errno's text as the reason. */
bool error_errno(struct error *e, const char *what, const char *object);
/* Return @e->text or, if this is NULL, "out of memory". */
const char *error_text(const struct error *e);
void error_free(struct error *e);

#endif
