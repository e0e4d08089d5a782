/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Define the exit statuses, and print messages.
 *
 * Included by: any file.
 */
#ifndef BTS_MSG_H
#define BTS_MSG_H

/* The return values of commands, and the exit statuses of the program. */
enum {
	STATUS_OK	= 0,
	STATUS_FAILURE	= 1,
	STATUS_MISUSE	= 2,
};

/*
 * Print "bts: WHAT: OBJECT: REASON" on standard error. WHAT is the action that failed
 * ("read", "start the tracer"). OBJECT is a file or a PID. Both WHAT and OBJECT may be NULL. Return
 * STATUS_FAILURE.
 */
int msg_error(const char *what, const char *object, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));
/* Call msg_error() with errno's text as the reason. */
int msg_errno(const char *what, const char *object);

/* Print "bts:" and a remark on standard error. A remark is not a failure. */
void msg_warn(const char *remark, ...) __attribute__((format(printf, 1, 2)));

/*
 * Report misuse: print the reason and "see bts COMMAND -h" on standard error. The command may be
 * NULL. Return STATUS_MISUSE.
 */
int msg_misuse(const char *command, const char *reason, ...)
	__attribute__((format(printf, 2, 3)));

/* Parse the number in @text. Report misuse if the number is malformed or less than @least. */
int msg_number(const char *command, const char *option, const char *text, unsigned long least,
	       unsigned long *number);

/* Print usage on standard output. Return STATUS_OK. */
int msg_usage(const char *text);

/*
 * Flush standard output and return @status. If a write failed for a reason other than a closed
 * pipe, print a message and return @failure.
 */
int msg_flush(int status, int failure);

#endif
