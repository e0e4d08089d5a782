/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of CPUs, "0-2,5".
 *
 * Included by: any file.
 */
#ifndef BTS_CPUS_H
#define BTS_CPUS_H

/* The kernel's own limit. */
#define CPUS_MAX	8192

/* Take the next range off a list. Return 1; 0 at the end; -1 if the list is malformed. */
int cpus_next(const char **list, long *from, long *to);

#endif
