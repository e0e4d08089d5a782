/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Create, use and remove the tool's own tracefs instance.
 *
 * Included by: record/, cmd/.
 */
#ifndef BTS_INSTANCE_H
#define BTS_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Mount tracefs if necessary and return its path, or print a message and return NULL. */
const char *instance_tracefs(void);

/* A tracefs instance. The functions below take file names relative to the instance's directory. */
struct instance {
	char	*name;
	char	*path;
	int	lock;		/* the descriptor of the lock (see instance.c) */
	struct instance *maps;	/* the instance for bts_map rows, with --flight (setup.c) */
};

/* Create instances/bts-PID, which undo.c removes. On failure, print a message and return NULL. */
struct instance *instance_create(void);
/*
 * Remove the instances @inst and @inst->maps, undo the tool's other changes in tracefs, and free
 * both structures. The caller must have closed all trace_pipe_raw files.
 */
void instance_remove(struct instance *inst);

/* Return the path of a file of the instance. The caller frees the path. */
char *instance_file(const struct instance *inst, const char *file)
	__attribute__((returns_nonnull));
/* These functions work like the functions in path.h. But a failed write prints a message. */
int instance_write(const struct instance *inst, const char *file, const char *text);
int instance_append(const struct instance *inst, const char *file, const char *text);
char *instance_read(const struct instance *inst, const char *file);
long long instance_read_number(const struct instance *inst, const char *file);
bool instance_has(const struct instance *inst, const char *file);

/* Return the latest error in error_log, or NULL. The caller frees the text. */
char *instance_error(const struct instance *inst);

#endif
