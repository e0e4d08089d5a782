// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the names and the code of functions from the files of JIT compilers:
 *
 *	/tmp/perf-PID.map	a line for each function: address, size, name
 *	jit-PID.dump		perf's jitdump, in any directory, with names and code. The program
 *				maps this file with PROT_EXEC, so the trace contains its path
 *
 * The files describe memory that is not mapped from a binary: anonymous memory, [heap], memfd. The
 * files are read at the first look-up of an address in such memory. If the program has reused
 * memory, functions overlap, and the function that is last in the file is used. The files are not
 * trusted, because another user may have written them.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/path.h"
#include "object.h"

#define DUMP_MAGIC	0x4a695444
#define DUMP_LOAD	0
#define DUMP_MAX	(1UL << 30)

struct dump_header {
	uint32_t	magic;
	uint32_t	version;
	uint32_t	size;
	uint32_t	machine;
	uint32_t	pad;
	uint32_t	pid;
	uint64_t	time;
	uint64_t	flags;
};

struct dump_record {
	uint32_t	id;
	uint32_t	size;
	uint64_t	time;
};

/* The function's name and code follow this header. */
struct dump_load {
	uint32_t	pid;
	uint32_t	tid;
	uint64_t	vma;
	uint64_t	addr;
	uint64_t	size;
	uint64_t	index;
};

/* A function. In a dump, its code is at @offset. In a map, its name is in line @offset. */
struct load {
	uint64_t	addr;
	uint64_t	size;
	const char	*name;
	size_t		offset;
};

struct loads {
	struct load	*list;
	size_t		nr;
};

bool jit_is_dump(const char *path)
{
	const char *slash = strrchr(path, '/');
	int pid, length = 0;

	return slash && sscanf(slash, "/jit-%d.dump%n", &pid, &length) == 1 && length &&
	       !slash[length];
}

/* Append an element to the list, and return the element. The caller fills in its members. */
static struct load *add_load(struct loads *all)
{
	if (!(all->nr & (all->nr - 1)))
		all->list = mem_realloc(all->list, all->nr ? 2 * all->nr : 1, sizeof(*all->list));
	return &all->list[all->nr++];
}

/* Sort by address. At the same address, sort from the newest (last in the file) to the oldest. */
static int compare(const void *left, const void *right)
{
	const struct load *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->offset > b->offset ? -1 : a->offset < b->offset;
}

/*
 * Sort the functions by address. Functions later in the file are newer. If a newer function
 * overlaps an older one, keep only the part of the older one before the overlap.
 */
static void keep_last(struct loads *all)
{
	size_t nr = 0;

	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), compare);
	for (size_t i = 0; i < all->nr; i++) {
		const struct load *new = &all->list[i];
		struct load *kept = nr ? &all->list[nr - 1] : NULL;

		if (kept && new->addr - kept->addr < kept->size) {
			if (new->offset < kept->offset)
				continue;
			kept->size = new->addr - kept->addr;
		}
		all->list[nr++] = *new;
	}
	all->nr = nr;
}

/*
 * Any user can write to /tmp, and a PID may be reused. So a file outside the archive must belong to
 * root or to the user who runs bts. If a file changed after the recording, its contents may be
 * wrong. But accept a dump that the program mapped, because compilers only append to dumps.
 * If a check fails, set @source->proof (object.h). If the file is in the archive, @source is NULL.
 */
static int open_jit(const char *path, struct object *source, int64_t ended, struct stat *st)
{
	int fd = path_open(path, source ? O_NOFOLLOW : 0, st);

	if (fd < 0 || !source)
		return fd;
	if (st->st_uid && st->st_uid != geteuid()) {
		source->proof = OBJECT_MISSING;
		close(fd);
		return -1;
	}
	if (st->st_ctime >= ended && !object_is_mapped(source, st))
		source->proof = OBJECT_UNPROVEN;
	return fd;
}

static const char *jit_name(struct object *o, const struct object *source, const char *name)
{
	bool unproven = source && source->proof == OBJECT_UNPROVEN;
	char *marked = mem_format("%s%s", name, unproven ? "?" : "");
	const char *kept = object_string(o, marked);

	free(marked);
	return kept;
}

