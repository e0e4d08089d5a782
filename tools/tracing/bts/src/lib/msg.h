/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit statuses and messages.
 *
 * Included by: any file.
 */
#ifndef BTS_MSG_H
#define BTS_MSG_H

/* What a command returns, and the program's exit status. */
enum {
	STATUS_OK	= 0,
	STATUS_FAILURE	= 1,
	STATUS_MISUSE	= 2,
};

/*
 * Print "bts: WHAT: OBJECT: REASON" on standard error. WHAT is the action that failed
 * ("read", "start the tracer"), OBJECT is a file or a PID; either may be NULL. Returns
 * STATUS_FAILURE.
 */
int msg_error(const char *what, const char *object, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with errno's text as the reason. */
int msg_errno(const char *what, const char *object);

/* Print "bts: REMARK" on standard error. Nothing has failed. */
void msg_warn(const char *remark, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print "bts COMMAND: REASON" on standard error, and which command prints the help. COMMAND
 * may be NULL. Returns STATUS_MISUSE.
 */
int msg_misuse(const char *command, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));

/* Read a whole number of at least @least into @number, or report misuse. */
int msg_number(const char *command, const char *option, const char *text, unsigned long least,
	       unsigned long *number);

/* Print usage on standard output. Returns STATUS_OK. */
int msg_usage(const char *text);

/*
 * Flush standard output. Returns @status, or STATUS_FAILURE after a message if the output
 * could not be written.
 */
int msg_flush(int status);

#endif
