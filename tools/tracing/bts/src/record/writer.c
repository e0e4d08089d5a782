// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write trace.dat, version 7 (trace-cmd.dat.v7(5)).
 *
 *	"\027\010Dtracing7" .. offset of the first options
 *	header_page, event formats, kallsyms, printk formats	before anything is recorded
 *	names of tasks, the section of bts			at the end
 *	CPU data: compressed chunks				at the end, from unnamed files
 *	options, the sections' names				at the end
 *
 * libtracecmd does not write such files, and trace-cmd compresses only after the recording. Here
 * each CPU's thread compresses during the recording, so a trace needs no more disk space than its
 * final file. Each CPU's data must be contiguous in that file, so the data is first stored in an
 * unnamed file, whose blocks are freed as they are copied. Some space is reserved until the end, so
 * that the file can be completed even if the disk is full.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <zstd.h>

#include "file/trace_dat.h"
#include "lib/bytes.h"
#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "writer.h"

enum {
	LAST_SECTION	= DAT_SECTION_CMDLINES,	/* the last section that has an option */
	LEVEL		= 3,			/* compression level */
	COPY_STEP	= 1 << 20,
	MAX_RESERVE	= 4 << 20,
};

struct writer {
	char			*path;
	char			*temporary;	/* the file's name until it is complete */
	bool			kept_old;
	int			fd;
	int			reserve;
	unsigned int		page_size;
	off_t			first_options;	/* where to write the offset of the options */
	off_t			size;
	off_t			section[LAST_SECTION + 1];
	struct bytes		strings;
	struct writer_cpu	*cpus;
};

struct writer_cpu {
	struct writer_cpu	*next;
	struct writer		*w;
	ZSTD_CCtx		*zstd;
	void			*room;
	size_t			room_size;
	uint32_t		nr_chunks;
	bool			failed;
	unsigned long long	branches;	/* in the chunks */
	unsigned long long	unwritten;	/* branches after a write failed */
	off_t			size;		/* of the unnamed file */
	off_t			offset;		/* of the data in the final file */
	int			cpu;
	int			fd;
};

/* --- Files -------------------------------------------------------------------------- */

/* Create an unnamed file beside the trace. If O_TMPFILE fails, create a file and unlink it. */
static int nameless(const char *path)
{
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
 * Reserve space for the end of the file, at most a quarter of what is free. If the file system
 * cannot reserve blocks, a full disk may cost the trace.
 */
static int reserve_space(const char *path)
{
	int fd = nameless(path);
	struct statvfs fs;
	uint64_t quarter;

	if (fd < 0 || fstatvfs(fd, &fs))
		return fd;
	quarter = (uint64_t)fs.f_bavail * fs.f_frsize / 4;
	if (fallocate(fd, 0, 0, quarter < MAX_RESERVE ? quarter : MAX_RESERVE))
		errno = 0;
	return fd;
}

static int writer_put(struct writer *w, const void *data, size_t size)
{
	if (path_write_all(w->fd, data, size)) {
		msg_errno("write", w->path);
		return -1;
	}
	w->size += size;
	return 0;
}

/* --- Sections ----------------------------------------------------------------------- */

static uint32_t string_id(struct writer *w, const char *string)
{
	uint32_t id = w->strings.size;

	bytes_add(&w->strings, string, strlen(string) + 1);
	return id;
}

static int put_header(struct writer *w, int id, int flags, uint32_t name, uint64_t size)
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

/* @content may be w->strings, because the section's name is added there first. */
int writer_put_section(struct writer *w, int id, const char *name, const struct bytes *content)
{
	uint32_t name_id = string_id(w, name);
	size_t room = ZSTD_compressBound(content->size);
	struct bytes sizes = {};
	void *packed = mem_alloc(room);
	size_t size = ZSTD_compress(packed, room, content->data, content->size, LEVEL);
	int ret;

	if (id <= LAST_SECTION)
		w->section[id] = w->size;
	bytes_add32(&sizes, size);
	bytes_add32(&sizes, content->size);
	ret = put_header(w, id, DAT_SECTION_COMPRESSED, name_id, sizes.size + size) ||
	      writer_put(w, sizes.data, sizes.size) || writer_put(w, packed, size);
	bytes_free(&sizes);
	free(packed);
	return ret ? -1 : 0;
}

static void add_option(struct bytes *options, int id, const void *data, size_t size)
{
	bytes_add16(options, id);
	bytes_add32(options, size);
	bytes_add(options, data, size);
}

static void add_option_string(struct bytes *options, int id, const char *string)
{
	add_option(options, id, string, strlen(string) + 1);
}

static void add_option64(struct bytes *options, int id, uint64_t value)
{
	struct bytes data = {};

	bytes_add64(&data, value);
	add_option(options, id, data.data, data.size);
	bytes_free(&data);
}

/* --- The start of the file ---------------------------------------------------------- */

/*
 * Write to a device such as /dev/null instead of replacing the device. Refuse a link to a regular
 * file, because another user may have created the link, or a program may rely on it.
 */
static int open_output(struct writer *w)
{
	struct stat st;
	int fd;

	if (lstat(w->path, &st) || S_ISREG(st.st_mode)) {
		w->temporary = mem_format("%s.new", w->path);
		return path_create_at(AT_FDCWD, w->temporary);
	}
	fd = open(w->path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || S_ISREG(st.st_mode))) {
		close(fd);
		errno = ELOOP;
		return -1;
	}
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
		msg_errno("create", path);
		writer_free(w);
		return NULL;
	}
	w->reserve = reserve_space(path);
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

