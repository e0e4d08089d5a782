// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build the address spaces from the bts_map rows.
 *
 * A new mapping replaces what it overlaps of older mappings. No row reports munmap(), because no
 * code runs at unmapped addresses. The number of the space is part of a step's key. If an
 * address gets a new meaning, because another library or program is mapped there, the space
 * gets a new number, and old steps keep their meaning.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "space.h"

struct space *space_get(struct spaces *all, int tgid)
{
	struct space *s;

	for (s = all->list; s; s = s->next)
		if (s->tgid == tgid)
			return s;
	s = mem_zalloc(1, sizeof(*s));
	s->tgid = tgid;
	s->id = ++all->last_id;
	s->next = all->list;
	all->list = s;
	return s;
}

const struct map *space_find(struct space *s, uint64_t addr)
{
	size_t low = 0, high = s->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->maps[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && addr < s->maps[low - 1].end)
		return &s->maps[low - 1];
	s->missed = true;
	return NULL;
}

struct space *space_guess(struct spaces *all, uint64_t a, uint64_t b)
{
	struct space *best = NULL;

	for (struct space *s = all->list; s; s = s->next) {
		bool missed = s->missed;

		if (space_find(s, a) && space_find(s, b) && (!best || s->used > best->used))
			best = s;
		s->missed = missed;
	}
	return best;
}

static void insert(struct space *s, size_t at, const struct map *map)
{
	s->maps = mem_realloc(s->maps, s->nr + 1, sizeof(*s->maps));
	memmove(&s->maps[at + 1], &s->maps[at], (s->nr - at) * sizeof(*s->maps));
	s->maps[at] = *map;
	s->nr++;
}

static void drop(struct space *s, size_t at)
{
	s->nr--;
	memmove(&s->maps[at], &s->maps[at + 1], (s->nr - at) * sizeof(*s->maps));
}

/* Make room for @map. Report whether a different object or offset was mapped there. */
static bool cut(struct space *s, const struct map *map)
{
	bool other = false;

	for (size_t i = 0; i < s->nr; i++) {
		struct map *m = &s->maps[i], tail;

		if (m->end <= map->addr || m->addr >= map->end)
			continue;
		other |= m->object != map->object || m->bias != map->bias;
		tail = *m;
		tail.addr = map->end;
		if (m->addr < map->addr)
			m->end = map->addr;
		else
			drop(s, i--);
		if (tail.addr < tail.end) {
			insert(s, i + 1, &tail);
			i++;
		}
	}
	return other;
}

void space_map(struct spaces *all, struct space *s, const struct map *map)
{
	size_t at = 0;

	s->used = ++all->clock;
	if (map->end <= map->addr)
		return;
	if (cut(s, map) || s->missed) {
		s->id = ++all->last_id;
		s->missed = false;
	}
	while (at < s->nr && s->maps[at].addr < map->addr)
		at++;
	insert(s, at, map);
}

void spaces_free(struct spaces *all)
{
	struct space *next;

	for (struct space *s = all->list; s; s = next) {
		next = s->next;
		free(s->maps);
		free(s);
	}
}
