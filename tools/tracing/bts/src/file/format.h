/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats of events, as the file's own text has them.
 *
 * Included by: file/, flow/.
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
	/* A word: offset and length of the field's bytes. */
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
 * The field of that name, if it has one of the sizes asked for (@size 0: any); NULL if
 * there is none, or @format is NULL.
 */
const struct format_field *format_field(const struct format *format, const char *name,
					uint32_t size);

/* A field's number in an entry of that many bytes; 0 if the entry ends before it. */
uint64_t format_number(const struct format_field *field, const void *entry, uint32_t size);
/* A field's bytes, whichever kind it is of; NULL if the entry ends before them. */
const void *format_bytes(const struct format_field *field, const void *entry, uint32_t size,
			 uint32_t *length);
/* name: field=value field=value, for events that are not the tracer's. */
void format_text(struct bytes *out, const struct format *format, const void *entry, uint32_t size);

#endif