/* Add a tracefs file: its size, as a number of @size_bytes bytes, and then its contents. */
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
	      writer_put_section(w, DAT_SECTION_HEADERS, "headers", &content);
	bytes_free(&content);
	free(event);
	free(page);
	return ret ? -1 : 0;
}

/* Add the number of a system's events, and then their formats. */
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
	      writer_put_section(w, DAT_SECTION_FTRACE, "ftrace events", &ftrace);
	while (systems[nr])
		nr++;
	bytes_add32(&events, nr);
	for (uint32_t i = 0; i < nr && !ret; i++) {
		bytes_add_string(&events, systems[i]);
		ret = add_formats(&events, root, systems[i]);
	}
	ret = ret || writer_put_section(w, DAT_SECTION_EVENTS, "events format", &events);
	bytes_free(&ftrace);
	bytes_free(&events);
	return ret ? -1 : 0;
}

static int put_file(struct writer *w, int id, const char *name, const char *path)
{
	struct bytes content = {};
	int ret = add_file(&content, path, 4) || writer_put_section(w, id, name, &content);

	bytes_free(&content);
	return ret ? -1 : 0;
}

int writer_write_formats(struct writer *w, const char *root, char *const *systems)
{
	char *printk = mem_format("%s/printk_formats", root);
	int ret = put_headers(w, root) || put_formats(w, root, systems) ||
		  put_file(w, DAT_SECTION_KALLSYMS, "kallsyms", "/proc/kallsyms") ||
		  put_file(w, DAT_SECTION_PRINTK, "printk", printk);

	free(printk);
	return ret ? -1 : 0;
}

/* --- A CPU's data ------------------------------------------------------------------- */

struct writer_cpu *writer_add_cpu(struct writer *w, int cpu)
{
	struct writer_cpu *new = mem_zalloc(1, sizeof(*new)), **at = &w->cpus;

