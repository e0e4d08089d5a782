/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums by key: of functions, edges, lines.
 *
 * Included by: flow/, diff/, dump/, tui/, cmd/.
 */
#ifndef BTS_TALLY_H
#define BTS_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* What is counted: a pointer and a number, twice. Those that are not needed are 0. */
struct tally_key {
	const void	*a;
	uint64_t	a_addr;
	const void	*b;
	uint64_t	b_addr;
};

/**
 * struct tally_entry - the sums of a key
 * @insns:	instructions
 * @branches:	branches
 * @calls:	times it was called, or entered
 * @kind:	of a branch
 * @self:	a pointer of the command's own
 */
struct tally_entry {
	struct tally_key	key;
	uint64_t		insns;
	uint64_t		branches;
	uint64_t		calls;
	uint32_t		kind;
	void			*self;
};

struct tally {
	struct tally_entry	*slots;
	size_t			room;
	size_t			nr;
};

/* The entry of the key, made if it is not there. Valid until the next call. */
struct tally_entry *tally_get(struct tally *t, const struct tally_key *key);
/* All entries in the order of @compare, for the caller to free. */
struct tally_entry *tally_sorted(const struct tally *t,
				 int (*compare)(const void *, const void *));
void tally_free(struct tally *t);

#endif
