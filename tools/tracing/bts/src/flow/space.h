/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep the mappings of each process (address space) up to date while the trace is read.
 *
 * Included by: flow/.
 */
#ifndef BTS_SPACE_H
#define BTS_SPACE_H

#include "symbols/object.h"

/*
 * Processes map the same file at different addresses. A struct step (pipeline.h) contains shared
 * addresses instead, which are equal in all processes. A shared address is SHARED_BEGIN, plus the
 * number of the file times SHARED_SIZE, plus the ELF address. Even with LA57, user space ends below
 * SHARED_BEGIN. Kernel addresses and addresses outside files are not converted.
 */
#define SHARED_BEGIN	(1ULL << 57)
#define SHARED_SIZE	(1ULL << 45)
#define SHARED_MAX	1024

/* FILE_NONE: not a shared address. FILE_SLOW: a shared address outside the file's first mapping. */
enum { FILE_NONE, FILE_SLOW, FILE_FIRST };

/* This bias means that the space does not map the file from shared_file.begin to .end. */
#define BIAS_NONE	(1ULL << 62)

/**
 * struct shared_file - a file whose addresses bts converts to shared addresses (see SHARED_BEGIN).
 * If a process maps the file twice, with different biases, the file has two of these structures
 * @begin:	the ELF address at which the file's first mapping starts; the mapping ends at @end
 * @bias:	subtract this number from an address in the first mapping to get the shared address
 */
struct shared_file {
	const struct object	*object;
	uint64_t		begin;
	uint64_t		end;
	uint64_t		bias;
};

/**
 * struct map - a mapping of a process
 * @bias:	the number to subtract from an address to get the address in the object
 * @file:	the index of the file in spaces.files, or FILE_NONE
 */
struct map {
	uint64_t	addr;
	uint64_t	end;
	uint64_t	bias;
	struct object	*object;
	uint16_t	file;
};

/**
 * struct space - the mappings of a process
 * @id:		a number that changes whenever the meaning of an address may have changed
 * @maps:	the mappings, sorted, without overlap
 * @missed:	the lookup of an address has failed since @id last changed
 * @biases:	for each file, the process's address minus the shared address (see SHARED_BEGIN)
 */
struct space {
	int			tgid;
	uint32_t		id;
	struct map		*maps;
	size_t			nr;
	bool			missed;
	uint64_t		used;
	uint64_t		*biases;
	uint32_t		nr_biases;
	struct space		*next;
	struct space		*hash_next;
};

#define SPACE_BUCKETS	(1U << 14)

struct spaces {
	struct space		*list;
	struct space		*buckets[SPACE_BUCKETS];
	uint32_t		last_id;
	uint64_t		clock;
	struct objects		*objects;
	struct shared_file	files[SHARED_MAX];
	uint32_t		nr_files;
};

/**
 * struct spot - the result of looking up an address of a process
 * @addr:	the shared address (see SHARED_BEGIN); if @file is FILE_NONE, the process's address
 * @map:	the mapping, or NULL if the address is in the kernel or not mapped
 * @file:	FILE_NONE, FILE_SLOW or the index of the file in spaces.files
 */
struct spot {
	uint64_t		addr;
	const struct map	*map;
	uint32_t		file;
};

void spaces_init(struct spaces *all, struct objects *objects);
struct space *space_get(struct spaces *all, int tgid);
/* Return the most recently changed space that maps both addresses, or NULL. */
struct space *space_guess(struct spaces *all, uint64_t a, uint64_t b);
void space_map(struct spaces *all, struct space *s, const struct map *map);
const struct map *space_find(struct space *s, uint64_t addr);
/*
 * Set the members of @spot for a user-space address (see struct spot). @s may be NULL. @guess is
 * NULL or a mapping that probably contains the address.
 */
void space_spot(const struct spaces *all, struct space *s, uint64_t addr, const struct map *guess,
		struct spot *spot);
/*
 * Convert a shared address (a place in a file, see SHARED_BEGIN) to the address in the space @s. If
 * @s is NULL or does not map the file, use the file's first mapping. Do not change other addresses.
 */
uint64_t space_addr(const struct spaces *all, const struct space *s, uint64_t addr);
/* Return the biases of @s, indexed by file number. If @s is NULL, all biases are 0. */
const uint64_t *space_biases(const struct spaces *all, struct space *s);
void spaces_free(struct spaces *all);

#endif
