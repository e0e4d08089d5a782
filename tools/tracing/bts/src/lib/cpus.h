/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse lists of CPUs such as "0-2,5".
 *
 * Included by: any file.
 */
#ifndef BTS_CPUS_H
#define BTS_CPUS_H

/* The largest NR_CPUS of an x86 kernel. */
#define CPUS_MAX	8192

/* Read the next range of *@list. Return 1 for a range, 0 at the end, or -1 on bad syntax. */
int cpus_next(const char **list, long *from, long *to);

#endif
