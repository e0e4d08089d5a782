/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect bytes in a growing buffer. Store numbers in little-endian order.
 *
 * Included by: any file.
 */
#ifndef BTS_BYTES_H
#define BTS_BYTES_H

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"

struct bytes {
	char	*data;
	size_t	size;
	size_t	room;
};

static inline void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (!size)
		return;
	if (size > bytes->room - bytes->size) {
		bytes->data = mem_realloc(bytes->data, 2 * bytes->room + size, 1);
		bytes->room = 2 * bytes->room + size;
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static inline void bytes_add8(struct bytes *bytes, uint8_t value)
{
	bytes_add(bytes, &value, sizeof(value));
}

static inline void bytes_add16(struct bytes *bytes, uint16_t value)
{
	bytes_add(bytes, &value, sizeof(value));
}

static inline void bytes_add32(struct bytes *bytes, uint32_t value)
{
	bytes_add(bytes, &value, sizeof(value));
}

static inline void bytes_add64(struct bytes *bytes, uint64_t value)
{
	bytes_add(bytes, &value, sizeof(value));
}

/* Add a string and its terminating 0. */
static inline void bytes_add_string(struct bytes *bytes, const char *string)
{
	bytes_add(bytes, string, strlen(string) + 1);
}

/* Add formatted text without a terminating 0. */
static inline void __attribute__((format(printf, 2, 3)))
bytes_format(struct bytes *bytes, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = mem_vformat(format, args);
	va_end(args);
	bytes_add(bytes, text, strlen(text));
	free(text);
}

/* Add a string as JSON, with quotes. */
static inline void bytes_json(struct bytes *bytes, const char *string)
{
	char out[JSON_CHARACTER];
	size_t size;

	bytes_add8(bytes, '"');
	while ((size = json_next(&string, out)))
		bytes_add(bytes, out, size);
	bytes_add8(bytes, '"');
}

static inline void bytes_set32(struct bytes *bytes, size_t at, uint32_t value)
{
	memcpy(bytes->data + at, &value, sizeof(value));
}

static inline void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){};
}

#endif
