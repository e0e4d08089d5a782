/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace.dat file: what its sections hold, and the ring-buffer pages of each CPU.
 *
 * Included by: file/, flow/, cmd/info.c.
 */
#ifndef BTS_DAT_H
#define BTS_DAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text section, NUL-terminated; NULL if the file has none. */
struct dat_text {
	char		*text;
	size_t		size;
};

/* The pages of one CPU in one buffer (the top-level one, or an instance's). */
struct dat_cpu {
	int		cpu;
	bool		compressed;
	uint32_t	page_size;
	uint64_t	offset;
	uint64_t	size;
	const char	*instance;
};

struct dat {
	char		*path;
	int		fd;
	uint64_t	size;
	unsigned int	version;
	unsigned int	long_size;
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
	/* "key: value" lines of bts record. */
	struct dat_text	info;
	struct dat_text	*stats;
	size_t		nr_stats;
	struct dat_cpu	*cpus;
	size_t		nr_cpus;
	uint64_t	data_offset;
	uint64_t	data_size;
	/* The first thing that was wrong with the file, with its offset; under @lock. */
	char		*error;
	pthread_mutex_t	lock;
};

struct error;

/* NULL, with @e set, if the file cannot be read or is no trace.dat. */
struct dat *dat_open(const char *path, struct error *e);
void dat_close(struct dat *dat);

/* What was wrong, at this offset of the file. Only the first is kept. Any thread. */
void dat_damage(struct dat *dat, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The pages of a CPU, one after the other. */
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
	uint64_t	bytes;
};

void dat_pages_open(struct dat_pages *p, struct dat *dat, struct dat_cpu *cpu);
/* The next page, of cpu->page_size bytes; NULL at the end. */
const uint8_t *dat_pages_next(struct dat_pages *p);
void dat_pages_close(struct dat_pages *p);

#endif
