// SPDX-License-Identifier: GPL-2.0-only
/*
 * Escape strings for HTML. Any input, even invalid UTF-8, becomes valid HTML and XML.
 */
#include <string.h>

#include "html.h"
#include "json.h"

static void put(FILE *out, const char *c, size_t size)
{
	switch (*c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fwrite(c, size, 1, out);
	}
}

void html_text(FILE *out, const char *text)
{
	char c[JSON_CHARACTER];
	size_t size;

	/* Print tabs and newlines unchanged, and other control characters as JSON escapes. */
	while ((size = json_next(&text, c))) {
		if (!strncmp(c, "\\u0009", size) || !strncmp(c, "\\u000a", size))
			fputc(c[5] == '9' ? '\t' : '\n', out);
		else if (!strncmp(c, "\\\"", size))
			fputs("&quot;", out);
		else if (!strncmp(c, "\\\\", size))
			fputc('\\', out);
		/* XML allows neither U+FFFE nor U+FFFF. */
		else if (size == 3 && !strncmp(c, "\xef\xbf", 2) && (unsigned char)c[2] > 0xbd)
			fputs("\xef\xbf\xbd", out);
		else
			put(out, c, size);
	}
}
