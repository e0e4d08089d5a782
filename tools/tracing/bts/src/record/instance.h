/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instance of our own in tracefs, which goes when we do, and its files.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_INSTANCE_H
#define BTS_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Where tracefs is mounted; it is mounted if that was not so. NULL after a message. */
const char *instance_tracefs(void);

/* An instance. Files are named relative to it. */
struct instance {
	char	*name;
	char	*path;
	int	lock;		/* says that it is in use */
};

/* Makes instances/bts-PID, and has it removed on each way out. NULL after a message. */
struct instance *instance_create(void);
/* Removes it now, and puts back all else. Its trace_pipe_raw are closed. */
void instance_remove(struct instance *inst);

/* PATH of a file of an instance, to be freed. */
char *instance_file(const struct instance *inst, const char *file)
	__attribute__((returns_nonnull));
/* As path_read() and so on. instance_write() and _append() say what went wrong. */
int instance_write(const struct instance *inst, const char *file, const char *text);
int instance_append(const struct instance *inst, const char *file, const char *text);
char *instance_read(const struct instance *inst, const char *file);
long long instance_read_number(const struct instance *inst, const char *file);
bool instance_has(const struct instance *inst, const char *file);

/* The last words of error_log on COMMAND, or NULL. To be freed. */
char *instance_error(const struct instance *inst);

#endif
