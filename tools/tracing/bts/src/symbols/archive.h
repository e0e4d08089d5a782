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

#include <stddef.h>

#include "lib/names.h"

/* FILE.archive, to be freed. */
char *archive_path(const char *trace);
/* PATH of a file in there, its directories made. NULL after a message. To be freed. */
char *archive_file(const char *trace, const char *name);
/* 0, or -1 after a message. */
int archive_put(const char *trace, const char *name, const void *data, size_t size);
int archive_copy(const char *trace, const char *name, const char *from);

/* What would go: the vDSO, and what JIT compilers say about tasks' code. */
void archive_tasks(const char *trace, const struct names *names);
/* Removes what an earlier recording of that name had left. */
void archive_clear(const char *trace);

#endif