	new->w = w;
	new->cpu = cpu;
	new->zstd = ZSTD_createCCtx();
	new->fd = nameless(w->path);
	if (new->fd < 0 || !new->zstd) {
		msg_errno("create a temporary file beside", w->path);
		ZSTD_freeCCtx(new->zstd);
		free(new);
		return NULL;
	}
	ZSTD_CCtx_setParameter(new->zstd, ZSTD_c_compressionLevel, LEVEL);
	while (*at && (*at)->cpu < cpu)
		at = &(*at)->next;
	new->next = *at;
	*at = new;
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

int writer_write_pages(struct writer_cpu *cpu, const void *data, size_t size,
		       unsigned long long branches)
{
	/* Write nothing after a failure, so that the loss is at the end of this CPU's data. */
	if (!cpu->failed && !write_chunk(cpu, data, size)) {
		cpu->branches += branches;
		return 0;
	}
	cpu->failed = true;
	cpu->unwritten += branches;
	return -1;
}

/* --- The end ------------------------------------------------------------------------ */

static int pad(struct writer *w)
{
	static const char zeroes[1 << 16];
	size_t rest = w->size % w->page_size;

	return rest ? writer_put(w, zeroes, w->page_size - rest) : 0;
}

/* Free each block before writing its copy, because the disk may have no room for two copies. */
static int copy_cpu(struct writer *w, struct writer_cpu *cpu)
{
	char *buffer = mem_alloc(COPY_STEP);
	int ret = 0;

	for (off_t at = 0; at < cpu->size && !ret;) {
		ssize_t n = pread(cpu->fd, buffer, COPY_STEP, at);

		if (n <= 0) {
			msg_errno("read back the recorded data of", w->path);
			ret = -1;
			break;
		}
		if (n > cpu->size - at)
			n = cpu->size - at;
		/* Not every file system can punch holes. */
		if (fallocate(cpu->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n))
			errno = 0;
		ret = writer_put(w, buffer, n);
		at += n;
	}
	free(buffer);
	return ret;
}

static int put_cpu(struct writer *w, struct writer_cpu *cpu)
{
	struct bytes count = {};
	int ret;

	if (pad(w))
		return -1;
	cpu->offset = w->size;
	bytes_add32(&count, cpu->nr_chunks);
	ret = writer_put(w, count.data, count.size) || copy_cpu(w, cpu);
	bytes_free(&count);
	return ret ? -1 : 0;
}

/* If nothing was written, the CPU must be in the file so that the reader shows the loss. */
static bool was_used(const struct writer_cpu *cpu)
{
	return cpu->nr_chunks || cpu->unwritten;
}

static void add_buffer_option(struct writer *w, struct bytes *options, off_t section,
			      const char *clock)
{
	struct bytes buffer = {};
	uint32_t nr = 0;

	for (struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		nr += was_used(cpu);
	bytes_add64(&buffer, section);
	bytes_add_string(&buffer, "");
	bytes_add_string(&buffer, clock);
	bytes_add32(&buffer, w->page_size);
	bytes_add32(&buffer, nr);
	for (struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next) {
		if (!was_used(cpu))
			continue;
		bytes_add32(&buffer, cpu->cpu);
		bytes_add64(&buffer, cpu->offset);
		bytes_add64(&buffer, cpu->size + sizeof(uint32_t));
	}
	add_option(options, DAT_OPTION_BUFFER, buffer.data, buffer.size);
	bytes_free(&buffer);
}

/* Write the data section, and then correct the size in its header. */
static int put_data(struct writer *w, off_t *section)
{
	uint64_t size;

	*section = w->size;
	if (put_header(w, DAT_SECTION_DATA, DAT_SECTION_COMPRESSED,
		       string_id(w, "buffer flyrecord"), 0))
		return -1;
	for (struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		if (was_used(cpu) && put_cpu(w, cpu))
			return -1;
	size = w->size - *section - DAT_SECTION_HEADER;
	if (pwrite(w->fd, &size, sizeof(size), *section + 8) != sizeof(size)) {
		msg_errno("write", w->path);
		return -1;
	}
	return 0;
}

static void add_machine_options(struct bytes *options, int nr_cpus)
{
	struct utsname uts;
	uint64_t id = 0;
	char *text;

	uname(&uts);
	text = mem_format("%s %s %s %s", uts.sysname, uts.nodename, uts.release, uts.machine);
	add_option_string(options, DAT_OPTION_UNAME, text);
	free(text);
	add_option_string(options, DAT_OPTION_VERSION, "bts " VERSION);
	if (getrandom(&id, sizeof(id), 0) < 0)
		id = getpid();
	add_option64(options, DAT_OPTION_TRACEID, id);
	bytes_add16(options, DAT_OPTION_CPUCOUNT);
	bytes_add32(options, sizeof(uint32_t));
	bytes_add32(options, nr_cpus);
}

/* Return the chosen clock, "local" in "[local] global". */
static char *chosen_clock(const char *clock)
{
	const char *from = strchr(clock, '['), *to = from ? strchr(from, ']') : NULL;

	return to ? mem_format("%.*s", (int)(to - from - 1), from + 1) : mem_strdup("local");
}

static int put_options(struct writer *w, const char *clock, char *const *stats, int nr_cpus,
		       off_t data)
{
	uint64_t start = w->size;
	struct bytes options = {};
	char *chosen = chosen_clock(clock);
	int ret;

	for (int id = DAT_SECTION_HEADERS; id <= LAST_SECTION; id++)
		add_option64(&options, id, w->section[id]);
	add_option_string(&options, DAT_OPTION_CLOCK, clock);
	add_machine_options(&options, nr_cpus);
	for (; *stats; stats++)
		add_option_string(&options, DAT_OPTION_CPUSTAT, *stats);
	add_buffer_option(w, &options, data, chosen);
	add_option64(&options, DAT_OPTION_DONE, 0);
	ret = put_header(w, DAT_SECTION_OPTIONS, 0, string_id(w, "options"), options.size) ||
	      writer_put(w, options.data, options.size);
	bytes_free(&options);
	free(chosen);
	if (!ret && pwrite(w->fd, &start, sizeof(start), w->first_options) != sizeof(start)) {
		msg_errno("write", w->path);
		ret = -1;
	}
	return ret ? -1 : 0;
}

static int put_cmdlines(struct writer *w, const char *text)
{
	struct bytes content = {};
	int ret;

	bytes_add64(&content, strlen(text));
	bytes_add(&content, text, strlen(text));
	ret = writer_put_section(w, DAT_SECTION_CMDLINES, "command lines", &content);
	bytes_free(&content);
	return ret;
}

/* Add a line for each CPU whose branches were not all written. The reader shows the loss. */
static int put_info(struct writer *w, const char *info)
{
	struct bytes text = {};
	int ret;

	bytes_add(&text, info, strlen(info));
	if (writer_unwritten(w))
		bytes_format(&text, "unwritten: %llu\n", writer_unwritten(w));
	for (const struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		if (cpu->unwritten)
			bytes_format(&text, DAT_UNWRITTEN_CPU ": %llu\n", cpu->cpu, cpu->unwritten);
	ret = writer_put_section(w, DAT_SECTION_BTS, "bts", &text);
	bytes_free(&text);
	return ret;
}

bool writer_kept_old(const struct writer *w)
{
	return w->kept_old;
}

/* Rename the file to its final name. Rename an existing file to PATH.old. */
static int rename_file(struct writer *w)
{
	char *old = mem_format("%s.old", w->path);
	int ret = 0;

	w->kept_old = !rename(w->path, old);
	if ((!w->kept_old && errno != ENOENT) || rename(w->temporary, w->path)) {
		msg_error("rename", w->path, "%s; the trace is in %s", strerror(errno),
			  w->temporary);
		ret = -1;
	}
	free(w->temporary);
	w->temporary = NULL;
	free(old);
	return ret;
}

int writer_finish(struct writer *w, const char *cmdlines, const char *clock, char *const *stats,
		  int nr_cpus, const char *info)
{
	off_t data;
	int ret;

	if (w->reserve >= 0)
		close(w->reserve);
	w->reserve = -1;
	ret = put_cmdlines(w, cmdlines) || put_info(w, info) || put_data(w, &data) ||
	      put_options(w, clock, stats, nr_cpus, data);
	if (ret)
		return -1;
	ret = writer_put_section(w, DAT_SECTION_STRINGS, "strings", &w->strings);
	if (ret)
		return -1;
	ret = close(w->fd);
	w->fd = -1;
	if (ret)
		msg_errno("write", w->path);
	else if (w->temporary)
		ret = rename_file(w);
	return ret;
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
		free(cpu->room);
		free(cpu);
	}
	if (w->reserve >= 0)
		close(w->reserve);
	if (w->fd >= 0)
		close(w->fd);
	if (w->temporary)
		unlink(w->temporary);
	bytes_free(&w->strings);
	free(w->temporary);
	free(w->path);
	free(w);
}
