// SPDX-License-Identifier: GPL-2.0-only
/*
 * Complete the trace of a recording that was killed.
 *
 *	FILE.new		formats, symbols, and a draft of the BTS section
 *	FILE.new.cpuN		the compressed chunks of each CPU
 *	FILE.new.maps.cpuN	the compressed chunks with a flight recorder's mappings
 *
 * If bts was killed during the recording, bts restore replaces the draft, and completes the trace
 * as bts record would have done. If a CPU's last chunk is incomplete, bts restore omits it.
 *
 * If bts was killed while it copied the chunks into FILE.new, bts restore continues the copying.
 * bts frees a block of FILE.new.cpuN only after it has copied the block to FILE.new. So no block is
 * lost, and the size of FILE.new shows which block must be copied next.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/dat.h"
#include "file/format.h"
#include "lib/causes.h"
#include "lib/error.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "restore.h"
#include "writer_parts.h"

enum {
	HEAD_SIZE	= 256,
	CHUNK_HEAD	= 8,
	CHUNK_MAX	= 256 << 20,
};

/* --- The sections ------------------------------------------------------------------- */

/* Find the end of the header, skipping its two strings. dat_open() has checked the header. */
static void skip_head(struct writer *w)
{
	char head[HEAD_SIZE + 1] = {};
	size_t at = sizeof(DAT_MAGIC "7") + 6;

	if (pread(w->fd, head, HEAD_SIZE, 0) < 0)
		return;
	at += strlen(head + at) + 1;
	at += strlen(head + at) + 1;
	w->first_options = at;
	w->size = at + sizeof(uint64_t);
}

/* Add one section's size to w->size. Return false at the data section or an incomplete section. */
static bool next_section(struct restore *r, off_t file_size)
{
	struct writer *w = r->writer;
	struct { uint16_t id, flags; uint32_t name; uint64_t size; } head;

	if (pread(w->fd, &head, sizeof(head), w->size) != sizeof(head))
		return false;
	if (!writer_section_name(head.id))
		return false;
	if (head.id == DAT_SECTION_DATA) {
		r->data = w->size;
		writer_name(w, head.id);
		return false;
	}
	if (head.size > (uint64_t)(file_size - w->size) - sizeof(head))
		return false;
	if (!w->draft && (head.id == DAT_SECTION_BTS || head.id == DAT_SECTION_CMDLINES)) {
		w->draft = w->size;
		w->draft_strings = w->strings.size;
	}
	if (head.id <= LAST_SECTION)
		w->section[head.id] = w->size;
	writer_name(w, head.id);
	w->size += sizeof(head) + head.size;
	return true;
}

static void read_sections(struct restore *r, off_t file_size)
{
	struct writer *w = r->writer;

	skip_head(w);
	while (next_section(r, file_size))
		;
	if (w->draft)
		return;
	w->draft = w->size;
	w->draft_strings = w->strings.size;
}

static int offset_of(const struct format *format, const char *name)
{
	const struct format_field *field = format ? format_field(format, name, 0) : NULL;

	return field ? (int)field->offset : -1;
}

static int id_of(const struct format *format)
{
	return format ? (int)format->id : -1;
}

static void read_events(struct restore *r, struct dat *dat)
{
	const struct format *pack, *departs, *arrives;
	struct formats formats = {};

	formats_read(&formats, dat);
	pack = format_named(&formats, "bts_pack");
	departs = format_named(&formats, "bts_departs");
	arrives = format_named(&formats, "bts_arrives");
	r->events = (struct look_events) {
		.branch		= id_of(format_named(&formats, "bts_branch")),
		.pack		= id_of(pack),
		.departs	= id_of(departs),
		.arrives	= id_of(arrives),
		.map		= id_of(format_named(&formats, "bts_map")),
		.pack_nr	= offset_of(pack, "nr"),
		.departs_comm	= offset_of(departs, "comm"),
		.arrives_comm	= offset_of(arrives, "comm"),
	};
	formats_free(&formats);
}

/* Open FILE.new by its descriptor, because its name may now belong to another file. */
static int read_texts(struct restore *r)
{
	char *path = mem_format("/proc/self/fd/%d", r->writer->fd);
	struct error error = {};
	struct dat *dat = dat_open(path, &error);

	free(path);
	if (!dat || dat->version != 7 || !dat->zstd) {
		msg_error("restore", r->writer->temporary, "not the beginning of a trace");
		error_free(&error);
		if (dat)
			dat_close(dat);
		return -1;
	}
	r->writer->page_size = dat->page_size;
	if (dat->info.text)
		r->info = mem_strdup(dat->info.text);
	r->ended = stats_number(r->info, "data_bytes");
	r->cmdlines = mem_strdup(dat->cmdlines.text ? dat->cmdlines.text : "");
	read_events(r, dat);
	dat_close(dat);
	return 0;
}

