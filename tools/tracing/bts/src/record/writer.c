// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write trace.dat, version 7 (trace-cmd.dat.v7(5)).
 *
 *	"\027\010Dtracing7" .. offset of the first options
 *	header_page, event formats, kallsyms, printk formats	before anything is recorded
 *	names of tasks, the BTS section				at the end
 *	CPU data: compressed chunks				at the end, from FILE.new.cpuN and,
 *								for mappings, FILE.new.maps.cpuN
 *	options, the sections' names				at the end
 *
 * The library libtracecmd cannot write files of version 7. trace-cmd compresses the data after the
 * recording, but this writer compresses each CPU's data during the recording, so a trace needs no
 * more disk space than its final file. Each CPU's data must be contiguous in the final file. So the
 * data is first stored in FILE.new.cpuN, and is copied block by block at the end. After each block,
 * its space in FILE.new.cpuN is freed. Some space is reserved until the end, so that the file can
 * be completed even if the disk is full. When the recording ends, writer_end.c completes the file.
 * If bts is killed, restore.c completes the file later.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "writer_parts.h"

enum {
	LEVEL		= 3,			/* compression level */
	MAX_RESERVE	= 4 << 20,
};

/* --- Files -------------------------------------------------------------------------- */

/*
 * Create an unnamed file beside the trace or, if the trace is a device, in /tmp. If O_TMPFILE
 * fails, create a file and unlink it.
 */
static int nameless(const struct writer *w)
{
	const char *path = w->device ? "/tmp/bts" : w->path;
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_format("%.*s", (int)(slash - path + 1), path) : mem_strdup(".");
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	free(dir);
	if (fd >= 0)
		return fd;
	name = mem_format("%s.XXXXXX", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

/*
 * Reserve space now, so that the file can be completed even if the disk becomes full. Reserve at
 * most a quarter of the free space. If the file system cannot reserve space, a full disk may leave
 * the trace incomplete.
 */
static int reserve_space(const struct writer *w)
{
	int fd = nameless(w);
	struct statvfs fs;
	uint64_t quarter;

	if (fd < 0 || fstatvfs(fd, &fs))
		return fd;
	quarter = (uint64_t)fs.f_bavail * fs.f_frsize / 4;
	if (fallocate(fd, 0, 0, quarter < MAX_RESERVE ? quarter : MAX_RESERVE))
		errno = 0;
	return fd;
}

int writer_put(struct writer *w, const void *data, size_t size)
{
	if (path_write_all(w->fd, data, size)) {
		msg_errno("write", w->path);
		return -1;
	}
	w->size += size;
	return 0;
}

/* --- Sections ----------------------------------------------------------------------- */

const char *writer_section_name(int id)
{
	static const struct {
		int		id;
		const char	*name;
	} sections[] = {
		{ DAT_SECTION_OPTIONS,	"options" },
		{ DAT_SECTION_DATA,	"buffer flyrecord" },
		{ DAT_SECTION_STRINGS,	"strings" },
		{ DAT_SECTION_HEADERS,	"headers" },
		{ DAT_SECTION_FTRACE,	"ftrace events" },
		{ DAT_SECTION_EVENTS,	"events format" },
		{ DAT_SECTION_KALLSYMS,	"kallsyms" },
		{ DAT_SECTION_PRINTK,	"printk" },
		{ DAT_SECTION_CMDLINES,	"command lines" },
		{ DAT_SECTION_BTS,	"bts" },
		{ DAT_SECTION_INDEX,	"bts index" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (sections[i].id == id)
			return sections[i].name;
	return NULL;
}

uint32_t writer_name(struct writer *w, int id)
{
	uint32_t at = w->strings.size;

	bytes_add_string(&w->strings, writer_section_name(id));
	return at;
}

int writer_put_header(struct writer *w, int id, int flags, uint32_t name, uint64_t size)
{
	struct bytes header = {};
	int ret;

	bytes_add16(&header, id);
	bytes_add16(&header, flags);
	bytes_add32(&header, name);
	bytes_add64(&header, size);
	ret = writer_put(w, header.data, header.size);
	bytes_free(&header);
	return ret;
}

/*
 * Add a checksum to each frame. Without the checksum, zstd decompresses most damaged frames to
 * wrong data, and reports no error.
 */
static ZSTD_CCtx *new_compressor(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (!zstd)
		mem_fail();
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	return zstd;
}

/* Add the name to w->strings before compressing @content, because @content may be w->strings. */
int writer_put_section(struct writer *w, int id, const struct bytes *content)
{
	uint32_t name_id = writer_name(w, id);
	size_t room = ZSTD_compressBound(content->size);
	ZSTD_CCtx *zstd = new_compressor();
	struct bytes sizes = {};
	void *packed = mem_alloc(room);
	size_t size = ZSTD_compress2(zstd, packed, room, content->data, content->size);
	int ret;

	if (id <= LAST_SECTION)
		w->section[id] = w->size;
	bytes_add32(&sizes, size);
	bytes_add32(&sizes, content->size);
	ret = writer_put_header(w, id, DAT_SECTION_COMPRESSED, name_id, sizes.size + size) ||
	      writer_put(w, sizes.data, sizes.size) || writer_put(w, packed, size);
	bytes_free(&sizes);
	free(packed);
	ZSTD_freeCCtx(zstd);
	return ret ? -1 : 0;
}

/* --- The start of the file ---------------------------------------------------------- */

char *writer_part_name(const char *temporary, const char *instance, int cpu)
{
	return mem_format("%s%s%s.cpu%d", temporary, *instance ? "." : "", instance, cpu);
}

/* Report whether a killed recording left behind a file with a CPU's branches. */
static bool has_parts(const char *temporary)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF);
	bool has = false;

	for (int cpu = 0; cpu < nr && !has; cpu++) {
		char *name = writer_part_name(temporary, "", cpu);
		struct stat st;

		has = !lstat(name, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		      st.st_size;
		free(name);
	}
	return has;
}

static void remove_part(const char *temporary, const char *instance, int cpu)
{
	char *name = writer_part_name(temporary, instance, cpu);

	unlink(name);
	free(name);
}

static void remove_parts(const char *temporary)
{
	int nr = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < nr; cpu++) {
		remove_part(temporary, "", cpu);
		remove_part(temporary, DAT_MAPS, cpu);
	}
}

/*
 * Report whether a recording of this user is writing the file, or was killed and left data behind.
 * If another user owns the file, return false. Then create_temporary() replaces the file.
 */
static bool is_taken(const struct writer *w)
{
	struct stat st;
	int fd = path_open(w->temporary, O_NOFOLLOW, &st);
	bool ours = fd >= 0 && st.st_uid == geteuid();
	bool locked = ours && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	bool left = ours && !locked && has_parts(w->temporary);

	if (fd >= 0)
		close(fd);
	if (locked)
		msg_error("create", w->path, "another recording is writing this file");
	else if (left)
		msg_error("create", w->path, "a killed recording left behind %s; complete its "
			  "trace with bts restore %s, or remove %s*", w->temporary, w->path,
			  w->temporary);
	else
		remove_parts(w->temporary);
	return locked || left;
}

static int create_temporary(const struct writer *w)
{
	int fd = path_create_at(AT_FDCWD, w->temporary);

	/* Ignore a failed flock(), because some file systems do not support locks. */
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB))
		errno = 0;
	return fd;
}

