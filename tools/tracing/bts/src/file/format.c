// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse event formats. For each event, a trace.dat contains the text of the kernel's `format` file:
 *
 *	name: bts_branch
 *	ID: 22
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		...
 *
 * The tool needs only the offsets of a dozen fields in the tracer's events, and prints other events
 * as plain text. The library libtraceevent can do more, but does not handle damaged text safely.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "lib/mem.h"
#include "format.h"

/* Return the number after @key in the line, or 0 if the line does not contain @key. */
static uint32_t line_number(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

/* Return the name in a declaration, for example "comm" in "char comm[16]". */
static char *declared_name(const char *declaration, size_t length)
{
	size_t end = length, begin;
	char *name;

	for (begin = 0; begin < length; begin++) {
		if (declaration[begin] == '[') {
			end = begin;
			break;
		}
	}
	while (end && isspace((unsigned char)declaration[end - 1]))
		end--;
	for (begin = end; begin; begin--)
		if (!isalnum((unsigned char)declaration[begin - 1]) &&
		    declaration[begin - 1] != '_')
			break;
	name = mem_alloc(end - begin + 1);
	memcpy(name, declaration + begin, end - begin);
	name[end - begin] = 0;
	return name;
}

static void read_field(struct format *format, char *line)
{
	char *declaration = strstr(line, "field:") + strlen("field:");
	char *end = strchr(declaration, ';');
	struct format_field f = {};

	if (!end)
		return;
	f.offset = line_number(end, "offset:");
	f.size = line_number(end, "size:");
	f.is_signed = line_number(end, "signed:");
	*end = 0;
	f.is_dynamic = strstr(declaration, "__data_loc");
	f.is_array = strchr(declaration, '[');
	f.is_string = f.is_array && strstr(declaration, "char ");
	if (f.is_dynamic) {
		/* In "__data_loc char[] path", the name follows the brackets of the type. */
		char *bracket = strrchr(declaration, ']');

		f.name = bracket ? declared_name(bracket + 1, strlen(bracket + 1)) :
				   declared_name(declaration, strlen(declaration));
		f.is_dynamic = f.size == 4;
	} else {
		f.name = declared_name(declaration, strlen(declaration));
	}
	format->fields = mem_realloc(format->fields, format->nr + 1, sizeof(f));
	format->fields[format->nr++] = f;
}

static void read_format(struct formats *all, const char *text)
{
	char *copy = mem_strdup(text), *save = NULL;
	struct format format = {};

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!format.name && !strncmp(line, "name: ", 6))
			format.name = mem_strdup(line + 6);
		else if (!strncmp(line, "ID: ", 4))
			format.id = strtoul(line + 4, NULL, 10);
		else if (!strncmp(line, "print fmt", 9))
			break;
		else if (strstr(line, "field:"))
			read_field(&format, line);
	}
	free(copy);
	if (!format.name)
		format.name = mem_strdup("?");
	all->list = mem_realloc(all->list, all->nr + 1, sizeof(format));
	all->list[all->nr++] = format;
}

void formats_read(struct formats *all, struct dat *dat)
{
	*all = (struct formats) {};
	for (size_t i = 0; i < dat->nr_formats; i++)
		read_format(all, dat->formats[i].text);
}

void formats_free(struct formats *all)
{
	for (size_t i = 0; i < all->nr; i++) {
		for (size_t f = 0; f < all->list[i].nr; f++)
			free(all->list[i].fields[f].name);
		free(all->list[i].fields);
		free(all->list[i].name);
	}
	free(all->list);
}

const struct format *format_named(const struct formats *all, const char *name)
{
	for (size_t i = 0; i < all->nr; i++)
		if (!strcmp(all->list[i].name, name))
			return &all->list[i];
	return NULL;
}

const struct format *format_numbered(const struct formats *all, uint32_t id)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].id == id)
			return &all->list[i];
	return NULL;
}

const struct format_field *format_field(const struct format *format, const char *name,
					uint32_t size)
{
	for (size_t i = 0; format && i < format->nr; i++)
		if (!strcmp(format->fields[i].name, name))
			return !size || size == format->fields[i].size ?
			       &format->fields[i] : NULL;
	return NULL;
}

uint64_t format_number(const struct format_field *field, const void *entry, uint32_t size)
{
	uint64_t value = 0;

	if (!field || field->size > 8 || field->offset > size ||
	    field->size > size - field->offset)
		return 0;
	memcpy(&value, (const char *)entry + field->offset, field->size);
	if (field->is_signed && field->size && field->size < 8 &&
	    (value >> (field->size * 8 - 1)))
		value |= ~0ULL << (field->size * 8);
	return value;
}

const void *format_bytes(const struct format_field *field, const void *entry, uint32_t size,
			 uint32_t *length)
{
	uint32_t offset, word;

	if (!field)
		return NULL;
	offset = field->offset;
	*length = field->size;
	/* An array of size 0 extends to the end of the entry. */
	if (field->is_array && !field->size && !field->is_dynamic)
		*length = offset < size ? size - offset : 0;
	if (field->is_dynamic) {
		word = format_number(field, entry, size);
		offset = word & 0xffff;
		*length = word >> 16;
	}
	if (offset > size || *length > size - offset)
		return NULL;
	return (const char *)entry + offset;
}

static void add_field(struct bytes *out, const struct format_field *field, const void *entry,
		      uint32_t size)
{
	const unsigned char *bytes;
	uint32_t length;

	bytes_format(out, " %s=", field->name);
	if (!field->is_array && !field->is_dynamic && field->size <= 8) {
		uint64_t value = format_number(field, entry, size);

		if (field->is_signed)
			bytes_format(out, "%lld", (long long)value);
		else
			bytes_format(out, value > 0xffff ? "%#llx" : "%llu",
				     (unsigned long long)value);
		return;
	}
	bytes = format_bytes(field, entry, size, &length);
	if (!bytes) {
		bytes_format(out, "?");
	} else if (field->is_string) {
		for (; length && *bytes; length--, bytes++)
			bytes_add8(out, isprint(*bytes) ? *bytes : '?');
	} else {
		for (; length; length--, bytes++)
			bytes_format(out, "%02x", *bytes);
	}
}

void format_text(struct bytes *out, const struct format *format, const void *entry, uint32_t size)
{
	bytes_format(out, "%s:", format->name);
	for (size_t i = 0; i < format->nr; i++)
		if (strncmp(format->fields[i].name, "common_", 7))
			add_field(out, &format->fields[i], entry, size);
}
