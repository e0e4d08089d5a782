/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for init.c and init_root.c.
 */
#ifndef BTS_INIT_H
#define BTS_INIT_H

/* All words of one type in the file /job (see wire.h), without the type byte. word[nr] is NULL. */
struct words {
	char	**word;
	int	nr;
};

/* Mount all file systems for the job. @job is an array that is indexed by enum wire_type. */
void root_mount(const struct words *job);

#endif
