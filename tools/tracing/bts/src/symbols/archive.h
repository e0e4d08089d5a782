/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What names a trace's addresses, in a directory beside it, FILE.archive:
 *
 *	.build-id/XX/YYYY	binaries, by build ID
 *	root/PATH		those without one
 *	vdso.so			the vDSO of 64-bit tasks
 *	vdso32.so		that of 32-bit tasks
 *	kcore			the code of the kernel and its modules when tracing ended: an
 *				ELF core file, a PT_LOAD for each piece, at its address
 *	kcore.before		the pages of it that were others when tracing began
 *	kcore.later		in place of both: as it was when bts archive was called
 *	notes			/sys/kernel/notes: the kernel's build ID
 *	perf-PID.map		what a JIT compiler says about its code
 *	jit-PID.dump		the same, with the code
 *
 * bts record puts there what would change or go, bts archive the binaries. (The kernel's
 * symbols are in the trace itself.)
 *
 * Included by: symbols/, cmd/.
 */
#ifndef BTS_ARCHIVE_H
#define BTS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/names.h"

/* FILE.archive, to be freed. */
char *archive_path(const char *trace);
/* Makes the directory. False after a message if nothing can be put there. */
bool archive_make(const char *trace);
/* Is there a file of this name? */
bool archive_has(const char *trace, const char *name);
/*
 * A new file there, its directories made, in place of what has the name. Only its owner can
 * read it. -1 after a message.
 */
int archive_create(const char *trace, const char *name);
/* 0, or -1 after a message. */
int archive_put(const char *trace, const char *name, const void *data, size_t size);
/* @from must be a regular file. @flags: O_NOFOLLOW, or 0. */
int archive_copy(const char *trace, const char *name, const char *from, int flags);

/*
 * What would go: the vDSO, and what JIT compilers say about tasks' code. @user: that of tasks that
 * have ended.
 */
void archive_tasks(const char *trace, const struct names *names, uid_t user);
/* Removes the directory with all that is in it. */
void archive_remove(const char *trace);
/* The trace has the name @old now: so has its archive. */
void archive_keep(const char *trace, const char *old);

#endif