/*
 * Create a temporary file, or open the output device (such as /dev/null). Refuse a symbolic link to
 * a regular file. Another user may have created the link, so do not write to its target. A program
 * may use the link, so do not replace the link. On failure, print a message and return -1.
 */
static int open_output(struct writer *w)
{
	struct stat st;
	int fd;

	if (lstat(w->path, &st) || S_ISREG(st.st_mode)) {
		w->temporary = mem_format(WRITER_FILE, w->path);
		if (is_taken(w))
			return -1;
		fd = create_temporary(w);
	} else {
		w->device = true;
		fd = open(w->path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && (fstat(fd, &st) || S_ISREG(st.st_mode))) {
			close(fd);
			errno = ELOOP;
			fd = -1;
		}
	}
	if (fd < 0)
		msg_errno("create", w->path);
	return fd;
}

struct writer *writer_create(const char *path, unsigned int page_size)
{
	static const char magic[] = DAT_MAGIC "7";
	struct writer *w = mem_zalloc(1, sizeof(*w));
	struct bytes head = {};
	int failed;

	w->path = mem_strdup(path);
	w->page_size = page_size;
	w->reserve = -1;
	w->fd = open_output(w);
	if (w->fd < 0) {
		free(w->temporary);
		w->temporary = NULL;
		writer_free(w);
		return NULL;
	}
	w->reserve = reserve_space(w);
	bytes_add(&head, magic, sizeof(magic));
	bytes_add8(&head, 0);			/* little endian */
	bytes_add8(&head, sizeof(long));
	bytes_add32(&head, page_size);
	bytes_add_string(&head, "zstd");
	bytes_add_string(&head, ZSTD_versionString());
	w->first_options = head.size;
	bytes_add64(&head, 0);
	failed = writer_put(w, head.data, head.size);
	bytes_free(&head);
	if (failed) {
		writer_free(w);
		return NULL;
	}
	return w;
}