static void read_map(struct object *o, struct sym_list *list)
{
	struct object *source = o->jit_archived ? NULL : o;
	struct loads all = {};
	char *line = NULL;
	size_t room = 0;
	struct stat st;
	int fd = o->jit_map ? open_jit(o->jit_map, source, o->jit_ended, &st) : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	for (size_t nr = 0; file && getline(&line, &room, file) > 0; nr++) {
		char *rest, *name;
		uint64_t addr = strtoull(line, &rest, 16), size = strtoull(rest, &rest, 16);

		line[strcspn(line, "\n")] = 0;
		name = rest + strspn(rest, " ");
		if (addr && size && *name)
			*add_load(&all) = (struct load) {
				.addr = addr, .size = size, .name = jit_name(o, source, name),
				.offset = nr,
			};
	}
	free(line);
	if (file)
		fclose(file);
	keep_last(&all);
	for (size_t i = 0; i < all.nr; i++)
		sym_list_add(list, all.list[i].addr, all.list[i].size, all.list[i].name, 2);
	free(all.list);
}

/* Read the dump into o->file. */
static bool read_bytes(struct object *o)
{
	struct stat st;
	int fd = o->jit_dump ? open_jit(o->jit_dump, o->jit_mapped, o->jit_ended, &st) : -1;
	ssize_t n = 0;

	if (fd < 0)
		return false;
	if (st.st_size > 0 && (size_t)st.st_size < DUMP_MAX) {
		o->file = mem_alloc(st.st_size);
		while (o->file_size < (size_t)st.st_size) {
			n = read(fd, o->file + o->file_size, st.st_size - o->file_size);
			if (n <= 0)
				break;
			o->file_size += n;
		}
	}
	close(fd);
	return o->file_size;
}

/* Read a DUMP_LOAD record. The @size bytes after its common header are at offset @at. */
static void read_load(struct loads *all, const struct object *o, size_t at, size_t size)
{
	const char *name = (const char *)o->file + at + sizeof(struct dump_load);
	struct dump_load head;
	size_t left;

	if (size <= sizeof(head))
		return;
	memcpy(&head, o->file + at, sizeof(head));
	left = strnlen(name, size - sizeof(head));
	/* A NUL ends the function's name. */
	left = size - sizeof(head) - left;
	if (left <= 1 || head.size > left - 1 || !head.size || !head.addr)
		return;
	*add_load(all) = (struct load) {
		.addr = head.addr, .size = head.size, .name = name, .offset = at + size - head.size,
	};
}

static void add_loads(struct object *o, struct loads *all, struct sym_list *list)
{
	keep_last(all);
	o->segments = mem_zalloc(all->nr, sizeof(*o->segments));
	for (size_t i = 0; i < all->nr; i++) {
		const struct load *l = &all->list[i];

		sym_list_add(list, l->addr, l->size, jit_name(o, o->jit_mapped, l->name), 3);
		o->segments[o->nr_segments++] = (struct segment) {
			.vaddr = l->addr, .offset = l->offset, .size = l->size,
		};
	}
	free(all->list);
}

static void read_dump(struct object *o, struct sym_list *list)
{
	struct dump_header header;
	struct dump_record record;
	struct loads all = {};
	size_t at;

	if (!read_bytes(o) || o->file_size < sizeof(header))
		return;
	memcpy(&header, o->file, sizeof(header));
	if (header.magic != DUMP_MAGIC)
		return;
	o->bits32 = header.machine == EM_386;
	for (at = header.size; at < o->file_size && o->file_size - at >= sizeof(record);
	     at += record.size) {
		memcpy(&record, o->file + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > o->file_size - at)
			break;
		if (record.id == DUMP_LOAD)
			read_load(&all, o, at + sizeof(record), record.size - sizeof(record));
	}
	add_loads(o, &all, list);
}

void jit_syms(struct object *o)
{
	struct sym_list list = {};

	read_map(o, &list);
	read_dump(o, &list);
	if (list.nr)
		object_set_syms(o, &list);
	free(list.list);
	o->jit_unread = false;
}
