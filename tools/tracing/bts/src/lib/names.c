// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep PIDs and task names in a hash table with open addressing. At most half of it is used.
 */
#include <string.h>
#include <stdlib.h>

#include "mem.h"
#include "names.h"

enum { FIRST_SLOTS = 64 };

static struct name *find(const struct names *names, int pid)
{
	size_t at = (unsigned int)pid * 2654435761u & (names->nr_slots - 1);

	while (names->slots[at].pid != pid && names->slots[at].pid != -1)
		at = (at + 1) & (names->nr_slots - 1);
	return &names->slots[at];
}

static void grow(struct names *names)
{
	struct names old = *names;

	names->nr_slots = old.nr_slots ? 2 * old.nr_slots : FIRST_SLOTS;
	names->slots = mem_zalloc(names->nr_slots, sizeof(*names->slots));
	for (size_t i = 0; i < names->nr_slots; i++)
		names->slots[i].pid = -1;
	for (size_t i = 0; i < old.nr_slots; i++)
		if (old.slots[i].pid != -1)
			*find(names, old.slots[i].pid) = old.slots[i];
	free(old.slots);
}

struct name *names_get(struct names *names, int pid)
{
	struct name *name;

	if (2 * names->nr >= names->nr_slots)
		grow(names);
	name = find(names, pid);
	if (name->pid == -1) {
		name->pid = pid;
		names->nr++;
	}
	return name;
}

void names_add_all(struct names *names, const struct names *more)
{
	for (size_t i = 0; i < more->nr_slots; i++) {
		struct name *name;

		if (more->slots[i].pid == -1)
			continue;
		name = names_get(names, more->slots[i].pid);
		if (!name->comm[0] || more->slots[i].ts > name->ts)
			*name = more->slots[i];
	}
}

void names_free(struct names *names)
{
	free(names->slots);
	*names = (struct names){};
}
