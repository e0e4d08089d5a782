/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep the mappings of each process (address space) at the current place in the trace.
 *
 * Included by: flow/.
 */
#ifndef BTS_SPACE_H
#define BTS_SPACE_H

#include "symbols/object.h"

/* Subtract @bias from an address to get the address in the object. */
struct map {
	uint64_t	addr;
	uint64_t	end;
	uint64_t	bias;
	struct object	*object;
};

/**
 * struct space - the mappings of a process
 * @id:		number that changes when an address gets a new meaning
 * @maps:	the mappings, sorted, without overlap
 * @missed:	since the last change of @id, an address was looked up but not found
 */
struct space {
	int			tgid;
	uint32_t		id;
	struct map		*maps;
	size_t			nr;
	bool			missed;
	uint64_t		used;
	struct space		*next;
};

struct spaces {
	struct space		*list;
	uint32_t		last_id;
	uint64_t		clock;
	struct objects		*objects;
};

struct space *space_get(struct spaces *all, int tgid);
/* Return the most recently changed space that maps both addresses, or NULL. */
struct space *space_guess(struct spaces *all, uint64_t a, uint64_t b);
void space_map(struct spaces *all, struct space *s, const struct map *map);
const struct map *space_find(struct space *s, uint64_t addr);
void spaces_free(struct spaces *all);

#endif
