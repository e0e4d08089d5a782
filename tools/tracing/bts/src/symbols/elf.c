// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the build ID, the segments and the symbols of an ELF file.
 *
 * Code and symbols must come from the same build, but the file may change on disk while the tool
 * runs. So first read the whole file into memory. Use only executable segments, and of these only
 * the first p_filesz bytes, because the file contains no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "object.h"

#define FILE_MAX	(4ULL << 30)

/* If an address has two names, the name with the higher rank is used. */
enum {
	RANK_PLT,
	RANK_NOTYPE,
	RANK_LOCAL,
	RANK_WEAK,
	RANK_GLOBAL,
};

static uint8_t *read_file(const char *path, size_t *size)
{
	/* A FIFO may have replaced the file at the recorded path, so open() must not block. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint8_t *bytes = NULL;
	struct stat st;
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uint64_t)st.st_size < FILE_MAX) {
		bytes = mem_alloc(st.st_size);
		while (done < (size_t)st.st_size) {
			n = read(fd, bytes + done, st.st_size - done);
			if (n <= 0)
				break;
			done += n;
		}
	}
	close(fd);
	*size = done;
	return bytes;
}

uint32_t elf_notes_id(const uint8_t *at, uint64_t size, uint8_t *id)
{
	uint32_t head[3];

	while (size >= sizeof(head)) {
		uint64_t name, desc;

		memcpy(head, at, sizeof(head));
		name = ((uint64_t)head[0] + 3) & ~3ULL;
		desc = ((uint64_t)head[1] + 3) & ~3ULL;
		if (name > size || desc > size || sizeof(head) + name + desc > size)
			break;
		if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && head[1] <= BUILD_ID_MAX &&
		    !memcmp(at + sizeof(head), "GNU", 4)) {
			memcpy(id, at + sizeof(head) + name, head[1]);
			return head[1];
		}
		at += sizeof(head) + name + desc;
		size -= sizeof(head) + name + desc;
	}
	return 0;
}

static uint32_t build_id_of(Elf *elf, const uint8_t *file, size_t file_size, uint8_t *id)
{
	uint32_t size = 0;
	size_t nr;

	if (elf_getphdrnum(elf, &nr))
		return 0;
	for (size_t i = 0; i < nr && !size; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_NOTE && p.p_offset < file_size &&
		    p.p_filesz <= file_size - p.p_offset)
			size = elf_notes_id(file + p.p_offset, p.p_filesz, id);
	}
	return size;
}

/* Map the file instead of reading it, because a vmlinux may be half a gigabyte. */
static Elf *map_elf(const char *path, int *fd)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	return *fd < 0 ? NULL : elf_begin(*fd, ELF_C_READ_MMAP, NULL);
}

static void unmap_elf(Elf *elf, int fd)
{
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

uint32_t elf_build_id(const char *path, uint8_t *id)
{
	uint32_t found = 0;
	const char *file;
	size_t size;
	int fd;
	Elf *elf = map_elf(path, &fd);

	if (elf && elf_kind(elf) == ELF_K_ELF) {
		file = elf_rawfile(elf, &size);
		found = file ? build_id_of(elf, (const uint8_t *)file, size, id) : 0;
	}
	unmap_elf(elf, fd);
	return found;
}

static uint64_t symbol_value(Elf *elf, Elf_Scn *scn, const char *name)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr sh;
	GElf_Sym sym;

	if (!data || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
		return 0;
	for (size_t i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *is = elf_strptr(elf, sh.sh_link, sym.st_name);

		if (is && !strcmp(is, name))
			return sym.st_value;
	}
	return 0;
}

uint64_t elf_symbol(const char *path, const char *name)
{
	Elf_Scn *scn = NULL;
	uint64_t addr = 0;
	int fd;
	Elf *elf = map_elf(path, &fd);

	while (elf && !addr && (scn = elf_nextscn(elf, scn)))
		addr = symbol_value(elf, scn, name);
	unmap_elf(elf, fd);
	return addr;
}

static int by_vaddr(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

size_t elf_segments(Elf *elf, size_t file_size, uint32_t flags, struct segment **list)
{
	size_t nr, used = 0;

	*list = NULL;
	if (elf_getphdrnum(elf, &nr))
		return 0;
	*list = mem_zalloc(nr, sizeof(**list));
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, i, &p) || p.p_type != PT_LOAD ||
		    (p.p_flags & flags) != flags || p.p_offset >= file_size)
			continue;
		if (p.p_filesz > file_size - p.p_offset)
			p.p_filesz = file_size - p.p_offset;
		(*list)[used++] = (struct segment) {
			.vaddr = p.p_vaddr, .offset = p.p_offset, .size = p.p_filesz,
		};
	}
	if (used)
		qsort(*list, used, sizeof(**list), by_vaddr);
	return used;
}

