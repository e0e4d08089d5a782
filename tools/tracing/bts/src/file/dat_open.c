// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a trace.dat file of version 6 or 7 (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)).
 *
 *	magic, version, page size, compression, offset of the options
 *	sections: formats of events | kallsyms | command lines | options
 *	data:     CPU 0: page page page ...  CPU 1: page page ...
 *
 * This reader does not use the library libtracecmd, for these reasons:
 *	- libtracecmd decompresses the whole file into a temporary file before it returns a page.
 *	- libtracecmd cannot read a truncated file, because the options at its end are missing.
 *	- If a file is damaged, libtracecmd reads beyond the end of a buffer.
 *	- libtracecmd allows one thread per handle, but bts reads each CPU in a separate thread.
 *
 * This reader reads the sections in file order, and checks every number before use. The reader
 * reports the first damaged part and its offset, and still uses the intact parts of the file. The
 * reader does not map the file into memory, because a mapped file that shrinks causes a SIGBUS. If
 * the file shrinks, pread() returns fewer bytes than requested, which does no harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "lib/path.h"
#include "dat.h"
#include "dat_parts.h"
#include "trace_dat.h"

#define DAT_HEADER_MAX	256
#define DAT_PAGE_MAX	(1U << 20)

static bool dat_compression(struct dat *dat, struct dat_bytes *b, struct error *e)
{
	dat->compression = mem_strdup(dat_string(b));
	dat_string(b);
	dat->zstd = !strcmp(dat->compression, "zstd");
	if (b->bad || dat->zstd || !strcmp(dat->compression, "none"))
		return true;
	return error_set(e, EOPNOTSUPP, "read", dat->path,
			 "compressed with %s; bts reads only zstd", dat->compression);
}

/* Read the header of version 6 or 7. Return the offset of the header's end, or 0 on failure. */
static uint64_t dat_header(struct dat *dat, struct error *e)
{
	const size_t magic = strlen(DAT_MAGIC);
	uint8_t header[DAT_HEADER_MAX];
	struct dat_bytes b = { .at = header };
	const uint8_t *flags;

	b.end = header + dat_read(dat, header, sizeof(header), 0);
	if (b.end - b.at < (long)magic || memcmp(b.at, DAT_MAGIC, magic)) {
		error_set(e, EBADMSG, "read", dat->path, "not a trace.dat file");
		return 0;
	}
	dat_skip(&b, magic);
	dat->version = strtoul(dat_string(&b), NULL, 10);
	flags = dat_skip(&b, 2);
	dat->page_size = dat_u32(&b);
	if (dat->version == 7) {
		if (!dat_compression(dat, &b, e))
			return 0;
		dat_u64(&b);
	} else {
		dat->compression = mem_strdup("none");
	}
	if (b.bad || !flags) {
		error_set(e, EBADMSG, "read", dat->path,
			  "offset %#llx: the file is truncated in the header",
			  (unsigned long long)dat->size);
		return 0;
	}
	if ((dat->version != 6 && dat->version != 7) || flags[0] || flags[1] != 8 ||
	    dat->page_size < 4096 || dat->page_size > DAT_PAGE_MAX) {
		error_set(e, EOPNOTSUPP, "read", dat->path,
			  "offset 0xa: the file is not from a 64-bit x86 machine, "
			  "or its version (%u) is unknown",
			  dat->version);
		return 0;
	}
	return b.at - header;
}

/* Copy @from to a temporary file. Return the copy's descriptor, or return -1 and set errno. */
static int copy_all(int from)
{
	FILE *file = tmpfile();
	int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;
	char bytes[1 << 16];
	ssize_t n = 0;

	if (file)
		fclose(file);
	while (fd >= 0 && (n = read(from, bytes, sizeof(bytes))) && (n > 0 || errno == EINTR))
		if (n > 0 && path_write_all(fd, bytes, n))
			break;
	if (fd < 0 || !n)
		return fd;
	close(fd);
	return -1;
}

/* Open standard input or, if standard input is not a regular file, a temporary copy of it. */
static int open_stdin(void)
{
	struct stat st;

	if (!fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	return copy_all(STDIN_FILENO);
}

struct dat *dat_open(const char *path, struct error *e)
{
	struct dat *dat = mem_zalloc(1, sizeof(*dat));
	bool input = !strcmp(path, "-");
	struct stat st;
	uint64_t offset;

	dat->path = mem_strdup(input ? "standard input" : path);
	dat->time_to = UINT64_MAX;
	pthread_mutex_init(&dat->lock, NULL);
	dat->fd = input ? open_stdin() : open(path, O_RDONLY | O_CLOEXEC);
	if (dat->fd < 0 || fstat(dat->fd, &st)) {
		error_errno(e, "read", dat->path);
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		error_set(e, EINVAL, "read", dat->path, "not a regular file");
		goto fail;
	}
	dat->size = st.st_size;
	offset = dat_header(dat, e);
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
	for (size_t i = 0; i < dat->nr_cpus; i++) {
		free((char *)dat->cpus[i].instance);
		free(dat->cpus[i].times);
	}
	free(dat->formats);
	free(dat->stats);
	free(dat->cpus);
	free(dat->header_page.text);
	free(dat->kallsyms.text);
	free(dat->cmdlines.text);
	free(dat->uname.text);
	free(dat->clock.text);
	free(dat->info.text);
	free(dat->index.text);
	free(dat->compression);
	free(dat->error);
	free(dat->path);
	pthread_mutex_destroy(&dat->lock);
	free(dat);
}
