/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces: what a process has mapped, at this place of the trace.
 *
 * Included by: flow/.
 */
#ifndef BTS_SPACE_H
#define BTS_SPACE_H

#include "symbols/object.h"

/* @bias: what is to be subtracted from an address to have the object's. */
struct map {
	uint64_t	addr;
	uint64_t	end;
	uint64_t	bias;
	struct object	*object;
};

/**
 * struct space - the mappings of a process
 * @id:		another one after each change that gives addresses another meaning
 * @maps:	sorted, without overlap
 * @missed:	an address was looked up that was not mapped
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
/* Of the process that has both addresses mapped and was last to map something; or NULL. */
struct space *space_guess(struct spaces *all, uint64_t a, uint64_t b);
void space_map(struct spaces *all, struct space *s, const struct map *map);
const struct map *space_find(struct space *s, uint64_t addr);
void spaces_free(struct spaces *all);

#endif
