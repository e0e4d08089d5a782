/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run the line programs of DWARF.
 *
 * Included by: symbols/.
 */
#ifndef BTS_LINE_PROGRAM_H
#define BTS_LINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct line_row - a row of a line table
 * @file:	the index of the file in the unit
 * @end:	the row ends its sequence, so @addr is the first address after the sequence
 */
struct line_row {
	uint64_t	addr;
	uint64_t	file;
	uint64_t	line;
	bool		end;
};

/*
 * Call @add for each row of the line program at @offset in the section .debug_line. If the program
 * is damaged, stop at the damage.
 */
void line_program_run(const void *section, size_t size, uint64_t offset,
		      void (*add)(void *ctx, const struct line_row *row), void *ctx);

#endif
