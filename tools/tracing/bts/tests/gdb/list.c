// SPDX-License-Identifier: GPL-2.0-only
/* The linked list that words.c uses, with a bug in list_drop(). */
#include <stdlib.h>
#include <string.h>

#include "list.h"

static struct word *first;

void list_add(const char *text)
{
	struct word *w = malloc(sizeof(*w));

	w->text = text;
	w->next = first;
	first = w;
}

void list_drop(const char *text)
{
	struct word *before = NULL;

	for (struct word *w = first; w; w = w->next) {
		if (!strcmp(w->text, text)) {
			w->text = NULL;
			if (before)
				before->next = w->next;
			return;
		}
		before = w;
	}
}

static int has_letter(const struct word *w, char letter)
{
	for (const char *c = w->text; *c; c++)
		if (*c == letter)
			return 1;
	return 0;
}

int list_count(char letter)
{
	int n = 0;

	for (struct word *w = first; w; w = w->next)
		n += has_letter(w, letter);
	return n;
}