/* --- The CPUs ----------------------------------------------------------------------- */

/* Open a regular file that this user owns. On failure, return -1 and set errno. */
static int open_own(const char *path, struct stat *st)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_uid == geteuid())
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* Return the text after @prefix, or NULL if @text does not begin with @prefix. */
static const char *after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) ? NULL : text + length;
}

/* Return N if @name has the form @file.cpuN or @file.maps.cpuN. Otherwise, return -1. */
static int part_of_name(const char *name, const char *file, const char **instance)
{
	const char *at = after(name, file);
	const char *maps = at ? after(at, "." DAT_MAPS) : NULL;
	char *end;
	int cpu;

	*instance = maps ? DAT_MAPS : "";
	at = at ? after(maps ? maps : at, ".cpu") : NULL;
	if (!at)
		return -1;
	cpu = strtol(at, &end, 10);
	return *end || end == at ? -1 : cpu;
}

/* If @name is the name of a CPU's part of the recording, add the part to the writer. */
static int add_part(struct restore *r, const char *dir, const char *name, const char *file)
{
	const char *instance;
	int number = part_of_name(name, file, &instance), fd;
	struct writer_cpu *cpu;
	struct stat st;
	char *path;

	if (number < 0)
		return 0;
	path = mem_format("%s%s", dir, name);
	fd = open_own(path, &st);
	if (fd < 0) {
		msg_errno("restore", path);
		free(path);
		return -1;
	}
	r->written = st.st_mtime > r->written ? st.st_mtime : r->written;
	cpu = mem_zalloc(1, sizeof(*cpu));
	*cpu = (struct writer_cpu) {
		.w = r->writer, .instance = instance, .cpu = number, .fd = fd, .name = path,
		.size = st.st_size,
	};
	writer_insert_cpu(r->writer, cpu);
	return 0;
}

static int add_parts(struct restore *r)
{
	const char *path = r->writer->temporary, *slash = strrchr(path, '/');
	char *dir = mem_format("%.*s", slash ? (int)(slash - path + 1) : 0, path);
	DIR *stream = opendir(*dir ? dir : ".");
	struct dirent *entry;
	int ret = 0;

	if (!stream)
		ret = msg_errno("open", *dir ? dir : ".");
	while (!ret && (entry = readdir(stream)))
		ret = add_part(r, dir, entry->d_name, slash ? slash + 1 : path);
	if (stream)
		closedir(stream);
	free(dir);
	return ret ? -1 : 0;
}

/* --- If bts was killed during the recording ----------------------------------------- */

/* Read the chunk at @at. Return the decompressed size, or 0 if the chunk is incomplete. */
static size_t read_chunk(struct writer_cpu *cpu, off_t at, off_t *next, void **pages)
{
	uint32_t sizes[2];
	size_t size = 0;
	void *packed;

	if (pread(cpu->fd, sizes, CHUNK_HEAD, at) != CHUNK_HEAD || !sizes[0] || !sizes[1] ||
	    sizes[1] > CHUNK_MAX || sizes[1] % cpu->w->page_size ||
	    sizes[0] > cpu->size - at - CHUNK_HEAD)
		return 0;
	packed = mem_alloc(sizes[0]);
	*pages = mem_alloc(sizes[1]);
	if (pread(cpu->fd, packed, sizes[0], at + CHUNK_HEAD) == sizes[0])
		size = ZSTD_decompress(*pages, sizes[1], packed, sizes[0]);
	*next = at + CHUNK_HEAD + sizes[0];
	free(packed);
	if (size == sizes[1])
		return size;
	free(*pages);
	return 0;
}

static void add_chunk(struct writer_cpu *cpu, struct look *look, char *pages, size_t size)
{
	uint64_t time;

	look->branches = 0;
	look->maps = false;
	for (size_t at = 0; at < size; at += cpu->w->page_size)
		look_at_page(look, pages + at, cpu->w->page_size);
	memcpy(&time, pages, sizeof(time));
	bytes_add64(&cpu->times, time | (look->maps ? DAT_INDEX_MAPS : 0));
	cpu->branches += look->branches;
	cpu->nr_chunks++;
}

/* Scan all chunks of a part, and remove an incomplete chunk at the end. */
static int scan_cpu(struct restore *r, struct writer_cpu *cpu)
{
	off_t at = 0, next = 0;
	struct look look;
	void *pages;
	size_t size;

	look_open(&look, &r->events);
	while ((size = read_chunk(cpu, at, &next, &pages))) {
		add_chunk(cpu, &look, pages, size);
		free(pages);
		at = next;
	}
	r->counts.switches += look.counts.switches;
	if (!*cpu->instance)
		r->counts.overwritten += look.counts.overwritten;
	names_add_all(&r->counts.names, &look.counts.names);
	look_close(&look);
	r->nr_cut += !r->ended && at && !*cpu->instance;
	if (at < cpu->size && ftruncate(cpu->fd, at))
		return msg_errno("truncate", cpu->name);
	cpu->size = at;
	return 0;
}

