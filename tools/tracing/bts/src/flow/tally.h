/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep sums for keys, such as functions, pairs of functions and source lines.
 *
 * Included by: flow/, diff/, dump/, tui/, cmd/.
 */
#ifndef BTS_TALLY_H
#define BTS_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* The key of a sum. @a must not be NULL. Unused members must be 0. */
struct tally_key {
	const void	*a;
	uint64_t	a_addr;
	const void	*b;
	uint64_t	b_addr;
};

/**
 * struct tally_entry - the sums that are stored under a key
 * @calls:	number of calls, or of other events that the command counts
 * @kind:	kind of the branch or frame
 * @self:	data of the command
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

/* Find or create the entry for the key. The pointer is valid until the next call. */
struct tally_entry *tally_get(struct tally *t, const struct tally_key *key);
/* Return all entries, sorted by @compare. The caller frees the array. */
struct tally_entry *tally_sorted(const struct tally *t,
				 int (*compare)(const void *, const void *));
void tally_free(struct tally *t);

#endif
