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
 * @tests:	the name of a test may be in it
 * @lines:	it has lines: the debug information is read, which takes longer than the rest
 */
struct cover_format {
	const char	*name;
	void		(*print)(struct cover *c);
	bool		lines;
	bool		tests;
};

/**
 * struct cover - sums over all steps
 * @options:	which branches
 * @pipe:	the trace that is read now
 * @pipes:	those that were read, and it: objects that several have are the first one's
 * @tests:	each trace is a test, with sums of its own
 * @test:	the name of this one, or NULL
 * @format:	as what
 * @damaged:	one of the traces is
 * @paths:	the traces, @nr_paths of them
 * @output:	the name of the file, or NULL
 * @bills:	of the traces
 * @lines:	key: name of the file, line. branches: times that control came to the line
 * @conds:	key: object, address of a conditional jump. calls: taken; branches: not
 * @calls:	key: function. calls: times it was entered
 * @insns:	key: object, address of an instruction. insns: executed; calls: its length
 */
struct cover {
	const struct options *options;
	struct pipe	*pipe;
	struct pipe	**pipes;
	size_t		nr_pipes;
	bool		tests;
	char		*test;
	char		**paths;
	int		nr_paths;
	const struct cover_format *format;
	const char	*output;
	FILE		*out;
	FILE		*bills;
	struct tally	lines;
	struct tally	conds;
	struct tally	calls;
	struct tally	insns;
	bool		damaged;
	bool		(*wanted)(const struct cover *c, const struct object *o);
};

/* cover.c: the sums of a conditional jump, made if there are none. */
struct tally_entry *cover_cond(struct cover *c, const struct object *o, uint64_t addr);
/* cover_add.c: the same file as this one in the first of the traces that have it. */
struct object *cover_object(struct cover *c, struct object *o);
/* cover_add.c: the trace has been read. Close it, unless a file is in no trace before it. */
void cover_end_trace(struct cover *c);

/* cover_lcov.c, cover_pcs.c */
void cover_lcov(struct cover *c);
void cover_drcov(struct cover *c);
void cover_pcs(struct cover *c);

#endif
