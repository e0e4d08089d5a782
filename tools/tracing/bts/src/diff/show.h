/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print differences, as text or as JSON.
 *
 * Included by: diff/, tui/, why/, cmd/diff.c.
 */
#ifndef BTS_DIFF_SHOW_H
#define BTS_DIFF_SHOW_H

#include "compare.h"

/**
 * struct route - a call path that is being written as function names, outermost first
 * @json:	write the names as elements of a JSON array; otherwise, write " > " between names
 * @begun:	at least one name has been written
 */
struct route {
	FILE	*out;
	bool	json;
	bool	begun;
};

/* route.c: write the names of @fn and of the inlined functions that contain the call to @fn. */
void route_function(struct route *r, const struct function *fn);
/* route.c: if f->inlines is set, write the names of the functions inlined at @place. */
void route_place(struct route *r, const struct forest *f, const struct place *place);
/* route.c: write the calls that lead to the difference. */
void route_difference(struct route *r, const struct forest *f, const struct difference *d);

/* show.c */
bool tasks_differ(const struct compared *c);
/* Write a title such as "sort-37 and sort-42: 5 differences". */
void task_text(char *buffer, size_t size, const struct compared *task);
/* Return remarks on the comparison of the tasks, one per line. The caller frees the string. */
char *task_notes(const struct comparison *c, const struct compared *task);
/* Return a summary of what was not compared, such as interrupts. The caller frees the string. */
char *noise_text(const struct comparison *c);
/* Write "sort.c:123", or "" if the line is unknown. */
void line_text(char *buffer, size_t size, const struct place *place);
/* Write "main+0x12 (sort.c:123)", or "the end" if place->sym is NULL. */
void place_with_line(char *buffer, size_t size, const struct place *place);
/* Write what a run does at the difference, such as "jumps to main+0x12 (main.c:4)". */
void way_text(char *buffer, size_t size, const struct comparison *c,
	      const struct difference *d, unsigned int side);
/* Like way_text(), but add the instruction count and the called functions. */
void side_text(char *buffer, size_t size, const struct comparison *c,
	       const struct difference *d, unsigned int side);
/* Write "main+0x12 (main.c:4): the loop runs once in A, 2 times in B". */
void difference_text(char *buffer, size_t size, const struct difference *d);
/* Write "they meet at main+0x1f (main.c:6)" or "they do not meet again". */
void meet_text(char *buffer, size_t size, const struct difference *d);
void show_text(const struct comparison *c, FILE *out);

/* show_json.c */
/* Write a member such as "at":{"place":"main+0x12",...} or, if place->sym is NULL, "at":null. */
void show_json_place(const char *name, const struct place *place, uint64_t addr, FILE *out);
void show_json(const struct comparison *c, FILE *out);

#endif
