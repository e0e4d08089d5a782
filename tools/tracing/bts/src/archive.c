// SPDX-License-Identifier: GPL-2.0-only
/*
 * The directory beside a trace, and what bts record puts there.
 *
 * The kernel's code is that of /proc/kcore, for the one in vmlinux is not what runs: static
 * keys, alternatives and ftrace have changed it. Its pieces are [_stext, _etext) and, for
 * modules, BPF programs and trampolines, the pages with symbols of text in /proc/kallsyms.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "bts.h"
#include "instance.h"

/* A test has others. */
#ifndef KCORE
#define KCORE		"/proc/kcore"
#define KALLSYMS	"/proc/kallsyms"
#endif

enum {
	PAGE		= 4096,
	LAST_FUNCTION	= 16384,	/* how far the last one of a module may reach */
};

char *archive_path(const char *trace)
{
	return bts_format("%s.archive", trace);
}

/* --- Files -------------------------------------------------------------------------- */

static int make_dirs(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = 0;
		failed = mkdir(path, 0755) && errno != EEXIST;
		if (failed)
			bts_errno("create", path);
		*slash = '/';
		if (failed)
			return -1;
	}
	return 0;
}

char *archive_file(const char *trace, const char *name)
{
	char *path = bts_format("%s.archive/%s", trace, name);

	if (!make_dirs(path))
		return path;
	free(path);
	return NULL;
}

int archive_put(const char *trace, const char *name, const void *data, size_t size)
{
	char *path = archive_file(trace, name);
	FILE *file = path ? fopen(path, "we") : NULL;
	int ret = 0;

	if (!path)
		return -1;
	if (!file || fwrite(data, 1, size, file) != size)
		ret = -1;
	if (file && fclose(file))
		ret = -1;
	if (ret)
		bts_errno("write", path);
	free(path);
	return ret;
}

int archive_copy(const char *trace, const char *name, const char *from)
{
	size_t size;
	char *data = file_read(from, &size);
	int ret;

	if (!data) {
		bts_errno("read", from);
		return -1;
	}
	ret = archive_put(trace, name, data, size);
	free(data);
	return ret;
}

void archive_clear(const char *trace)
{
	char *path = archive_path(trace);
	DIR *stream = opendir(path);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		const char *name = entry->d_name;

		if (!strcmp(name, "kcore") || !strcmp(name, "vdso.so") ||
		    (!strncmp(name, "perf-", 5) && strstr(name, ".map")))
			unlinkat(dirfd(stream), name, 0);
	}
	if (stream)
		closedir(stream);
	free(path);
}

/* --- The kernel's code -------------------------------------------------------------- */

struct range {
	uint64_t	from, to;
};

struct ranges {
	struct range	*list;
	size_t		nr;
};

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void add_range(struct ranges *ranges, uint64_t from, uint64_t to)
{
	/* Doubled when its number is a power of two. */
	if (!(ranges->nr & (ranges->nr - 1)))
		ranges->list = bts_realloc(ranges->list, 2 * ranges->nr + 1, sizeof(*ranges->list));
	ranges->list[ranges->nr++] = (struct range){ from, to };
}

/* Sorts them, and joins those that touch. */
static void join_ranges(struct ranges *ranges)
{
	size_t used = 0;

	qsort(ranges->list, ranges->nr, sizeof(*ranges->list), by_start);
	for (size_t i = 0; i < ranges->nr; i++) {
		struct range *last = used ? &ranges->list[used - 1] : NULL;

		if (last && ranges->list[i].from <= last->to) {
			if (ranges->list[i].to > last->to)
				last->to = ranges->list[i].to;
		} else {
			ranges->list[used++] = ranges->list[i];
		}
	}
	ranges->nr = used;
}

/* "ffffffff81000000 T _stext", "ffffffffc0000000 t init\t[module]" */
static struct ranges text_ranges(char *kallsyms)
{
	uint64_t stext = 0, etext = 0;
	struct ranges ranges = {};
	char *save = NULL;

	for (char *line; (line = strtok_r(kallsyms, "\n", &save)); kallsyms = NULL) {
		uint64_t addr = strtoull(line, &line, 16);
		char type = *line ? line[1] | 0x20 : 0;
		const char *name = *line ? line + 3 : "";

		if (!addr)
			continue;
		if (!strcmp(name, "_stext"))
			stext = addr;
		else if (!strcmp(name, "_etext"))
			etext = addr;
		else if (type == 't' && strchr(name, '['))
			add_range(&ranges, addr & -PAGE, (addr + LAST_FUNCTION) & -PAGE);
	}
	if (stext && etext > stext)
		add_range(&ranges, stext & -PAGE, (etext + PAGE - 1) & -PAGE);
	join_ranges(&ranges);
	return ranges;
}

