/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory FILE.archive beside a trace contains the code and symbols of the trace:
 *
 *	.build-id/XX/YYYY	binaries with a build ID
 *	root/PATH		binaries without a build ID
 *	vdso.so			the vDSO of 64-bit tasks
 *	vdso32.so		the vDSO of 32-bit tasks
 *	kcore			the code of the kernel and its modules when tracing ended, as an ELF
 *				core file with a PT_LOAD for each piece of code
 *	kcore.before		the pages of code that later changed or disappeared, as they were
 *				when tracing began
 *	kcore.later		only without kcore: the code as it was when bts archive ran
 *	notes			/sys/kernel/notes, with the kernel's build ID
 *	perf-PID.map		the function names of a JIT compiler
 *	jit-PID.dump		the function names of a JIT compiler, with the code
 *
 * bts record saves the files that may change or disappear, and bts archive saves the binaries. The
 * kernel's symbols are in the trace itself.
 *
 * Included by: symbols/, cmd/.
 */
#ifndef BTS_ARCHIVE_H
#define BTS_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/names.h"

struct stat;

/* Return the path FILE.archive. The caller frees the path. */
char *archive_path(const char *trace);
/* Create the directory. If the directory is not writable, print a message and return false. */
bool archive_make(const char *trace);
/* Report whether the archive contains a regular file with this name. */
bool archive_has(const char *trace, const char *name);
/*
 * Begin to write a file that only its owner can read. Create missing directories. Return a
 * descriptor. On failure, print a message and return -1.
 */
int archive_create(const char *trace, const char *name);
/*
 * Close @fd, which archive_create() has returned. If @ret is 0, rename the file to @name, replacing
 * any existing file, and return 0. Otherwise, print the error in errno, remove the incomplete file,
 * and return -1.
 */
int archive_finish(const char *trace, const char *name, int fd, int ret);
/* Write a file. On failure, print a message and return -1. */
int archive_put(const char *trace, const char *name, const void *data, size_t size);
/* Copy the regular file @from, even while it grows. The value of @flags is O_NOFOLLOW or 0. */
int archive_copy(const char *trace, const char *name, const char *from, int flags);

/*
 * Any user can create files with the names that a JIT compiler uses. So a file may be saved only if
 * it belongs to root, to the user who runs bts, or to @user. Its last change must also be before
 * the time @until (in seconds). Return NULL or, if the file must not be saved, the reason.
 */
const char *archive_doubt(const struct stat *st, uid_t user, int64_t until);
/*
 * Save the vDSO of the running kernel, and the perf-PID.map files, which may disappear when the
 * tasks end. Assume that @user owned the tasks that have ended. Save only maps that last changed
 * before the time @until (in seconds).
 */
void archive_tasks(const char *trace, const struct names *names, uid_t user, int64_t until);
/* Remove FILE.archive and its contents. */
void archive_remove(const char *trace);
/* Remove a directory and its contents. Do not follow links, which another user may have made. */
void archive_remove_tree(int dir, const char *name);
/*
 * @trace has been renamed to @old, so rename its archive, if any. Replace any archive of @old.
 * On failure, print a message and return a status other than STATUS_OK.
 */
int archive_keep(const char *trace, const char *old);

#endif
