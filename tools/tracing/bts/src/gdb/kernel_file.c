// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create an ELF file for gdb from the kernel's symbols in the trace and the kernel's code in the
 * archive. gdb needs this file, because gdb only shows code that is in a section of a file. The
 * file contains:
 *
 *	ELF header | section headers | .symtab | .strtab | names of sections
 *
 * The file has a .text section for each segment of the code. These sections have no contents,
 * because gdb reads all memory from bts. The file is not linked into a directory, so it disappears
 * when bts exits.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/msg.h"
#include "gdb.h"

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

enum { NAME_TEXT = 1, NAME_SYMTAB = 7, NAME_STRTAB = 15, NAME_SHSTRTAB = 23 };

/* Return the index of the section that contains the address, or 0. */
static uint16_t section_of(const struct object *kernel, uint64_t addr)
{
	for (size_t i = 0; i < kernel->nr_segments && i < SHN_LORESERVE - 1; i++) {
		const struct segment *s = &kernel->segments[i];

		if (addr >= s->vaddr && addr - s->vaddr < s->size)
			return i + 1;
	}
	return SHN_UNDEF;
}

static void add_symbols(const struct object *kernel, struct bytes *symbols, struct bytes *names)
{
	Elf64_Sym sym = {};

	bytes_add(symbols, &sym, sizeof(sym));
	bytes_add8(names, 0);
	for (size_t i = 0; i < kernel->nr_syms; i++) {
		const struct sym *s = &kernel->syms[i];

		sym = (Elf64_Sym) {
			.st_name = names->size, .st_value = s->addr, .st_size = s->end - s->addr,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = section_of(kernel, s->addr),
		};
		if (!sym.st_shndx)
			continue;
		bytes_add(symbols, &sym, sizeof(sym));
		bytes_add_string(names, s->plain);
	}
}

static void add_section(struct bytes *headers, uint64_t *offset, Elf64_Shdr section)
{
	section.sh_offset = *offset;
	section.sh_addralign = 1;
	if (section.sh_type != SHT_NOBITS)
		*offset += section.sh_size;
	bytes_add(headers, &section, sizeof(section));
}

static void add_sections(const struct object *kernel, struct bytes *headers,
			 uint64_t symbols, uint64_t names)
{
	size_t pieces = kernel->nr_segments;
	uint64_t offset = sizeof(Elf64_Ehdr) + (pieces + 4) * sizeof(Elf64_Shdr);

	add_section(headers, &offset, (Elf64_Shdr) {});
	for (size_t i = 0; i < pieces; i++)
		add_section(headers, &offset, (Elf64_Shdr) {
			.sh_name = NAME_TEXT, .sh_type = SHT_NOBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = kernel->segments[i].vaddr, .sh_size = kernel->segments[i].size,
		});
	add_section(headers, &offset, (Elf64_Shdr) {
		.sh_name = NAME_SYMTAB, .sh_type = SHT_SYMTAB, .sh_size = symbols,
		.sh_link = pieces + 2, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym),
	});
	add_section(headers, &offset, (Elf64_Shdr) {
		.sh_name = NAME_STRTAB, .sh_type = SHT_STRTAB, .sh_size = names,
	});
	add_section(headers, &offset, (Elf64_Shdr) {
		.sh_name = NAME_SHSTRTAB, .sh_type = SHT_STRTAB, .sh_size = sizeof(section_names),
	});
}

static void add_header(const struct object *kernel, struct bytes *file)
{
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			     ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = sizeof(head), .e_ehsize = sizeof(head),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = kernel->nr_segments + 4,
		.e_shstrndx = kernel->nr_segments + 3,
	};

	bytes_add(file, &head, sizeof(head));
}

int gdb_make_kernel_file(const struct object *kernel)
{
	struct bytes file = {}, headers = {}, symbols = {}, names = {};
	int fd = -1;

	if (!kernel->nr_segments || kernel->nr_segments >= SHN_LORESERVE - 4) {
		msg_error("read", "the kernel's code",
			  "the archive of the trace does not contain it");
		return -1;
	}
	add_symbols(kernel, &symbols, &names);
	add_sections(kernel, &headers, symbols.size, names.size);
	add_header(kernel, &file);
	bytes_add(&file, headers.data, headers.size);
	bytes_add(&file, symbols.data, symbols.size);
	bytes_add(&file, names.data, names.size);
	bytes_add(&file, section_names, sizeof(section_names));
	fd = memfd_create("kernel", MFD_CLOEXEC);
	if (fd < 0 || write(fd, file.data, file.size) != (ssize_t)file.size) {
		msg_errno("write", "the kernel's symbols");
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	bytes_free(&file);
	bytes_free(&headers);
	bytes_free(&symbols);
	bytes_free(&names);
	return fd;
}
