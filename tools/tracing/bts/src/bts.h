/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all files of the tool share: exit statuses, messages, the commands' names.
 */
#ifndef BTS_H
#define BTS_H

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses. A command returns one of them. */
enum {
	BTS_OK		= 0,
	BTS_FAILURE	= 1,
	BTS_MISUSE	= 2,
};

/*
 * A command, in src/cmd_NAME.c. argv[0] is its name. Which of them there are is in
 * bts.c, in the one table; a command that is not linked is not listed.
 */
typedef int (*bts_command_fn)(int argc, char **argv);

/*
 * bts: WHAT: OBJECT: REASON on standard error. WHAT is what was to be done ("read",
 * "start the tracer"), OBJECT what it was done to (a file, a PID), either may be NULL.
 * Both return BTS_FAILURE.
 */
int bts_error(const char *what, const char *object, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));
/* The same; the reason is errno's. */
int bts_errno(const char *what, const char *object);

/* A remark that ends nothing: bts: ... on standard error. */
void bts_warn(const char *remark, ...) __attribute__((format(printf, 1, 2)));

/*
 * bts COMMAND: REASON, and where help is, on standard error. Returns BTS_MISUSE.
 * COMMAND may be NULL.
 */
int bts_misuse(const char *command, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));

/* Usage on standard output. Returns BTS_OK, or BTS_FAILURE if it cannot be written. */
int bts_usage(const char *text);

/* All that was printed is out, or a failure is reported: disk full, closed pipe. */
int bts_flush(int status);

/* These never return NULL: out of memory ends the program with BTS_FAILURE. */
void *bts_alloc(size_t size);
void *bts_zalloc(size_t count, size_t size);
void *bts_realloc(void *ptr, size_t count, size_t size);
char *bts_strdup(const char *string);
char *bts_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
