// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a trace.dat file, versions 6 and 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)).
 *
 *	magic, version, page size, compression, offset of the options
 *	sections: formats of events | kallsyms | command lines | options
 *	data:     CPU 0: page page page ...  CPU 1: page page ...
 *
 * Not with libtracecmd, for four reasons. It unpacks all of a compressed file into a
 * temporary one before the first page. It finds everything by the options, which are
 * written last: of a file that was cut it reads nothing. It reads outside its buffers
 * when a file is damaged. And a handle of it belongs to one thread, where here each CPU
 * has its own.
 *
 * So the sections are walked from the first one on, and every number from the file is
 * checked before it is used. What is wrong is noted once, with its offset, and what
 * came before is used. Nothing is mapped: a file that shrinks while it is read is one
 * that is cut.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "dat.h"

static const uint8_t dat_magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

#define DAT_HEADER_MAX	256
#define DAT_PAGE_MAX	(1U << 20)

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

/* Little-endian, as the machine. */
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
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char reason[256];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	if (!dat->error)
		dat->error = mem_format("offset %#llx: %s", (unsigned long long)offset, reason);
	pthread_mutex_unlock(&lock);
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

void dat_text(struct dat_text *text, struct dat_bytes *b, uint64_t size)
{
	const uint8_t *at = dat_skip(b, size);

	if (!at || text->text)
		return;
	text->text = mem_alloc(size + 1);
	memcpy(text->text, at, size);
	text->text[size] = 0;
	text->size = size;
}

static void dat_add_format(struct dat *dat, struct dat_bytes *b)
{
	struct dat_text text = {};

	dat_text(&text, b, dat_u64(b));
	if (!text.text)
		return;
	dat->formats = mem_realloc(dat->formats, dat->nr_formats + 1, sizeof(*dat->formats));
	dat->formats[dat->nr_formats++] = text;
}

void dat_header_info(struct dat *dat, struct dat_bytes *b)
{
	struct dat_text unused = {};

	if (strcmp(dat_string(b), "header_page"))
		b->bad = true;
	dat_text(&dat->header_page, b, dat_u64(b));
	if (strcmp(dat_string(b), "header_event"))
		b->bad = true;
	dat_text(&unused, b, dat_u64(b));
	free(unused.text);
}

void dat_ftrace_formats(struct dat *dat, struct dat_bytes *b)
{
	for (uint32_t n = dat_u32(b); n && !b->bad; n--)
		dat_add_format(dat, b);
}

void dat_event_formats(struct dat *dat, struct dat_bytes *b)
{
	for (uint32_t systems = dat_u32(b); systems && !b->bad; systems--) {
		dat_string(b);
		for (uint32_t n = dat_u32(b); n && !b->bad; n--)
			dat_add_format(dat, b);
	}
}

struct dat_cpu *dat_add_cpu(struct dat *dat, int cpu)
{
	struct dat_cpu *c;

	dat->cpus = mem_realloc(dat->cpus, dat->nr_cpus + 1, sizeof(*dat->cpus));
	c = &dat->cpus[dat->nr_cpus++];
	*c = (struct dat_cpu) { .cpu = cpu, .page_size = dat->page_size };
	return c;
}

/* The options that both versions have; others are skipped. */
void dat_option(struct dat *dat, unsigned int id, struct dat_bytes *b)
{
	uint64_t size = b->end - b->at;

	switch (id) {
	case 2:
		dat->stats = mem_realloc(dat->stats, dat->nr_stats + 1, sizeof(*dat->stats));
		dat->stats[dat->nr_stats] = (struct dat_text) {};
		dat_text(&dat->stats[dat->nr_stats++], b, size);
		break;
	case 4:
		dat_text(&dat->clock, b, size);
		break;
	case 5:
		dat_text(&dat->uname, b, size);
		break;
	}
}

static bool dat_compression(struct dat *dat, struct dat_bytes *b)
{
	dat->compression = mem_strdup(dat_string(b));
	dat_string(b);
	dat->zstd = !strcmp(dat->compression, "zstd");
	if (b->bad || dat->zstd || !strcmp(dat->compression, "none"))
		return true;
	msg_error("read", dat->path, "compressed with %s; only zstd can be read",
		  dat->compression);
	return false;
}

/* What is the same in both versions; returns where the rest begins, 0 if nowhere. */
static uint64_t dat_header(struct dat *dat)
{
	uint8_t header[DAT_HEADER_MAX];
	struct dat_bytes b = { .at = header };
	const uint8_t *flags;

	b.end = header + dat_read(dat, header, sizeof(header), 0);
	if (b.end - b.at < (long)sizeof(dat_magic) || memcmp(b.at, dat_magic, sizeof(dat_magic))) {
		msg_error("read", dat->path, "not a trace.dat file");
		return 0;
	}
	dat_skip(&b, sizeof(dat_magic));
	dat->version = strtoul(dat_string(&b), NULL, 10);
	flags = dat_skip(&b, 2);
	dat->page_size = dat_u32(&b);
	if (dat->version == 7) {
		if (!dat_compression(dat, &b))
			return 0;
		dat_u64(&b);
	}
	if (b.bad || !flags) {
		msg_error("read", dat->path, "cut at offset %#llx, in the header",
			  (unsigned long long)dat->size);
		return 0;
	}
	dat->long_size = flags[1];
	if ((dat->version != 6 && dat->version != 7) || flags[0] || flags[1] != 8 ||
	    dat->page_size < 4096 || dat->page_size > DAT_PAGE_MAX) {
		msg_error("read", dat->path,
			  "offset 0xa: not of a 64-bit x86 machine, or of a version not known (%u)",
			  dat->version);
		return 0;
	}
	return b.at - header;
}

struct dat *dat_open(const char *path)
{
	struct dat *dat = mem_zalloc(1, sizeof(*dat));
	struct stat st;
	uint64_t offset;

	dat->path = mem_strdup(path);
	dat->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (dat->fd < 0 && errno == ENOENT && !strcmp(path, DAT_NAME)) {
		msg_error("read", path, "%s; bts record makes it, -i FILE names another",
			  strerror(errno));
		goto fail;
	}
	if (dat->fd < 0 || fstat(dat->fd, &st)) {
		msg_errno("read", path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		msg_error("read", path, "not a regular file");
		goto fail;
	}
	dat->size = st.st_size;
	offset = dat_header(dat);
	if (!offset)
		goto fail;
	if (dat->version == 7)
		dat_read_v7(dat, offset);
	else
		dat_read_v6(dat, offset);
	for (size_t i = 0; i < dat->nr_cpus; i++)
		dat->data_size += dat->cpus[i].size;
	return dat;
fail:
	dat_close(dat);
	return NULL;
}

void dat_close(struct dat *dat)
{
	if (dat->fd >= 0)
		close(dat->fd);
	for (size_t i = 0; i < dat->nr_formats; i++)
		free(dat->formats[i].text);
	for (size_t i = 0; i < dat->nr_stats; i++)
		free(dat->stats[i].text);
	for (size_t i = 0; i < dat->nr_cpus; i++)
		free((char *)dat->cpus[i].instance);
	free(dat->formats);
	free(dat->stats);
	free(dat->cpus);
	free(dat->header_page.text);
	free(dat->kallsyms.text);
	free(dat->cmdlines.text);
	free(dat->uname.text);
	free(dat->clock.text);
	free(dat->info.text);
	free(dat->compression);
	free(dat->error);
	free(dat->path);
	free(dat);
}
