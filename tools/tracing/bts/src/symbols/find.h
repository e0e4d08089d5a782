/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find functions in a file, without a trace.
 *
 * Included by: symbols/, record/.
 */
#ifndef BTS_FIND_H
#define BTS_FIND_H

#include <stddef.h>
#include <stdint.h>

/*
 * In the file at @path, find the functions for which sym_is() accepts @wanted. Set *@offsets to an
 * array of their file offsets, which the caller frees. Return the number of functions.
 */
size_t file_functions(const char *path, const char *wanted, uint64_t **offsets);

#endif
