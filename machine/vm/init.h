/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for init.c and init_root.c. The file init_root.c does not use init.c.
 */
#ifndef BTS_INIT_H
#define BTS_INIT_H

/* The words of one type in the job, without the byte that shows their type. word[nr] is NULL. */
struct words {
	char	**word;
	int	nr;
};

/* Mount all file systems for the job. @job[TYPE] has the words of the wire_type TYPE. */
void root_mount(const struct words *job);

#endif
