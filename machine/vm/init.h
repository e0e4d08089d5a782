/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for init.c and init_root.c. Nothing in init_root.c uses init.c.
 */
#ifndef BTS_INIT_H
#define BTS_INIT_H

/* The job's words of one type, without the type; word[nr] is NULL. */
struct words {
	char	**word;
	int	nr;
};

/* Mounts all file systems for the job, which is indexed by wire_type. */
void root_mount(const struct words *job);

#endif
