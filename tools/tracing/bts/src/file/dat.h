/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the sections of a trace.dat file, and the ring-buffer pages of each CPU.
 *
 * Included by: file/, flow/, cmd/info.c, record/restore.c.
 */
#ifndef BTS_DAT_H
#define BTS_DAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A NUL-terminated text section. If the file does not contain the section, @text is NULL. */
struct dat_text {
	char		*text;
	size_t		size;
};

/*
 * The pages of one CPU in one instance. The top-level instance is "". A chunk is a group of pages
 * compressed together. If there is an index, @times has each chunk's time and flags (DAT_INDEX_*).
 */
struct dat_cpu {
	int		cpu;
	bool		compressed;
	uint32_t	page_size;
	uint64_t	offset;
	uint64_t	size;
	const char	*instance;
	uint64_t	*times;
	uint32_t	nr_times;
};

/* Report whether the pages are from the instance DAT_MAPS, which contains only mappings. */
bool dat_cpu_is_maps(const struct dat_cpu *cpu);

struct dat {
	char		*path;
	int		fd;
	uint64_t	size;
	unsigned int	version;
	uint32_t	page_size;
	bool		zstd;
	char		*compression;
	struct dat_text	header_page;
	struct dat_text	*formats;
	size_t		nr_formats;
	struct dat_text	kallsyms;
	struct dat_text	cmdlines;
	struct dat_text	uname;
	struct dat_text	clock;
	/* The "key: value" lines that bts record writes. */
	struct dat_text	info;
	struct dat_text	index;
	struct dat_text	*stats;
	size_t		nr_stats;
	struct dat_cpu	*cpus;
	size_t		nr_cpus;
	uint64_t	data_offset;
	uint64_t	data_size;
	/* The wanted time range, including both ends. Earlier mapping rows are read, too. */
	uint64_t	time_from;
	uint64_t	time_to;
	/* The first damage that dat_damage() reported, or NULL. Protected by @lock. */
	char		*error;
	pthread_mutex_t	lock;
};

struct error;

/* Return NULL and set @e if the file cannot be read or is not a trace.dat. */
struct dat *dat_open(const char *path, struct error *e);
void dat_close(struct dat *dat);

/* Report damage at an offset in the file. Only the first report is kept. Context: any thread. */
void dat_damage(struct dat *dat, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * struct dat_pages - an iterator over the pages of one CPU
 * @chunks:	number of chunks of this CPU
 * @chunk:	number of chunks that were read or skipped
 * @lost:	set if unreadable pages were skipped to reach the next page or the end. The caller
 *		clears this flag
 */
struct dat_pages {
	struct dat	*dat;
	struct dat_cpu	*cpu;
	uint8_t		*raw;
	size_t		raw_size;
	uint8_t		*pages;
	size_t		pages_size;
	size_t		pages_room;
	size_t		next;
	uint64_t	at;
	uint64_t	page_offset;
	uint32_t	chunks;
	uint32_t	chunk;
	bool		lost;
	uint64_t	bytes;
};

void dat_pages_open(struct dat_pages *p, struct dat *dat, struct dat_cpu *cpu);
/* Return the next page of cpu->page_size bytes, or NULL at the end of the CPU's data. */
const uint8_t *dat_pages_next(struct dat_pages *p);
/* Report whether the latest page from dat_pages_next() ends before the wanted time range. */
bool dat_pages_early(const struct dat_pages *p);
void dat_pages_close(struct dat_pages *p);

#endif
