/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of a file that is in no trace.
 *
 * Included by: symbols/, record/.
 */
#ifndef BTS_FIND_H
#define BTS_FIND_H

#include <stddef.h>
#include <stdint.h>

/*
 * Find the functions of the file at @path that the user means by @wanted, as sym_is() does. Set
 * *@offsets to where the functions begin in the file; the caller frees it. Return their number.
 */
size_t file_functions(const char *path, const char *wanted, uint64_t **offsets);

#endif
