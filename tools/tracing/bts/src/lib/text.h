/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text by the million lines: put together here, written in large pieces.
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
 * struct text - text on its way to a file
 * @failed:	it could not be written; the file's error flag is set
 */
struct text {
	FILE	*out;
	bool	failed;
	size_t	used;
	char	bytes[TEXT_ROOM];
};

struct text *text_open(FILE *out);
/* Writes what is left. False if something could not be written. */
bool text_close(struct text *t);
/* Makes room for @size bytes, at most TEXT_ROOM / 2. */
void text_room(struct text *t, size_t size);
void text_bytes(struct text *t, const char *bytes, size_t size);
void text_string(struct text *t, const char *string);
void text_number(struct text *t, uint64_t number);
/* Right-aligned in @width columns, filled with @fill. */
void text_padded(struct text *t, uint64_t number, unsigned int width, char fill);
/* Seconds with microseconds. */
void text_time(struct text *t, uint64_t ts, unsigned int width);
/* A JSON string, with its quotes. */
void text_json(struct text *t, const char *string);
void text_format(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same JSON string into a stream. */
void text_print_json(FILE *out, const char *string);

/* 1234567 as "1,234,567", in one of a few buffers in turn. */
const char *text_commas(uint64_t number);

#endif
