/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why something failed, for the caller to tell: the library prints nothing.
 *
 * Included by: any file.
 */
#ifndef BTS_ERROR_H
#define BTS_ERROR_H

#include <stdbool.h>

/**
 * struct error - the first failure
 * @code:	a number of errno's; 0 if nothing has failed
 * @text:	"what: object: reason"; NULL if there was no memory
 */
struct error {
	int	code;
	char	*text;
};

/*
 * Keep "WHAT: OBJECT: REASON" and the number. OBJECT may be NULL. A failure that is there
 * stays. Returns false.
 */
bool error_set(struct error *e, int code, const char *what, const char *object,
	       const char *reason, ...) __attribute__((format(printf, 5, 6)));
/* The same with errno and its text. */
bool error_errno(struct error *e, const char *what, const char *object);
/* The text, never NULL. */
const char *error_text(const struct error *e);
void error_free(struct error *e);

#endif
