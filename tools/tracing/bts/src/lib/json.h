/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings in JSON, the same for all that writes it.
 *
 * Included by: any file.
 */
#ifndef BTS_JSON_H
#define BTS_JSON_H

#include <stddef.h>

#define JSON_CHARACTER	8

/*
 * Put the next character of *@string into @out as JSON has it, and move on. Return how many bytes
 * this took, 0 at the end. The file is UTF-8: a byte that is not becomes U+FFFD.
 */
size_t json_next(const char **string, char out[JSON_CHARACTER]);

#endif
