/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for init.c and init_root.c.
 */
#ifndef BTS_INIT_H
#define BTS_INIT_H

/* The words of one type in the job, without their type bytes. word[nr] is NULL. */
struct words {
	char	**word;
	int	nr;
};

/* Mount all file systems for the job. @job has an element for each type of words. */
void root_mount(const struct words *job);

#endif