/* Add the size of a tracefs file, as an integer of @size_bytes bytes, then the file's contents. */
static int add_file(struct bytes *content, const char *path, int size_bytes)
{
	size_t size;
	char *text = path_read(path, &size);

	if (!text) {
		msg_errno("read", path);
		return -1;
	}
	if (size_bytes == 8)
		bytes_add64(content, size);
	else
		bytes_add32(content, size);
	bytes_add(content, text, size);
	free(text);
	return 0;
}

static int put_headers(struct writer *w, const char *root)
{
	char *page = mem_format("%s/events/header_page", root);
	char *event = mem_format("%s/events/header_event", root);
	struct bytes content = {};
	int ret;

	bytes_add_string(&content, "header_page");
	ret = add_file(&content, page, 8);
	bytes_add_string(&content, "header_event");
	ret = ret || add_file(&content, event, 8) ||
	      writer_put_section(w, DAT_SECTION_HEADERS, &content);
	bytes_free(&content);
	free(event);
	free(page);
	return ret ? -1 : 0;
}

/* Add the number of events in an event system, followed by the formats of these events. */
static int add_formats(struct bytes *content, const char *root, const char *system)
{
	char *dir = mem_format("%s/events/%s", root, system);
	size_t at = content->size;
	struct dirent *entry;
	DIR *stream = opendir(dir);
	uint32_t nr = 0;
	int ret = 0;

	if (!stream)
		msg_errno("open", dir);
	bytes_add32(content, 0);
	while (stream && !ret && (entry = readdir(stream))) {
		char *path = mem_format("%s/%s/format", dir, entry->d_name);

		if (entry->d_name[0] != '.' && !access(path, F_OK)) {
			ret = add_file(content, path, 8);
			nr++;
		}
		free(path);
	}
	bytes_set32(content, at, nr);
	if (stream)
		closedir(stream);
	free(dir);
	return stream ? ret : -1;
}

static int put_formats(struct writer *w, const char *root, char *const *systems)
{
	struct bytes ftrace = {}, events = {};
	uint32_t nr = 0;
	int ret;

	ret = add_formats(&ftrace, root, "ftrace") ||
	      writer_put_section(w, DAT_SECTION_FTRACE, &ftrace);
	while (systems[nr])
		nr++;
	bytes_add32(&events, nr);
	for (uint32_t i = 0; i < nr && !ret; i++) {
		bytes_add_string(&events, systems[i]);
		ret = add_formats(&events, root, systems[i]);
	}
	ret = ret || writer_put_section(w, DAT_SECTION_EVENTS, &events);
	bytes_free(&ftrace);
	bytes_free(&events);
	return ret ? -1 : 0;
}

static int put_file(struct writer *w, int id, const char *path)
{
	struct bytes content = {};
	int ret = add_file(&content, path, 4) || writer_put_section(w, id, &content);

	bytes_free(&content);
	return ret ? -1 : 0;
}

int writer_write_formats(struct writer *w, const char *root, char *const *systems)
{
	char *printk = mem_format("%s/printk_formats", root);
	int ret = put_headers(w, root) || put_formats(w, root, systems) ||
		  put_file(w, DAT_SECTION_KALLSYMS, "/proc/kallsyms") ||
		  put_file(w, DAT_SECTION_PRINTK, printk);

	free(printk);
	return ret ? -1 : 0;
}

int writer_write_draft(struct writer *w, const char *info)
{
	struct bytes text = { .data = (char *)info, .size = strlen(info) };

	/* A draft of the BTS section cannot be removed from a device, so write no draft there. */
	if (!w->temporary)
		return 0;
	w->draft = w->size;
	w->draft_strings = w->strings.size;
	return writer_put_section(w, DAT_SECTION_BTS, &text);
}

/* --- A CPU's data ------------------------------------------------------------------- */

static bool is_before(const struct writer_cpu *a, const struct writer_cpu *b)
{
	return a->cpu < b->cpu || (a->cpu == b->cpu && strcmp(a->instance, b->instance) < 0);
}

void writer_insert_cpu(struct writer *w, struct writer_cpu *cpu)
{
	struct writer_cpu **at = &w->cpus;

	while (*at && is_before(*at, cpu))
		at = &(*at)->next;
	cpu->next = *at;
	*at = cpu;
}

