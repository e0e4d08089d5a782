// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give names to the stubs of the procedure linkage table (PLT), which call into other files.
 *
 * Stubs have no symbols. Each stub jumps through a slot that the dynamic linker fills. The slot's
 * relocation contains the name of the called function. For printf, the stub is named printf@plt. A
 * stub contains one of these instruction sequences:
 *
 *	jmp *SLOT(%rip)		in .plt (without IBT), in .plt.sec (with IBT) or in .plt.got
 *	push $N; jmp .plt	in .plt, only with IBT. The first call of a function executes this
 *				stub. N is the index of the slot's relocation in .rela.plt
 *
 * In a static program, the relocation for an ifunc's stub contains the address of the ifunc's
 * resolver. The resolver's symbol has the name of the ifunc. lld puts ifunc stubs into .iplt.
 *
 * In 32-bit code, jmp *SLOT contains the slot's address, and jmp *SLOT(%ebx) contains the slot's
 * offset in the global offset table. The N of push $N is a byte offset in .rel.plt. Code in .plt*
 * and .iplt is named [plt] if the called function is unknown.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "object.h"

#define STUB_SIZE	16

struct slot {
	uint64_t	addr;
	const char	*name;
};

/**
 * struct slots - the slots that the relocations describe
 * @list:	sorted by address
 * @by_number:	names in the order of .rela.plt
 * @bits32:	the code is 32-bit code
 * @got:	address of the global offset table, for 32-bit code
 */
struct slots {
	struct slot	*list;
	size_t		nr;
	const char	**by_number;
	size_t		nr_numbers;
	bool		bits32;
	uint64_t	got;
};

