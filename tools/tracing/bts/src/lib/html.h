/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape strings for HTML.
 *
 * Included by: any file.
 */
#ifndef BTS_HTML_H
#define BTS_HTML_H

#include <stdio.h>

/* Print @text, escaped for element content and attribute values. @text may be untrusted. */
void html_text(FILE *out, const char *text);

#endif
