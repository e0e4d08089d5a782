// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the kernel's code from /proc/kcore, and save it in the archive.
 *
 * The running code differs from the code in vmlinux, because static keys, alternatives and ftrace
 * patch the code. The code may also be patched during the recording, so it is read twice. Before
 * tracing starts, kernel_code_take() reads the code. After tracing has ended, kernel_code_save()
 * reads the code again, and writes this second copy to the file kcore in the archive. If a page has
 * changed or disappeared, kernel_code_save() writes the first copy of this page to kcore.before.
 *
 * If an instruction is equal in both copies, assume that the instruction did not change. If
 * unchanged code does not lead from one branch to the next branch, the pipeline reports a gap. If
 * the code is saved only by bts archive, after the recording, this copy (kcore.later) may differ
 * from the executed code. The kernel's notes are also saved: they contain the build ID of vmlinux.
 *
 * The kernel's own code is saved from _stext to _etext. To save the code of modules, BPF programs
 * and trampolines, find their text symbols in /proc/kallsyms. For each of these symbols, save
 * LAST_FUNCTION bytes from the start of the symbol's page.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "lib/path.h"
#include "archive.h"
#include "kernel_code.h"

/* A test replaces these paths. */
#ifndef KCORE
#define KCORE		"/proc/kcore"
#define KALLSYMS	"/proc/kallsyms"
#endif
#define NOTES		"/sys/kernel/notes"

enum {
	PAGE		= 4096,
	LAST_FUNCTION	= 16384,	/* assumed maximum size of a module's last function */
};

/* A range of adjacent pages, with their contents. */
struct piece {
	uint64_t	from, to;
	uint8_t		*bytes;
};

struct kernel_code {
	struct piece	*list;
	size_t		nr;
};

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static struct piece *add_piece(struct kernel_code *code, uint64_t from, uint64_t to)
{
	/* Enlarge the list when it contains 0, 1, 2, 4, 8 ... pieces. */
	if (!(code->nr & (code->nr - 1)))
		code->list = mem_realloc(code->list, 2 * code->nr + 1, sizeof(*code->list));
	code->list[code->nr] = (struct piece){ .from = from, .to = to };
	return &code->list[code->nr++];
}

/* Sort the pieces, and join pieces that touch or overlap. */
static void join_pieces(struct kernel_code *code)
{
	size_t used = 0;

	if (code->nr)
		qsort(code->list, code->nr, sizeof(*code->list), by_start);
	for (size_t i = 0; i < code->nr; i++) {
		struct piece *last = used ? &code->list[used - 1] : NULL;

		if (last && code->list[i].from <= last->to) {
			if (code->list[i].to > last->to)
				last->to = code->list[i].to;
		} else {
			code->list[used++] = code->list[i];
		}
	}
	code->nr = used;
}

/* Parse lines such as "ffffffff81000000 T _stext" and "ffffffffc0000000 t init\t[module]". */
static void find_pieces(struct kernel_code *code, char *kallsyms)
{
	uint64_t stext = 0, etext = 0;
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
			add_piece(code, addr & -PAGE, (addr + LAST_FUNCTION) & -PAGE);
	}
	if (stext && etext > stext)
		add_piece(code, stext & -PAGE, (etext + PAGE - 1) & -PAGE);
	join_pieces(code);
}

/* --- Reading ------------------------------------------------------------------------ */

/* Return the offset of an address in kcore, or 0. Limit *@length to the rest of the segment. */
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

/* Bytes that cannot be read remain 0. (kcore itself also returns 0 for such bytes.) */
static void read_piece(int kcore, struct piece *piece)
{
	piece->bytes = mem_zalloc(piece->to - piece->from, 1);
	for (uint64_t addr = piece->from; addr < piece->to;) {
		uint64_t length = piece->to - addr;
		uint64_t offset = kcore_offset(kcore, addr, &length);
		ssize_t n = -1;

		if (offset)
			n = pread(kcore, piece->bytes + (addr - piece->from), length, offset);
		addr += n > 0 ? (uint64_t)n : length;
	}
}