/* --- If bts was killed while it copied the data ------------------------------------- */

static void count_chunks(struct writer_cpu *cpu)
{
	uint32_t sizes[2];

	for (off_t at = 0; at < cpu->size; at += CHUNK_HEAD + sizes[0]) {
		if (pread(cpu->fd, sizes, CHUNK_HEAD, at) != CHUNK_HEAD)
			break;
		cpu->nr_chunks++;
	}
}

static unsigned long long unwritten_of(const struct restore *r, int cpu)
{
	char *key = mem_format(DAT_UNWRITTEN_CPU, cpu);
	unsigned long long unwritten = stats_number(r->info, key);

	free(key);
	return unwritten;
}

/*
 * Return the first writer_cpu whose part of the data section is incomplete, or NULL if all parts
 * are complete. Set w->size to the end of the last complete part.
 */
static struct writer_cpu *incomplete_part(struct restore *r, off_t file_size)
{
	struct writer *w = r->writer;
	struct writer_cpu *cpu;

	w->size = r->data + DAT_SECTION_HEADER;
	for (cpu = w->cpus; cpu; cpu = cpu->next) {
		off_t end;

		if (!*cpu->instance)
			cpu->unwritten = unwritten_of(r, cpu->cpu);
		if (!writer_was_used(cpu))
			continue;
		cpu->offset = (w->size + w->page_size - 1) / w->page_size * w->page_size;
		end = cpu->offset + sizeof(uint32_t) + cpu->size;
		if (file_size < end)
			break;
		w->size = end;
	}
	return cpu;
}

static int resume_copy(struct restore *r, off_t file_size)
{
	struct writer *w = r->writer;
	struct writer_cpu *cpu = incomplete_part(r, file_size);
	off_t copied = cpu ? file_size - cpu->offset - (off_t)sizeof(uint32_t) : 0;

	if (cpu && copied > 0) {
		w->size = file_size;
		r->first = cpu->next;
	} else {
		r->first = cpu;
	}
	for (struct writer_cpu *rest = r->first; rest; rest = rest->next)
		count_chunks(rest);
	if (ftruncate(w->fd, w->size) || lseek(w->fd, w->size, SEEK_SET) < 0) {
		msg_errno("truncate", w->temporary);
		return -1;
	}
	return copied > 0 ? writer_copy_cpu(w, cpu, copied) : 0;
}

/* --- The trace ---------------------------------------------------------------------- */

static int open_writer(struct restore *r, const char *path, struct stat *st)
{
	struct writer *w = mem_zalloc(1, sizeof(*w));

	r->writer = w;
	w->path = mem_strdup(path);
	w->temporary = mem_format(WRITER_FILE, path);
	w->reserve = -1;
	w->keep = true;
	w->fd = open_own(w->temporary, st);
	if (w->fd < 0 && errno == ENOENT) {
		msg_error("restore", path, "%s does not exist, so there is nothing to restore",
			  w->temporary);
		return -1;
	}
	if (w->fd < 0) {
		msg_errno("restore", w->temporary);
		return -1;
	}
	if (flock(w->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		msg_error("restore", path, "the recording is still running");
		return -1;
	}
	return 0;
}

int restore_open(struct restore *r, const char *path)
{
	struct writer_cpu *cpu;
	struct stat st;

	*r = (struct restore) {};
	if (open_writer(r, path, &st) || read_texts(r) || add_parts(r))
		return -1;
	read_sections(r, st.st_size);
	if (r->data)
		return resume_copy(r, st.st_size);
	for (cpu = r->writer->cpus; cpu; cpu = cpu->next)
		if (scan_cpu(r, cpu))
			return -1;
	if (r->ended || r->nr_cut)
		return 0;
	msg_error("restore", r->writer->temporary, "bts was killed before it wrote any branch");
	return -1;
}

int restore_finish(struct restore *r, const char *cmdlines, const char *info)
{
	const char *backend = strstr(info, "\nbackend: perf");
	const char *clock = backend ? "[mono]" : "[local]";
	int ret, nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	static char *no_stats[] = { NULL };

	if (!r->data)
		return writer_finish(r->writer, cmdlines, clock, no_stats, nr_cpus, info);
	ret = writer_end(r->writer, r->first, r->data, clock, no_stats, nr_cpus);
	r->writer->keep = ret;
	return ret;
}

void restore_close(struct restore *r)
{
	if (r->writer)
		writer_free(r->writer);
	names_free(&r->counts.names);
	free(r->cmdlines);
	free(r->info);
}
