/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect and print the execution counts for bts cover.
 *
 * Included by: cmd/cover*.c.
 */
#ifndef BTS_COVER_H
#define BTS_COVER_H

#include "flow/tally.h"
#include "command.h"

struct cover;

/**
 * struct cover_format - an output format
 * @name:	the argument of -f
 * @print:	writes the sums
 * @lines:	whether the format shows lines and functions, for which it needs debug information
 * @tests:	whether the format can name a test
 */
struct cover_format {
	const char	*name;
	void		(*print)(struct cover *c);
	bool		lines;
	bool		tests;
};

/**
 * struct cover - the state of bts cover, with the sums over all traces
 * @options:	the filters for branches
 * @pipe:	the current trace
 * @pipes:	the open traces; @pipe is the last of them. The sums of an object belong to the
 *		first trace that contains the object
 * @tests:	whether each trace is a test with separate sums
 * @test:	the name of the current test, or NULL
 * @format:	the output format
 * @damaged:	whether any of the traces is damaged
 * @paths:	the names of the @nr_paths traces
 * @output:	the name of the output file, or NULL
 * @bills:	a stream that collects the summaries of the traces
 * @lines:	keyed by file name and line. entry->branches is how often the line was executed
 * @conds:	keyed by object and address of a conditional jump. entry->calls is how often the
 *		jump was taken, and entry->branches is how often the jump was not taken
 * @calls:	keyed by object and address of a function or, if @b of the key is set, by object and
 *		number of an inlined function. entry->calls is how often the function was entered
 * @insns:	keyed by object and address of an instruction. entry->insns is how often the
 *		instruction was executed; entry->calls holds the length of the instruction
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

/* cover.c: find or add the entry that counts a conditional jump. */
struct tally_entry *cover_cond(struct cover *c, const struct object *o, uint64_t addr);
/* cover.c: find or add the entry that counts how often an inlined function of @o is entered. */
struct tally_entry *cover_inlined(struct cover *c, const struct object *o,
				  const struct sym *inlined);
/*
 * cover_add.c: return the object that contains the sums for @o. The returned object may belong to
 * an earlier trace.
 */
struct object *cover_object(struct cover *c, struct object *o);
/* cover_add.c: close the current trace, unless the sums refer to objects of this trace. */
void cover_end_trace(struct cover *c);

/**
 * struct copy - the inlined copies of a function
 * @path:	the file of the function's declaration, or NULL
 * @line:	the line of the function's declaration, or 0
 * @entries:	how often the copies were entered
 * @merged:	whether @entries were added to the calls of the function's out-of-line code
 */
struct copy {
	const struct sym	*sym;
	const char		*path;
	int			line;
	uint64_t		entries;
	bool			merged;
};

struct copies {
	struct copy	*list;
	size_t		nr;
};

/* cover_copies.c: list the inlined copies in an object. The caller frees the list. */
void cover_copies(struct cover *c, struct object *o, struct copies *copies);
/*
 * cover_copies.c: find the copies of @s that are declared in @file. Set their member @merged, and
 * return the sum of their @entries. Ignore a copy if its @merged is already set.
 */
uint64_t cover_copies_of(struct copies *copies, const struct sym *s, const char *file);
/* cover_lcov.c, cover_pcs.c */
void cover_lcov(struct cover *c);
void cover_drcov(struct cover *c);
void cover_pcs(struct cover *c);

#endif
