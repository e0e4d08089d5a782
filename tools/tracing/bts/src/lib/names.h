/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep a set of PIDs, and the names of their tasks if known.
 *
 * Included by: any file.
 */
#ifndef BTS_NAMES_H
#define BTS_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { NAME_LENGTH = 16 };		/* TASK_COMM_LEN */

struct name {
	int		pid;			/* -1: a free slot */
	char		comm[NAME_LENGTH];	/* "" if unknown */
	uint64_t	ts;			/* a time when the task had this name, or 0 */
};

struct names {
	struct name	*slots;
	size_t		nr_slots;	/* a power of two, or 0 */
	size_t		nr;
};

/* Return @pid's entry, and add it if missing. The pointer is valid until the next names_get(). */
struct name *names_get(struct names *names, int pid);
/* Add all tasks of @more. If both sets have a name for a task, keep the newer name. */
void names_add_all(struct names *names, const struct names *more);
void names_free(struct names *names);

#endif
