/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read bytes of a trace.dat file, and parse the parts that versions 6 and 7 have in common.
 *
 * Included by: file/dat_*.c.
 */
#ifndef BTS_DAT_PARTS_H
#define BTS_DAT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dat;
struct dat_cpu;
struct dat_text;

/* A cursor in a buffer (dat_bytes.c). Reading past @end sets @bad, which is never cleared. */
struct dat_bytes {
	const uint8_t	*at;
	const uint8_t	*end;
	bool		bad;
};

uint64_t dat_u64(struct dat_bytes *b);
uint32_t dat_u32(struct dat_bytes *b);
uint16_t dat_u16(struct dat_bytes *b);
const char *dat_string(struct dat_bytes *b);
const uint8_t *dat_skip(struct dat_bytes *b, uint64_t size);

/* Read @size bytes, or fewer at the end of the file. Return the number of bytes read. */
size_t dat_read(struct dat *dat, void *buffer, size_t size, uint64_t offset);

/* Decompress @in to exactly @out_size bytes. Return false if @in is damaged. */
bool dat_inflate(const void *in, size_t in_size, void *out, size_t out_size);

/* dat_parts.c: parse the bytes at the cursor @b, and store the result in @dat or @text. */
void dat_header_info(struct dat *dat, struct dat_bytes *b);
void dat_ftrace_formats(struct dat *dat, struct dat_bytes *b);
void dat_event_formats(struct dat *dat, struct dat_bytes *b);
void dat_option(struct dat *dat, unsigned int id, struct dat_bytes *b);
void dat_text(struct dat_text *text, struct dat_bytes *b, uint64_t size);
struct dat_cpu *dat_add_cpu(struct dat *dat, int cpu);

/* dat_index.c: if the file has an index (DAT_SECTION_INDEX), set dat_cpu.times of each CPU. */
void dat_index(struct dat *dat);

/*
 * dat_v7.c, dat_v6.c: read the part of the file that follows the header and begins at @offset. If
 * the file is damaged, call dat_damage(), and keep the intact parts.
 */
void dat_read_v7(struct dat *dat, uint64_t offset);
void dat_read_v6(struct dat *dat, uint64_t offset);

#endif
