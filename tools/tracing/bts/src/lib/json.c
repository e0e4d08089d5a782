// SPDX-License-Identifier: GPL-2.0-only
/*
 * Escape strings for JSON. Names may come from untrusted files, so arbitrary bytes are
 * converted to a valid string without control characters.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

/* Return the length in bytes of the character at @s, or 0 if the bytes are not valid UTF-8. */
static size_t utf8_length(const unsigned char *s, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = *s < 0x80 ? 1 : *s < 0xc0 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;

	if (length < 2 || *s > 0xf4) {
		*character = *s;
		return *s < 0x80;
	}
	*character = *s & (0xff >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (s[i] & 0x3f);
	}
	if (*character < least[length] || *character > 0x10ffff ||
	    (*character >= 0xd800 && *character < 0xe000))
		return 0;
	return length;
}

size_t json_next(const char **string, char out[JSON_CHARACTER])
{
	uint32_t character;
	size_t length;

	if (!**string)
		return 0;
	length = utf8_length((const unsigned char *)*string, &character);
	if (!length) {
		(*string)++;
		return snprintf(out, JSON_CHARACTER, "\xef\xbf\xbd");
	}
	memcpy(out, *string, length);
	*string += length;
	if (character == '"' || character == '\\')
		return snprintf(out, JSON_CHARACTER, "\\%c", (char)character);
	/* Control characters: C0, DEL and C1. */
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return snprintf(out, JSON_CHARACTER, "\\u%04x", (unsigned int)character);
	return length;
}
