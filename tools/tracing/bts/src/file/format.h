/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse the event formats of a trace file, and read the fields of entries.
 *
 * Included by: file/, flow/, record/restore.c.
 */
#ifndef BTS_FORMAT_H
#define BTS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "dat.h"

struct bytes;

struct format_field {
	char		*name;
	uint32_t	offset;
	uint32_t	size;
	bool		is_signed;
	bool		is_array;
	bool		is_string;
	/* The field contains the offset and length of the data, which is elsewhere in the entry. */
	bool		is_dynamic;
};

struct format {
	char			*name;
	uint32_t		id;
	struct format_field	*fields;
	size_t			nr;
};

struct formats {
	struct format	*list;
	size_t		nr;
};

void formats_read(struct formats *all, struct dat *dat);
void formats_free(struct formats *all);
const struct format *format_named(const struct formats *all, const char *name);
const struct format *format_numbered(const struct formats *all, uint32_t id);

/*
 * Return the field with this name and size, or NULL. If @size is 0, any size matches. The argument
 * @format may be NULL.
 */
const struct format_field *format_field(const struct format *format, const char *name,
					uint32_t size);

/* Return the number in @field, or 0 if @field is NULL, not a number, or outside the entry. */
uint64_t format_number(const struct format_field *field, const void *entry, uint32_t size);
/* Return the bytes of @field, or NULL if the bytes are outside the entry. */
const void *format_bytes(const struct format_field *field, const void *entry, uint32_t size,
			 uint32_t *length);
/* Append an entry to @out as text, in the form "name: field=value field=value". */
void format_text(struct bytes *out, const struct format *format, const void *entry, uint32_t size);

#endif
