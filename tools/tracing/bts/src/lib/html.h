/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape strings for HTML.
 *
 * Included by: any file.
 */
#ifndef BTS_HTML_H
#define BTS_HTML_H

#include <stdio.h>

/* Print a text or the value of an attribute. Both may contain untrusted bytes. */
void html_text(FILE *out, const char *text);

#endif
