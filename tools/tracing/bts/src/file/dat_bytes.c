// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read and decompress bytes of a trace.dat file. Parse the bytes with a cursor that never reads
 * beyond its buffer. Store a description of the first error.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/mem.h"
#include "dat.h"
#include "dat_parts.h"

const uint8_t *dat_skip(struct dat_bytes *b, uint64_t size)
{
	const uint8_t *at = b->at;

	if (b->bad || size > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return NULL;
	}
	b->at += size;
	return at;
}

/* Copy a number's bytes unchanged, because both the file and this machine are little-endian. */
static uint64_t dat_number(struct dat_bytes *b, size_t size)
{
	const uint8_t *at = dat_skip(b, size);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, size);
	return value;
}

uint64_t dat_u64(struct dat_bytes *b)
{
	return dat_number(b, 8);
}

uint32_t dat_u32(struct dat_bytes *b)
{
	return dat_number(b, 4);
}

uint16_t dat_u16(struct dat_bytes *b)
{
	return dat_number(b, 2);
}

const char *dat_string(struct dat_bytes *b)
{
	const uint8_t *nul = NULL, *at = b->at;

	if (!b->bad && b->at < b->end)
		nul = memchr(b->at, 0, b->end - b->at);
	if (!nul) {
		b->bad = true;
		return "";
	}
	b->at = nul + 1;
	return (const char *)at;
}

void dat_damage(struct dat *dat, uint64_t offset, const char *format, ...)
{
	char *reason, *text;
	va_list args;

	va_start(args, format);
	reason = mem_vformat(format, args);
	va_end(args);
	text = mem_format("offset %#llx: %s", (unsigned long long)offset, reason);
	free(reason);
	pthread_mutex_lock(&dat->lock);
	if (!dat->error) {
		dat->error = text;
		text = NULL;
	}
	pthread_mutex_unlock(&dat->lock);
	free(text);
}

size_t dat_read(struct dat *dat, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(dat->fd, (char *)buffer + done, size - done, offset + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			dat_damage(dat, offset + done, "%s", strerror(errno));
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

bool dat_inflate(const void *in, size_t in_size, void *out, size_t out_size)
{
	return ZSTD_decompress(out, out_size, in, in_size) == out_size;
}