struct writer_cpu *writer_add_cpu(struct writer *w, const char *instance, int cpu)
{
	struct writer_cpu *new = mem_zalloc(1, sizeof(*new));

	new->w = w;
	new->instance = instance;
	new->cpu = cpu;
	new->zstd = new_compressor();
	if (w->temporary)
		new->name = writer_part_name(w->temporary, instance, cpu);
	new->fd = new->name ? path_create_at(AT_FDCWD, new->name) : nameless(w);
	if (new->fd < 0) {
		msg_errno("create a temporary file beside", w->path);
		ZSTD_freeCCtx(new->zstd);
		free(new->name);
		free(new);
		return NULL;
	}
	writer_insert_cpu(w, new);
	return new;
}

static int write_chunk(struct writer_cpu *cpu, const void *data, size_t size)
{
	const size_t head = 2 * sizeof(uint32_t);
	size_t need = ZSTD_compressBound(size) + head;
	uint32_t sizes[2];
	size_t packed;

	if (need > cpu->room_size) {
		free(cpu->room);
		cpu->room = mem_alloc(need);
		cpu->room_size = need;
	}
	packed = ZSTD_compress2(cpu->zstd, (char *)cpu->room + head, need - head, data, size);
	if (ZSTD_isError(packed)) {
		msg_error("compress", cpu->w->path, "%s", ZSTD_getErrorName(packed));
		return -1;
	}
	sizes[0] = packed;
	sizes[1] = size;
	memcpy(cpu->room, sizes, head);
	if (path_write_all(cpu->fd, cpu->room, packed + head)) {
		msg_errno("write", cpu->w->path);
		/* Remove the incomplete chunk. */
		if (ftruncate(cpu->fd, cpu->size) || lseek(cpu->fd, cpu->size, SEEK_SET) < 0)
			msg_errno("truncate", cpu->w->path);
		return -1;
	}
	cpu->size += packed + head;
	cpu->nr_chunks++;
	return 0;
}

/* Add the time of the chunk's first page to the index. Each page begins with its time. */
static void note_time(struct writer_cpu *cpu, const void *data, bool maps)
{
	uint64_t time;

	memcpy(&time, data, sizeof(time));
	bytes_add64(&cpu->times, time | (maps ? DAT_INDEX_MAPS : 0));
}

int writer_write_pages(struct writer_cpu *cpu, const void *data, size_t size,
		       unsigned long long branches, bool maps)
{
	/* After a failure, write nothing more: the data may end early, but must not have a gap. */
	if (!cpu->failed && !write_chunk(cpu, data, size)) {
		note_time(cpu, data, maps);
		cpu->branches += branches;
		return 0;
	}
	cpu->failed = true;
	cpu->unwritten += branches;
	return -1;
}

/* --- Counts -------------------------------------------------------------------------- */

bool writer_is_file(const struct writer *w)
{
	return !w->device;
}

bool writer_kept_old(const struct writer *w)
{
	return w->kept_old;
}

unsigned long long writer_size(const struct writer *w)
{
	return w->size;
}

unsigned long long writer_data_size(const struct writer *w)
{
	unsigned long long size = 0;

	for (const struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		size += cpu->size;
	return size;
}

bool writer_failed(const struct writer *w)
{
	for (const struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		if (cpu->failed)
			return true;
	return false;
}

unsigned long long writer_branches(const struct writer *w)
{
	unsigned long long branches = 0;

	for (const struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		branches += cpu->branches;
	return branches;
}

unsigned long long writer_unwritten(const struct writer *w)
{
	unsigned long long unwritten = 0;

	for (const struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		unwritten += cpu->unwritten;
	return unwritten;
}

void writer_free(struct writer *w)
{
	struct writer_cpu *cpu, *next;

	for (cpu = w->cpus; cpu; cpu = next) {
		next = cpu->next;
		ZSTD_freeCCtx(cpu->zstd);
		close(cpu->fd);
		if (cpu->name && !w->keep)
			unlink(cpu->name);
		free(cpu->name);
		free(cpu->room);
		bytes_free(&cpu->times);
		free(cpu);
	}
	if (w->reserve >= 0)
		close(w->reserve);
	if (w->fd >= 0)
		close(w->fd);
	if (w->temporary && !w->keep)
		unlink(w->temporary);
	bytes_free(&w->strings);
	free(w->temporary);
	free(w->path);
	free(w);
}
