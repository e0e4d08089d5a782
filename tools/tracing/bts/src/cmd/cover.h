/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect the sums of bts cover, and print them in several formats.
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
 * @lines:	the format shows lines and functions, so the debug information is read, which takes
 *		long
 * @tests:	the format can name a test
 */
struct cover_format {
	const char	*name;
	void		(*print)(struct cover *c);
	bool		lines;
	bool		tests;
};

/**
 * struct cover - sums over all steps
 * @options:	the filters for branches
 * @pipe:	the current trace
 * @pipes:	the open traces; the current trace is the last. An object's sums belong to the
 *		first trace that contains the object
 * @tests:	each trace is a test, with its own sums
 * @test:	the name of the current test, or NULL
 * @format:	the output format
 * @damaged:	one of the traces is damaged
 * @paths:	the names of the @nr_paths traces
 * @output:	the name of the output file, or NULL
 * @bills:	collects the summaries of the traces
 * @lines:	key: name of the file, line. branches: how often the line was executed
 * @conds:	key: object, address of a conditional jump. calls: taken; branches: not taken
 * @calls:	key: object, and the address of a function, or the number of an inlined function
 *		with @b set. calls: how often the function was entered
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

/* cover.c: find or add the sums of a conditional jump. */
struct tally_entry *cover_cond(struct cover *c, const struct object *o, uint64_t addr);
/* cover.c: find or add the sums of an inlined function of @o. */
struct tally_entry *cover_inlined(struct cover *c, const struct object *o,
				  const struct sym *inlined);
/* cover_add.c: return the object of the same file in the first trace that contains the file. */
struct object *cover_object(struct cover *c, struct object *o);
/* cover_add.c: close the current trace, unless sums belong to its objects. */
void cover_end_trace(struct cover *c);

/**
 * struct copy - the inlined copies of a function
 * @name:	its name, without INLINED_SUFFIX
 * @path:	the file of its declaration, or NULL
 * @line:	the line of its declaration, or 0
 * @entries:	how often the copies were entered
 * @merged:	the function has code elsewhere, too, to which @entries were added
 */
struct copy {
	const struct sym	*sym;
	const char		*name;
	const char		*path;
	int			line;
	uint64_t		entries;
	bool			merged;
};

struct copies {
	struct copy	*list;
	size_t		nr;
};

/* cover_copies.c: list the copies in an object. The caller frees the list. */
void cover_copies(struct cover *c, struct object *o, struct copies *copies);
/* cover_copies.c: return the entries into the copies of a function in @file, and set @merged. */
uint64_t cover_copies_of(struct copies *copies, const struct sym *s, const char *file);
/* cover_lcov.c, cover_pcs.c */
void cover_lcov(struct cover *c);
void cover_drcov(struct cover *c);
void cover_pcs(struct cover *c);

#endif
