/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ran, for the formats of bts cover.
 *
 * Included by: cmd/cover*.c.
 */
#ifndef BTS_COVER_H
#define BTS_COVER_H

#include "flow/tally.h"
#include "command.h"

struct cover;

/**
 * struct cover_format - what sums can be written as
 * @name:	of -f
 * @print:	writes them
 * @lines:	it has lines: the debug information is read, which takes longer than the rest
 */
struct cover_format {
	const char	*name;
	void		(*print)(struct cover *c);
	bool		lines;
};

/**
 * struct cover - sums over all steps
 * @format:	as what
 * @output:	the name of the file, or NULL
 * @lines:	key: name of the file, line. branches: times that control came to the line
 * @conds:	key: object, address of a conditional jump. calls: taken; branches: not
 * @calls:	key: function. calls: times it was entered
 * @insns:	key: object, address of an instruction. insns: executed; calls: its length
 */
struct cover {
	struct pipe	pipe;
	const struct cover_format *format;
	const char	*output;
	FILE		*out;
	struct tally	lines;
	struct tally	conds;
	struct tally	calls;
	struct tally	insns;
	bool		(*wanted)(const struct cover *c, const struct object *o);
};

/* cover_lcov.c, cover_pcs.c */
void cover_lcov(struct cover *c);
void cover_drcov(struct cover *c);
void cover_pcs(struct cover *c);

#endif
