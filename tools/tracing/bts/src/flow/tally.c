// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums are in a hash table with linear probing. At most half of the slots are used. A slot is
 * free if member @a of its key is NULL.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "tally.h"

#define TALLY_MIN	1024

static size_t slot(const struct tally *t, const struct tally_key *key)
{
	uint64_t h = (uintptr_t)key->a * 0x9e3779b97f4a7c15ULL;
	size_t i;

	h = (h ^ (h >> 32) ^ key->a_addr) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 29) ^ (uintptr_t)key->b) * 0x94d049bb133111ebULL;
	h = (h ^ (h >> 32) ^ key->b_addr) * 0x9e3779b97f4a7c15ULL;
	for (i = (h ^ (h >> 31)) & (t->room - 1); t->slots[i].key.a;
	     i = (i + 1) & (t->room - 1))
		if (!memcmp(&t->slots[i].key, key, sizeof(*key)))
			break;
	return i;
}

struct tally_entry *tally_get(struct tally *t, const struct tally_key *key)
{
	struct tally_entry *old = t->slots;
	size_t room = t->room, i;

	if (2 * t->nr >= t->room) {
		t->room = room ? 2 * room : TALLY_MIN;
		t->slots = mem_zalloc(t->room, sizeof(*t->slots));
		for (i = 0; i < room; i++)
			if (old[i].key.a)
				t->slots[slot(t, &old[i].key)] = old[i];
		free(old);
	}
	i = slot(t, key);
	if (!t->slots[i].key.a) {
		t->slots[i].key = *key;
		t->nr++;
	}
	return &t->slots[i];
}

struct tally_entry *tally_sorted(const struct tally *t, int (*compare)(const void *, const void *))
{
	struct tally_entry *list = mem_alloc(t->nr * sizeof(*list));
	size_t nr = 0;

	for (size_t i = 0; i < t->room; i++)
		if (t->slots[i].key.a)
			list[nr++] = t->slots[i];
	if (nr)
		qsort(list, nr, sizeof(*list), compare);
	return list;
}

void tally_free(struct tally *t)
{
	free(t->slots);
	*t = (struct tally) {};
}
