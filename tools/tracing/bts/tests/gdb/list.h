/* SPDX-License-Identifier: GPL-2.0-only */
/* A list of words. A new word is added at the beginning. */
#ifndef LIST_H
#define LIST_H

struct word {
	struct word	*next;
	const char	*text;
};

void list_add(const char *text);
void list_drop(const char *text);
/* Return: the number of words in the list that contain @letter. */
int list_count(char letter);

#endif
