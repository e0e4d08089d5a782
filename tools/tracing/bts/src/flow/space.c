// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build the address spaces from the bts_map rows.
 *
 * A new mapping replaces the parts of older mappings that it overlaps. The trace need not report
 * munmap(), because unmapped code is not executed. For each branch, the pipeline looks for a step
 * with the same addresses. A shared address (space.h) always means the same code. Any other address
 * in user space may mean different code in another process, or after a new mapping. So if a step
 * contains such an address, the step matches only in the address space with the number step.space.
 * If a mapping may replace code, the address space gets a new number, so old steps no longer match.
 *
 * For each file, a space has a bias: the process's address minus the shared address. To compare a
 * step with a branch, the pipeline adds the bias to the step's shared addresses, but does not check
 * that the space maps the resulting addresses. So if the space does not map all ELF addresses from
 * shared_file.begin to .end, the bias is BIAS_NONE, which matches no branch.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/sorted.h"
#include "space.h"

void spaces_init(struct spaces *all, struct objects *objects)
{
	all->objects = objects;
	all->nr_files = FILE_FIRST;
}

struct space *space_get(struct spaces *all, int tgid)
{
	struct space **bucket = &all->buckets[(unsigned int)tgid % SPACE_BUCKETS], *s;

	for (s = *bucket; s; s = s->hash_next)
		if (s->tgid == tgid)
			return s;
	s = mem_zalloc(1, sizeof(*s));
	s->tgid = tgid;
	s->id = ++all->last_id;
	s->next = all->list;
	all->list = s;
	s->hash_next = *bucket;
	*bucket = s;
	return s;
}

const struct map *space_find(struct space *s, uint64_t addr)
{
	size_t nr = sorted_upto(s->maps, s->nr, sizeof(*s->maps), addr);

	if (nr && addr < s->maps[nr - 1].end)
		return &s->maps[nr - 1];
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

/* --- Shared addresses --------------------------------------------------------------- */

static uint64_t shared_base(uint32_t file)
{
	return SHARED_BEGIN + file * SHARED_SIZE;
}

static uint64_t shared_bias(const struct map *m)
{
	return m->bias - shared_base(m->file);
}

static void set_bias(const struct spaces *all, struct space *s, uint32_t file, uint64_t bias)
{
	space_biases(all, s);
	s->biases[file] = bias;
}

static void fill_biases(uint64_t *biases, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		biases[from] = from == FILE_NONE ? 0 : BIAS_NONE;
}

const uint64_t *space_biases(const struct spaces *all, struct space *s)
{
	static const uint64_t none[SHARED_MAX];
	uint32_t room;

	if (!s)
		return none;
	if (s->nr_biases >= all->nr_files)
		return s->biases;
	for (room = 16; room < all->nr_files; room *= 2)
		;
	s->biases = mem_realloc(s->biases, room, sizeof(*s->biases));
	fill_biases(s->biases, s->nr_biases, room);
	s->nr_biases = room;
	return s->biases;
}

/* Report whether the space maps the file with a bias that differs from map->bias. */
static bool is_taken(const struct space *s, uint32_t file, const struct map *map)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->maps[i].file == file && s->maps[i].bias != map->bias)
			return true;
	return false;
}

static bool can_share(const struct map *map)
{
	return map->object->is_file && map->addr - map->bias < SHARED_SIZE &&
	       map->end - map->bias <= SHARED_SIZE;
}

/* Return the file number of @map, or FILE_NONE if the addresses of @map cannot be shared. */
static uint32_t file_of(struct spaces *all, const struct space *s, const struct map *map)
{
	struct shared_file *f;
	uint32_t file;

	if (!can_share(map))
		return FILE_NONE;
	for (file = FILE_FIRST; file < all->nr_files; file++)
		if (all->files[file].object == map->object && !is_taken(s, file, map))
			return file;
	if (file == SHARED_MAX)
		return FILE_NONE;
	f = &all->files[all->nr_files++];
	*f = (struct shared_file) {
		.object = map->object, .begin = map->addr - map->bias,
		.end = map->end - map->bias, .bias = map->bias - shared_base(file),
	};
	return file;
}

void space_spot(const struct spaces *all, struct space *s, uint64_t addr, const struct map *guess,
		struct spot *spot)
{
	const struct map *map = guess;
	const struct shared_file *f;

	if (!map || addr < map->addr || addr >= map->end)
		map = s ? space_find(s, addr) : NULL;
	spot->map = map;
	spot->addr = addr;
	spot->file = FILE_NONE;
	if (!map || !map->file)
		return;
	f = &all->files[map->file];
	addr -= map->bias;
	spot->addr = shared_base(map->file) + addr;
	spot->file = addr >= f->begin && addr < f->end ? map->file : FILE_SLOW;
}

uint64_t space_addr(const struct spaces *all, const struct space *s, uint64_t addr)
{
	uint64_t file = (addr - SHARED_BEGIN) / SHARED_SIZE;

	if (addr < SHARED_BEGIN || file >= all->nr_files)
		return addr;
	if (s && file < s->nr_biases && s->biases[file] != BIAS_NONE)
		return addr + s->biases[file];
	for (size_t i = 0; s && i < s->nr; i++)
		if (s->maps[i].file == file)
			return addr + shared_bias(&s->maps[i]);
	return addr + all->files[file].bias;
}

/* --- Mapping ------------------------------------------------------------------------ */

/* Unmap @map's range. Report whether @map replaces an old mapping that contained other code. */
static bool cut(const struct spaces *all, struct space *s, const struct map *map)
{
	bool other = false;

	for (size_t i = 0; i < s->nr; i++) {
		struct map *m = &s->maps[i], tail;

		if (m->end <= map->addr || m->addr >= map->end)
			continue;
		if (m->object != map->object || m->bias != map->bias) {
			other = true;
			if (m->file)
				set_bias(all, s, m->file, BIAS_NONE);
		}
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
	struct map new = *map;
	const struct shared_file *f;
	size_t at = 0;

	s->used = ++all->clock;
	if (map->end <= map->addr)
		return;
	new.file = file_of(all, s, map);
	if (cut(all, s, &new) || s->missed) {
		s->id = ++all->last_id;
		s->missed = false;
	}
	while (at < s->nr && s->maps[at].addr < map->addr)
		at++;
	insert(s, at, &new);
	f = &all->files[new.file];
	if (new.file && new.addr - new.bias <= f->begin && new.end - new.bias >= f->end)
		set_bias(all, s, new.file, shared_bias(&new));
}

void spaces_free(struct spaces *all)
{
	struct space *next;

	for (struct space *s = all->list; s; s = next) {
		next = s->next;
		free(s->maps);
		free(s->biases);
		free(s);
	}
}
