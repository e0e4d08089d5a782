// SPDX-License-Identifier: GPL-2.0-only
/*
 * Complete a trace.dat: copy the data of the CPUs into the file, and add the last sections. The
 * comment at the top of writer.c describes the file's format.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "writer_parts.h"

#define COPY_STEP	(1 << 17)

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

static int pad(struct writer *w)
{
	static const char zeroes[1 << 12];
	size_t rest;
	int ret = 0;

	while (!ret && (rest = w->size % w->page_size)) {
		rest = w->page_size - rest;
		ret = writer_put(w, zeroes, rest < sizeof(zeroes) ? rest : sizeof(zeroes));
	}
	return ret;
}

/*
 * Free each block of FILE.new.cpuN only after the block is written to FILE.new. So after a SIGKILL,
 * the size of FILE.new shows how much was copied, and each block is in at least one of the files.
 */
int writer_copy_cpu(struct writer *w, struct writer_cpu *cpu, off_t at)
{
	char *buffer = mem_alloc(COPY_STEP);
	int ret = 0;

	while (at < cpu->size && !ret) {
		ssize_t n = pread(cpu->fd, buffer, COPY_STEP, at);

		if (n <= 0) {
			msg_errno("read back the recorded data of", w->path);
			ret = -1;
			break;
		}
		if (n > cpu->size - at)
			n = cpu->size - at;
		ret = writer_put(w, buffer, n);
		/* Ignore an error, because some file systems cannot punch holes. */
		if (!ret && fallocate(cpu->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n))
			errno = 0;
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
	ret = writer_put(w, count.data, count.size) || writer_copy_cpu(w, cpu, 0);
	bytes_free(&count);
	return ret ? -1 : 0;
}

/* If a CPU has unwritten branches but no data, include the CPU, so that bts can show the loss. */
bool writer_was_used(const struct writer_cpu *cpu)
{
	return cpu->size || cpu->unwritten;
}

static bool is_in(const struct writer_cpu *cpu, const char *instance)
{
	return writer_was_used(cpu) && !strcmp(cpu->instance, instance);
}

static void add_buffer_option(struct writer *w, struct bytes *options, off_t section,
			      const char *instance, const char *clock)
{
	struct bytes buffer = {};
	uint32_t nr = 0;

	for (struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next)
		nr += is_in(cpu, instance);
	if (*instance && !nr)
		return;
	bytes_add64(&buffer, section);
	bytes_add_string(&buffer, instance);
	bytes_add_string(&buffer, clock);
	bytes_add32(&buffer, w->page_size);
	bytes_add32(&buffer, nr);
	for (struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next) {
		if (!is_in(cpu, instance))
			continue;
		bytes_add32(&buffer, cpu->cpu);
		bytes_add64(&buffer, cpu->offset);
		bytes_add64(&buffer, cpu->size + sizeof(uint32_t));
	}
	add_option(options, DAT_OPTION_BUFFER, buffer.data, buffer.size);
	bytes_free(&buffer);
}

/* Write the data of all CPUs from @first on. Then correct the size of the data section. */
static int put_data(struct writer *w, struct writer_cpu *first, off_t section)
{
	uint64_t size;

	for (struct writer_cpu *cpu = first; cpu; cpu = cpu->next)
		if (writer_was_used(cpu) && put_cpu(w, cpu))
			return -1;
	size = w->size - section - DAT_SECTION_HEADER;
	if (pwrite(w->fd, &size, sizeof(size), section + 8) != sizeof(size)) {
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

/* Return the selected clock, which is in brackets: "local" if @clock is "[local] global". */
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
	add_buffer_option(w, &options, data, "", chosen);
	add_buffer_option(w, &options, data, DAT_MAPS, chosen);
	add_option64(&options, DAT_OPTION_DONE, 0);
	ret = writer_put_header(w, DAT_SECTION_OPTIONS, 0, writer_name(w, DAT_SECTION_OPTIONS),
				options.size) ||
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
	ret = writer_put_section(w, DAT_SECTION_CMDLINES, &content);
	bytes_free(&content);
	return ret;
}

/* Write @info, and how many branches could not be written, in total and for each CPU. */
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
	ret = writer_put_section(w, DAT_SECTION_BTS, &text);
	bytes_free(&text);
	return ret;
}

/* Write the index, which contains the time at which each chunk begins. Only bts reads the index. */
static int put_index(struct writer *w)
{
	struct bytes index = {};
	int ret;

	for (const struct writer_cpu *cpu = w->cpus; cpu; cpu = cpu->next) {
		if (*cpu->instance)
			continue;
		bytes_add32(&index, cpu->cpu);
		bytes_add32(&index, cpu->nr_chunks);
		bytes_add(&index, cpu->times.data, cpu->times.size);
	}
	ret = writer_put_section(w, DAT_SECTION_INDEX, &index);
	bytes_free(&index);
	return ret;
}

/* If PATH exists, rename it to PATH.old. Then rename the new file to PATH. */
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

/* Remove the section that writer_write_draft() wrote. */
static int remove_draft(struct writer *w)
{
	if (!w->draft)
		return 0;
	if (ftruncate(w->fd, w->draft) || lseek(w->fd, w->draft, SEEK_SET) < 0) {
		msg_errno("truncate", w->path);
		return -1;
	}
	w->size = w->draft;
	w->strings.size = w->draft_strings;
	return 0;
}

int writer_end(struct writer *w, struct writer_cpu *first, off_t data, const char *clock,
	       char *const *stats, int nr_cpus)
{
	int ret;

	if (put_data(w, first, data) || put_options(w, clock, stats, nr_cpus, data) ||
	    writer_put_section(w, DAT_SECTION_STRINGS, &w->strings))
		return -1;
	ret = close(w->fd);
	w->fd = -1;
	if (ret)
		msg_errno("write", w->path);
	else if (w->temporary)
		ret = rename_file(w);
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
	ret = remove_draft(w) || put_cmdlines(w, cmdlines) || put_info(w, info) || put_index(w);
	data = w->size;
	ret = ret || writer_put_header(w, DAT_SECTION_DATA, DAT_SECTION_COMPRESSED,
				       writer_name(w, DAT_SECTION_DATA), 0) ||
	      writer_end(w, w->cpus, data, clock, stats, nr_cpus);
	/* If only the renaming failed, the trace is complete, so bts restore is not needed. */
	w->keep = ret && w->temporary;
	if (w->keep)
		msg_warn("the data is in the files %s*; when the disk has enough space, complete "
			 "the trace with bts restore %s", w->temporary, w->path);
	return ret ? -1 : 0;
}