struct kernel_code *kernel_code_take(void)
{
	int kcore = open(KCORE, O_RDONLY | O_CLOEXEC);
	struct kernel_code *code;
	char *kallsyms;

	if (kcore < 0) {
		msg_warn("%s: %s, so the kernel's code is not saved", KCORE,
			 strerror(errno));
		return NULL;
	}
	code = mem_zalloc(1, sizeof(*code));
	kallsyms = path_read(KALLSYMS, NULL);
	find_pieces(code, kallsyms ? kallsyms : (char []){ "" });
	free(kallsyms);
	for (size_t i = 0; i < code->nr; i++)
		read_piece(kcore, &code->list[i]);
	close(kcore);
	return code;
}

void kernel_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->nr; i++)
		free(code->list[i].bytes);
	free(code->list);
	free(code);
}

/* --- Writing ------------------------------------------------------------------------ */

/* Do not use pwrite(), which may write only part of the data, for example on a full disk. */
static int write_at(int out, const void *data, size_t size, off_t at)
{
	return lseek(out, at, SEEK_SET) < 0 ? -1 : path_write_all(out, data, size);
}

static int write_core(int out, const struct kernel_code *code)
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
		.e_phnum	= code->nr,
	};
	off_t at = (sizeof(head) + code->nr * sizeof(Elf64_Phdr) + PAGE - 1) & -PAGE;

	if (write_at(out, &head, sizeof(head), 0))
		return -1;
	for (size_t i = 0; i < code->nr; i++) {
		const struct piece *piece = &code->list[i];
		uint64_t size = piece->to - piece->from;
		Elf64_Phdr load = {
			.p_type		= PT_LOAD,
			.p_flags	= PF_R | PF_X,
			.p_offset	= at,
			.p_vaddr	= piece->from,
			.p_filesz	= size,
			.p_memsz	= size,
			.p_align	= PAGE,
		};

		if (write_at(out, &load, sizeof(load), sizeof(head) + i * sizeof(load)) ||
		    write_at(out, piece->bytes, size, at))
			return -1;
		at += size;
	}
	return 0;
}

static void save_as(const char *trace, const char *name, const struct kernel_code *code)
{
	int out;

	if (!code->nr) {
		msg_warn("%s has no addresses, so the kernel's code is not saved", KALLSYMS);
		return;
	}
	out = archive_create(trace, name);
	if (out >= 0)
		archive_finish(trace, name, out, write_core(out, code));
}

static const uint8_t *page_of(const struct kernel_code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->nr; i++)
		if (addr >= code->list[i].from && addr < code->list[i].to)
			return code->list[i].bytes + (addr - code->list[i].from);
	return NULL;
}

/* Return the pages of @before that differ from @now or are missing in @now. */
static struct kernel_code *changed(const struct kernel_code *before,
				   const struct kernel_code *now)
{
	struct kernel_code *code = mem_zalloc(1, sizeof(*code));

	for (size_t i = 0; i < before->nr; i++) {
		const struct piece *piece = &before->list[i];

		for (uint64_t addr = piece->from; addr < piece->to; addr += PAGE) {
			const uint8_t *old = piece->bytes + (addr - piece->from);
			const uint8_t *new = page_of(now, addr);
			struct piece *copy;

			if (new && !memcmp(old, new, PAGE))
				continue;
			copy = add_piece(code, addr, addr + PAGE);
			copy->bytes = mem_alloc(PAGE);
			memcpy(copy->bytes, old, PAGE);
		}
	}
	return code;
}

static void save_notes(const char *trace)
{
	size_t size;
	char *notes = path_read(NOTES, &size);

	if (notes)
		archive_put(trace, "notes", notes, size);
	free(notes);
}

void kernel_code_save(const char *trace, const struct kernel_code *before)
{
	struct kernel_code *now = kernel_code_take(), *old;

	save_notes(trace);
	if (!now)
		return;
	save_as(trace, before ? "kcore" : "kcore.later", now);
	if (before) {
		old = changed(before, now);
		if (old->nr)
			save_as(trace, "kcore.before", old);
		kernel_code_free(old);
	}
	kernel_code_free(now);
}
