/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all files of the tool share: exit statuses, messages, the commands' names.
 */
#ifndef BTS_H
#define BTS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* The trace, where no other is named. */
#define BTS_TRACE		"trace.dat"

/*
 * Exit statuses. A command is int cmd_NAME(int argc, char **argv) in src/cmd_NAME.c, and
 * returns one of them; argv[0] is its name. bts.c has the one table of them.
 */
enum {
	BTS_OK		= 0,
	BTS_FAILURE	= 1,
	BTS_MISUSE	= 2,
};

/*
 * bts: WHAT: OBJECT: REASON on standard error. WHAT is what was to be done ("read",
 * "start the tracer"), OBJECT what it was done to (a file, a PID), either may be NULL.
 * Both return BTS_FAILURE.
 */
int bts_error(const char *what, const char *object, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));
/* The same; the reason is errno's. */
int bts_errno(const char *what, const char *object);

/* The commands. */
int cmd_check(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_cover(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_tui(int argc, char **argv);
int cmd_archive(int argc, char **argv);

/* A remark on standard error, "bts: ..."; no failure. */
void bts_warn(const char *remark, ...) __attribute__((format(printf, 1, 2)));

/*
 * bts COMMAND: REASON, and where help is, on standard error. Returns BTS_MISUSE.
 * COMMAND may be NULL.
 */
int bts_misuse(const char *command, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));

/* A whole number of at least @least, or bts_misuse(). */
int bts_number(const char *command, const char *option, const char *text, unsigned long least,
	       unsigned long *number);

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
char *bts_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