static const char *reloc_name(Elf *elf, const GElf_Shdr *rela, const GElf_Rela *r)
{
	Elf_Scn *scn = elf_getscn(elf, rela->sh_link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr sh;
	GElf_Sym s;
	const char *name;

	if (!data || !gelf_getshdr(scn, &sh) || !gelf_getsym(data, GELF_R_SYM(r->r_info), &s))
		return NULL;
	name = elf_strptr(elf, sh.sh_link, s.st_name);
	return name && *name ? name : NULL;
}

/* Return the name of the highest-ranked function at the address, or NULL. */
static const char *function_at(const struct sym_list *list, uint64_t addr)
{
	const struct sym_add *found = NULL;

	for (size_t i = 0; i < list->nr; i++)
		if (list->list[i].addr == addr && list->list[i].rank > (found ? found->rank : 1))
			found = &list->list[i];
	return found ? found->name : NULL;
}

/* Read a REL or RELA relocation. For REL, set the addend to 0. */
static bool get_reloc(Elf_Data *data, const GElf_Shdr *sh, size_t i, GElf_Rela *r)
{
	GElf_Rel rel;

	if (sh->sh_type == SHT_RELA)
		return gelf_getrela(data, i, r);
	if (!gelf_getrel(data, i, &rel))
		return false;
	*r = (GElf_Rela) { .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

/*
 * Return the name of the function whose ifunc resolver is at @addr, or NULL. If lld linked the
 * file, the resolver has only a local symbol. In glibc, the name of this symbol ends with _ifunc.
 */
static const char *resolved_name(struct object *o, const struct sym_list *list, uint64_t addr)
{
	static const char suffix[] = "_ifunc";
	const char *name = function_at(list, addr);
	size_t length = name ? strlen(name) : 0, end = strlen(suffix);
	char *copy;

	if (length <= end || strcmp(name + length - end, suffix))
		return name;
	copy = object_string(o, name);
	copy[length - end] = 0;
	return copy;
}

/* Use a slot's relocation to find the name of the called function. Return NULL if unknown. */
static const char *slot_name(struct object *o, Elf *elf, const GElf_Shdr *sh, const GElf_Rela *r,
			     const struct sym_list *list)
{
	unsigned int type = GELF_R_TYPE(r->r_info);

	if (gelf_getclass(elf) == ELFCLASS64 && type == R_X86_64_IRELATIVE)
		return resolved_name(o, list, r->r_addend);
	/* R_386_JMP_SLOT equals R_X86_64_JUMP_SLOT. R_386_GLOB_DAT equals R_X86_64_GLOB_DAT. */
	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
		return NULL;
	return reloc_name(elf, sh, r);
}

static void read_relocs(struct object *o, struct slots *slots, Elf *elf, Elf_Scn *scn, bool plt,
			const struct sym_list *list)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr sh;
	GElf_Rela r;
	size_t nr;

	if (!data || !gelf_getshdr(scn, &sh) || !sh.sh_entsize)
		return;
	nr = data->d_size / sh.sh_entsize;
	slots->list = mem_realloc(slots->list, slots->nr + nr, sizeof(*slots->list));
	if (plt)
		slots->by_number = mem_zalloc(nr, sizeof(*slots->by_number));
	for (size_t i = 0; i < nr && get_reloc(data, &sh, i, &r); i++) {
		const char *name = slot_name(o, elf, &sh, &r, list);

		if (!name)
			continue;
		slots->list[slots->nr++] = (struct slot) { .addr = r.r_offset, .name = name };
		if (plt)
			slots->by_number[i] = name;
	}
	if (plt)
		slots->nr_numbers = nr;
}

static int compare(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void read_slots(struct object *o, struct slots *slots, Elf *elf,
		       const struct sym_list *list)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ? elf_section_name(elf, &sh) : "";

		if (sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL)
			read_relocs(o, slots, elf, scn, !slots->by_number &&
				    (!strcmp(name, ".rela.plt") || !strcmp(name, ".rel.plt")),
				    list);
		/* The global offset table starts at .got.plt or, without this section, at .got. */
		if (!strcmp(name, ".got.plt") || (!strcmp(name, ".got") && !slots->got))
			slots->got = sh.sh_addr;
	}
	if (slots->nr)
		qsort(slots->list, slots->nr, sizeof(*slots->list), compare);
}

/* Return the address of the slot that the jmp at code[at] reads, or 0. @code begins at @addr. */
static uint64_t slot_of(const struct slots *slots, const uint8_t *code, size_t at, uint64_t addr)
{
	uint32_t operand;

	memcpy(&operand, code + at + 2, sizeof(operand));
	if (code[at] != 0xff)
		return 0;
	if (slots->bits32 && code[at + 1] == 0xa3)
		return (uint32_t)(slots->got + operand);
	if (code[at + 1] != 0x25)
		return 0;
	return slots->bits32 ? operand : addr + at + 6 + (int32_t)operand;
}

/* Return the name of the function whose stub is at the address, or NULL. */
static const char *stub_of(const struct slots *slots, const uint8_t *code, uint64_t addr)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e };
	const struct slot *found;
	struct slot wanted = {};
	uint32_t operand;
	size_t at = 0;

	/* Skip endbr64 or endbr32, which differ only in the fourth byte. */
	if (!memcmp(code, endbr, sizeof(endbr)))
		at = sizeof(endbr) + 1;
	/* Skip a bnd prefix. */
	at += code[at] == 0xf2;
	if (code[at] == 0x68) {
		memcpy(&operand, code + at + 1, sizeof(operand));
		if (slots->bits32)
			operand /= sizeof(Elf32_Rel);
		return operand < slots->nr_numbers ? slots->by_number[operand] : NULL;
	}
	wanted.addr = slots->nr ? slot_of(slots, code, at, addr) : 0;
	if (!wanted.addr)
		return NULL;
	found = bsearch(&wanted, slots->list, slots->nr, sizeof(wanted), compare);
	return found ? found->name : NULL;
}

static void read_stubs(struct object *o, const struct slots *slots, Elf_Scn *scn,
		       const GElf_Shdr *sh, struct sym_list *list)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t each = sh->sh_entsize >= 8 ? sh->sh_entsize : STUB_SIZE;

	if (!data || !data->d_buf)
		return;
	for (size_t at = 0; at < data->d_size; at += each) {
		uint8_t code[STUB_SIZE] = {};
		size_t left = data->d_size - at;
		const char *name;
		char *full;

		if (left > each)
			left = each;
		memcpy(code, (uint8_t *)data->d_buf + at, left < STUB_SIZE ? left : STUB_SIZE);
		name = stub_of(slots, code, sh->sh_addr + at);
		full = name ? mem_format("%s@plt", name) : mem_strdup("[plt]");
		sym_list_add(list, sh->sh_addr + at, left, object_string(o, full), 0);
		free(full);
	}
}

void plt_syms(struct object *o, Elf *elf, struct sym_list *list)
{
	struct slots slots = {};
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	slots.bits32 = gelf_getclass(elf) == ELFCLASS32;
	read_slots(o, &slots, elf, list);
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		name = elf_section_name(elf, &sh);
		if (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt"))
			read_stubs(o, &slots, scn, &sh, list);
	}
	free(slots.by_number);
	free(slots.list);
}
