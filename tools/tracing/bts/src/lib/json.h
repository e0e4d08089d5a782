/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape strings for JSON. All JSON output uses json_next().
 *
 * Included by: any file.
 */
#ifndef BTS_JSON_H
#define BTS_JSON_H

#include <stddef.h>

#define JSON_CHARACTER	8

/*
 * Write the next character of *@string to @out, escaped for JSON, and advance *@string. Return the
 * number of bytes written, or 0 at the end of the string. A byte that is not valid UTF-8 becomes
 * U+FFFD.
 */
size_t json_next(const char **string, char out[JSON_CHARACTER]);

#endif
