/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Format millions of lines quickly, in a buffer that is written in large pieces.
 *
 * Included by: any file.
 */
#ifndef BTS_TEXT_H
#define BTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_ROOM	(1U << 18)

/**
 * struct text - a buffer of text for a file
 * @failed:	a write has failed, and has set the error flag of @out
 */
struct text {
	FILE	*out;
	bool	failed;
	size_t	used;
	char	bytes[TEXT_ROOM];
};

struct text *text_open(FILE *out);
/* Write the rest of the buffer and free @t. Return false if any write failed. */
bool text_close(struct text *t);
/* Make room in the buffer for @size bytes, which must be at most TEXT_ROOM / 2. */
void text_room(struct text *t, size_t size);
void text_bytes(struct text *t, const char *bytes, size_t size);
void text_string(struct text *t, const char *string);
void text_number(struct text *t, uint64_t number);
/* Add a number, right-aligned in @width columns and padded with @fill. */
void text_padded(struct text *t, uint64_t number, unsigned int width, char fill);
/* Add the time @ts, which is in nanoseconds, as seconds with six decimals. */
void text_time(struct text *t, uint64_t ts, unsigned int width);
/* Add a string as JSON, with quotes. */
void text_json(struct text *t, const char *string);
void text_format(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Print a string as JSON, with quotes, to a stream. */
void text_print_json(FILE *out, const char *string);

/* Return the plural ending @ending, or "" if @number is 1. */
static inline const char *text_plural(uint64_t number, const char *ending)
{
	return number == 1 ? "" : ending;
}

/* Return a number with commas, as in "1,234,567". The text stays valid for seven more calls. */
const char *text_commas(uint64_t number);

#endif
