/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write an HTML page.
 *
 * Included by: diff/, cmd/diff.c.
 */
#ifndef BTS_PAGE_H
#define BTS_PAGE_H

#include "lib/source.h"
#include "show.h"
#include "suspects.h"

/**
 * struct page - an HTML page that is being written
 * @forest:	the nodes of the runs
 * @sources:	the source files
 * @left:	how many more rows of code the current part may contain
 */
struct page {
	FILE			*out;
	const struct forest	*forest;
	struct sources		sources;
	unsigned int		left;
};

/**
 * struct rows - rows of code, one for each executed line
 * @file:	the file of the last row (initially the function's file), or NULL
 * @line:	the line of the last row, or 0
 * @mark:	the line to mark in @file, or 0
 * @listed:	@file cannot be read, so the last row lists line numbers. More numbers may be added
 * @blind:	how many instructions without a source line were executed after the last row; the
 *		first of these instructions is at @begin
 * @depth:	maximum number of call levels that can be unfolded
 */
struct rows {
	struct page		*page;
	const char		*file;
	unsigned int		line;
	unsigned int		mark;
	bool			listed;
	uint64_t		blind;
	struct place		begin;
	unsigned int		depth;
};

/* page.c */
void page_begin(struct page *p, const char *title);
void page_end(struct page *p);
/* Write the two runs side by side. */
void show_page(const struct comparison *c, FILE *out);
/* Write the ranking of branches. */
void suspects_page(const struct suspects *s, unsigned long rows, FILE *out);

/* page_code.c */
/* Begin rows for code of @function, or for code outside known functions if @function is NONE. */
struct rows rows_begin(struct page *p, uint32_t function, unsigned int depth);
/* Add the instructions from @from to @to, including the instruction at @to if @last is set. */
void rows_run(struct rows *r, const struct place *from, uint64_t to, bool last);
/* Add rows for an item of the tree that occurs @times times in succession. */
void rows_item(struct rows *r, uint32_t elem, uint64_t times);
void rows_end(struct rows *r);
/* Add the source lines around a place, and mark the line that contains the place. */
void rows_around(struct page *p, const struct place *place);

#endif
