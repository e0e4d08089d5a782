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
 * @print:	writes the execution counts in this format
 * @lines:	whether the format shows source lines and functions, and so needs debug information
 * @tests:	whether the format has a field for the name of a test (--tests)
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
 * @pipes:	the @nr_pipes open traces; @pipe is the last of them
 * @tests:	whether to write separate sums for each trace, under a test name (--tests)
 * @test:	the test name of the current trace, or NULL
 * @format:	the output format
 * @damaged:	whether any of the traces is damaged
 * @paths:	the names of the @nr_paths traces
 * @output:	the name of the output file, or NULL
 * @bills:	a stream for the summaries of the traces, which pipe_bill() prints
 * @lines:	sums for source lines. The key is the file name and the line number. The number of
 *		executions is stored in entry->branches
 * @conds:	sums for conditional jumps. The key is the object and the jump's address.
 *		entry->calls counts taken jumps, and entry->branches counts untaken jumps
 * @calls:	sums for functions. The key is the object and the function's address. For an inlined
 *		function, the function's number (sym.inlined) replaces the address. Then key.b is
 *		the object, so that the key differs from the key of a function at this address.
 *		entry->calls is how often the function was entered
 * @insns:	sums for instructions. The key is the object and the address. entry->insns is the
 *		number of executions, and entry->calls is not a count, but the instruction's length
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

/* cover.c: find or add the entry of @c->conds for a conditional jump. */
struct tally_entry *cover_cond(struct cover *c, const struct object *o, uint64_t addr);
/* cover.c: find or add the entry of @c->calls for the inlined function @inlined. */
struct tally_entry *cover_inlined(struct cover *c, const struct object *o,
				  const struct sym *inlined);
/*
 * cover_add.c: if @o describes a file that an earlier trace also contains, return the object of the
 * earlier trace. Otherwise, return @o. The keys in struct cover contain the returned object.
 */
struct object *cover_object(struct cover *c, struct object *o);
/* cover_add.c: close the current trace, unless counts in @c refer to its objects. */
void cover_end_trace(struct cover *c);

/**
 * struct copy - all inlined copies of one function
 * @path:	the file of the function's declaration, or NULL
 * @line:	the line of the function's declaration, or 0
 * @entries:	how often the inlined copies were entered
 * @merged:	whether @entries were added to the number of calls to the out-of-line function
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

/* cover_copies.c: list the functions of @o that are inlined. The caller frees @copies. */
void cover_copies(struct cover *c, struct object *o, struct copies *copies);
/*
 * cover_copies.c: return how often the inlined copies of @s were entered. @file is the source file
 * of @s. Set the flag @merged of these copies, so that this function never counts them again.
 */
uint64_t cover_copies_of(struct copies *copies, const struct sym *s, const char *file);
/* cover_lcov.c, cover_pcs.c */
void cover_lcov(struct cover *c);
void cover_drcov(struct cover *c);
void cover_pcs(struct cover *c);

#endif