/* Where kcore has an address; 0 if nowhere. */
static uint64_t kcore_offset(int kcore, uint64_t addr, uint64_t *length)
{
	Elf64_Ehdr head;

	if (pread(kcore, &head, sizeof(head), 0) != sizeof(head))
		return 0;
	for (int i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr load;

		if (pread(kcore, &load, sizeof(load), head.e_phoff + i * sizeof(load)) !=
		    sizeof(load))
			return 0;
		if (load.p_type != PT_LOAD || addr < load.p_vaddr ||
		    addr - load.p_vaddr >= load.p_memsz)
			continue;
		if (*length > load.p_vaddr + load.p_memsz - addr)
			*length = load.p_vaddr + load.p_memsz - addr;
		return load.p_offset + (addr - load.p_vaddr);
	}
	return 0;
}

/* What cannot be read is left 0, as kcore itself does. */
static int copy_range(int kcore, int out, const struct range *range, off_t at)
{
	char page[PAGE * 16];

	for (uint64_t addr = range->from; addr < range->to;) {
		uint64_t length = range->to - addr;
		uint64_t offset;
		ssize_t n = -1;

		if (length > sizeof(page))
			length = sizeof(page);
		offset = kcore_offset(kcore, addr, &length);
		if (offset)
			n = pread(kcore, page, length, offset);
		if (n > 0 && pwrite(out, page, n, at + (addr - range->from)) != n)
			return -1;
		addr += n > 0 ? (uint64_t)n : length;
	}
	return 0;
}

static int write_core(int kcore, int out, const struct ranges *ranges)
{
	Elf64_Ehdr head = {
		.e_ident	= { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT },
		.e_type		= ET_CORE,
		.e_machine	= EM_X86_64,
		.e_version	= EV_CURRENT,
		.e_phoff	= sizeof(head),
		.e_ehsize	= sizeof(head),
		.e_phentsize	= sizeof(Elf64_Phdr),
		.e_phnum	= ranges->nr,
	};
	off_t at = (sizeof(head) + ranges->nr * sizeof(Elf64_Phdr) + PAGE - 1) & -PAGE;

	if (pwrite(out, &head, sizeof(head), 0) != sizeof(head))
		return -1;
	for (size_t i = 0; i < ranges->nr; i++) {
		const struct range *range = &ranges->list[i];
		Elf64_Phdr load = {
			.p_type		= PT_LOAD,
			.p_flags	= PF_R | PF_X,
			.p_offset	= at,
			.p_vaddr	= range->from,
			.p_filesz	= range->to - range->from,
			.p_memsz	= range->to - range->from,
			.p_align	= PAGE,
		};

		if (pwrite(out, &load, sizeof(load), sizeof(head) + i * sizeof(load)) !=
		    sizeof(load) || copy_range(kcore, out, range, at))
			return -1;
		at += load.p_filesz;
	}
	return ftruncate(out, at);
}

void archive_kernel(const char *trace)
{
	int out = -1, kcore = open(KCORE, O_RDONLY | O_CLOEXEC);
	char *kallsyms, *path;
	struct ranges ranges;

	if (kcore < 0) {
		bts_warn("no %s (%s): the kernel's code is not saved", KCORE,
			 strerror(errno));
		return;
	}
	kallsyms = file_read(KALLSYMS, NULL);
	ranges = text_ranges(kallsyms ? kallsyms : (char []){ "" });
	free(kallsyms);
	path = archive_file(trace, "kcore");
	if (path)
		out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (path && (out < 0 || !ranges.nr || write_core(kcore, out, &ranges)))
		bts_errno("save the kernel's code", path);
	if (out >= 0)
		close(out);
	close(kcore);
	free(ranges.list);
	free(path);
}

/* --- Tasks -------------------------------------------------------------------------- */

/* Ours is the same as every 64-bit task's. */
static void archive_vdso(const char *trace)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Phdr *phdr;
	size_t end;

	if (!vdso)
		return;
	end = vdso->e_shoff + vdso->e_shnum * vdso->e_shentsize;
	phdr = (const Elf64_Phdr *)((const char *)vdso + vdso->e_phoff);
	for (int i = 0; i < vdso->e_phnum; i++)
		if (phdr[i].p_offset + phdr[i].p_filesz > end)
			end = phdr[i].p_offset + phdr[i].p_filesz;
	archive_put(trace, "vdso.so", vdso, end);
}

/* A task may have a /tmp of its own. */
static void archive_map(const char *trace, int pid)
{
	char *name = bts_format("perf-%d.map", pid);
	char *own = bts_format("/proc/%d/root/tmp/%s", pid, name);
	char *common = bts_format("/tmp/%s", name);
	struct stat stat;

	if (!lstat(own, &stat) && S_ISREG(stat.st_mode))
		archive_copy(trace, name, own);
	else if (!lstat(common, &stat) && S_ISREG(stat.st_mode))
		archive_copy(trace, name, common);
	free(common);
	free(own);
	free(name);
}

void archive_tasks(const char *trace, const struct names *names)
{
	archive_vdso(trace);
	for (size_t i = 0; i < names->nr_slots; i++)
		if (names->slots[i].pid > 0)
			archive_map(trace, names->slots[i].pid);
}