/* Return the address at which the first page of the file's image begins. */
static uint64_t first_page(Elf *elf)
{
	struct segment *list;
	size_t nr = elf_segments(elf, SIZE_MAX, 0, &list);
	uint64_t base = nr ? list[0].vaddr & ~0xfffULL : 0;

	free(list);
	return base;
}

size_t elf_code(const char *path, struct segment **list)
{
	size_t nr = 0;
	int fd;
	Elf *elf = map_elf(path, &fd);

	*list = NULL;
	if (elf)
		nr = elf_segments(elf, SIZE_MAX, PF_X, list);
	unmap_elf(elf, fd);
	return nr;
}

/* A function whose symbol has no size may extend to the end of its section. */
static uint64_t rest_of_section(Elf *elf, const GElf_Sym *s)
{
	Elf_Scn *scn = elf_getscn(elf, s->st_shndx);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || s->st_value < sh.sh_addr ||
	    s->st_value - sh.sh_addr >= sh.sh_size)
		return 0;
	return sh.sh_size - (s->st_value - sh.sh_addr);
}

const char *elf_section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings;
	const char *name = elf_getshdrstrndx(elf, &strings) ? NULL :
			   elf_strptr(elf, strings, sh->sh_name);

	return name ? name : "";
}

void elf_sym(struct sym_list *list, Elf *elf, GElf_Sym *s, uint64_t addr, const char *name,
	     const char **file)
{
	int type = GELF_ST_TYPE(s->st_info), bind = GELF_ST_BIND(s->st_info);
	unsigned int rank = RANK_NOTYPE;
	bool open;

	/*
	 * An STT_FILE symbol precedes the local symbols of its file. An STT_FILE symbol with an
	 * empty name precedes the symbols that the linker creates.
	 */
	if (type == STT_FILE)
		*file = *name ? name : NULL;
	if (s->st_shndx == SHN_UNDEF || !s->st_value || !*name ||
	    (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) ||
	    (type == STT_NOTYPE && (name[0] == '.' || s->st_shndx == SHN_ABS)))
		return;
	if (type != STT_NOTYPE)
		rank = bind == STB_GLOBAL ? RANK_GLOBAL :
		       bind == STB_WEAK ? RANK_WEAK : RANK_LOCAL;
	open = !s->st_size;
	if (open && rank != RANK_NOTYPE)
		s->st_size = rest_of_section(elf, s);
	sym_list_add(list, addr, s->st_size, name, rank);
	list->list[list->nr - 1].file = *file;
	list->list[list->nr - 1].open = open;
	list->list[list->nr - 1].global = bind != STB_LOCAL;
}

bool elf_read(struct object *o, const char *path, const struct object_key *key,
	      const char *archive)
{
	uint8_t id[BUILD_ID_MAX];
	bool done = false;
	uint32_t id_size;
	size_t size;
	Elf *elf;

	elf_version(EV_CURRENT);
	o->file = read_file(path, &size);
	elf = o->file ? elf_memory((char *)o->file, size) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		o->file_size = size;
		id_size = build_id_of(elf, o->file, size, id);
		done = !key || !key->build_id_size ||
		       (id_size == key->build_id_size && !memcmp(id, key->build_id, id_size));
	}
	if (done) {
		o->read_path = mem_strdup(path);
		o->bits32 = gelf_getclass(elf) == ELFCLASS32;
		o->base = first_page(elf);
		o->nr_segments = elf_segments(elf, o->file_size, PF_X, &o->segments);
		if (!o->kernel)
			debug_syms(o, elf, path, archive);
	} else {
		free(o->file);
		o->file = NULL;
	}
	elf_end(elf);
	return done;
}
