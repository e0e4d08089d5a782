// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the landing pads of exceptions in the tables that the unwinder reads.
 *
 *	LSDA	A language-specific data area (.gcc_except_table) lists the call sites of a
 *		function, each with the address of its landing pad, or with 0.
 *	FDE	A frame description entry (.eh_frame) has the addresses of a function and its LSDA.
 *	CIE	A common information entry (.eh_frame) has what many FDEs have in common.
 *
 * The section .eh_frame is read once for each object. LSDAs are read again at each look-up, which
 * is fast enough because exceptions are rare. The file is not trusted, so each cursor knows where
 * its data ends. A read beyond the end of the data sets the cursor's member @spoilt. See "Exception
 * Frames" in the Linux Standard Base, and "Exception Handling Tables" in the Itanium C++ ABI.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/sorted.h"
#include "lsda.h"

/* The encoding of a pointer: format and base (DW_EH_PE_* in the Linux Standard Base). */
enum {
	PE_ABSPTR	= 0x00,
	PE_ULEB		= 0x01,
	PE_UDATA2	= 0x02,
	PE_UDATA4	= 0x03,
	PE_UDATA8	= 0x04,
	PE_SLEB		= 0x09,
	PE_SDATA2	= 0x0a,
	PE_SDATA4	= 0x0b,
	PE_SDATA8	= 0x0c,
	PE_FORMAT	= 0x0f,
	PE_PCREL	= 0x10,
	PE_BASE		= 0x70,
	PE_INDIRECT	= 0x80,
	PE_OMIT		= 0xff,
};

/* The maximum length of a CIE's augmentation string. Compilers use shorter strings. */
#define LETTERS_MAX	16

/* Unread bytes of the file, and the address of the first unread byte. */
struct cursor {
	const uint8_t	*at;
	size_t		left;
	uint64_t	addr;
	bool		bits32;
	bool		spoilt;
};

/* The addresses of a function and its LSDA. If the function has no LSDA, @lsda is 0. */
struct lsda_function {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	lsda;
};

/**
 * struct lsda_table - the functions of an object, with their LSDAs
 * @functions:	sorted by address
 * @segments:	all segments of the file, with or without code
 */
struct lsda_table {
	struct lsda_function	*functions;
	size_t			nr;
	size_t			room;
	struct segment		*segments;
	size_t			nr_segments;
};

static const uint8_t *take(struct cursor *c, size_t size)
{
	const uint8_t *at = c->at;

	if (c->spoilt || size > c->left) {
		c->spoilt = true;
		return NULL;
	}
	c->at += size;
	c->left -= size;
	c->addr += size;
	return at;
}

/* Return a cursor for the next @size bytes, and advance @c past them. */
static struct cursor part(struct cursor *c, uint64_t size)
{
	struct cursor inner = *c;

	inner.left = size;
	inner.spoilt = !take(c, size);
	return inner;
}

static uint64_t number(struct cursor *c, size_t size, bool is_signed)
{
	const uint8_t *at = take(c, size);
	uint64_t value = 0;

	if (!at)
		return 0;
	memcpy(&value, at, size);
	if (is_signed && size < 8 && value >> (8 * size - 1))
		value |= ~0ULL << (8 * size);
	return value;
}

static uint64_t leb(struct cursor *c, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t value = 0, byte;

	do {
		byte = number(c, 1, false);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ULL << shift;
	return value;
}

static uint64_t pointer_value(struct cursor *c, uint8_t encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
		return number(c, c->bits32 ? 4 : 8, false);
	case PE_ULEB:
		return leb(c, false);
	case PE_SLEB:
		return leb(c, true);
	case PE_UDATA2:
	case PE_SDATA2:
		return number(c, 2, encoding & 8);
	case PE_UDATA4:
	case PE_SDATA4:
		return number(c, 4, encoding & 8);
	case PE_UDATA8:
	case PE_SDATA8:
		return number(c, 8, false);
	}
	c->spoilt = true;
	return 0;
}

/* Read an absolute or PC-relative pointer. If the stored value is 0, the pointer is 0. */
static uint64_t pointer(struct cursor *c, uint8_t encoding)
{
	uint64_t at = c->addr, value = pointer_value(c, encoding);

	if (value && (encoding & PE_BASE) == PE_PCREL)
		value += at;
	else if (value && (encoding & PE_BASE))
		c->spoilt = true;
	c->spoilt |= !!(encoding & PE_INDIRECT);
	return c->bits32 ? (uint32_t)value : value;
}

/* The encodings of addresses and LSDA pointers in the FDEs of a CIE. */
struct cie {
	uint8_t	addresses;
	uint8_t	lsda;
	bool	augmented;
};

static bool read_augmentation(struct cursor *c, const char *letters, struct cie *cie)
{
	uint8_t encoding;

	cie->augmented = *letters == 'z';
	if (!cie->augmented)
		return !*letters;
	leb(c, false);
	while (*++letters) {
		switch (*letters) {
		case 'L':
			cie->lsda = number(c, 1, false);
			break;
		case 'R':
			cie->addresses = number(c, 1, false);
			break;
		case 'P':
			encoding = number(c, 1, false);
			pointer_value(c, encoding);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !c->spoilt;
}

static bool read_cie(struct cursor *c, struct cie *cie)
{
	const char *letters;
	uint8_t version;
	size_t room;

	*cie = (struct cie) { .addresses = PE_ABSPTR, .lsda = PE_OMIT };
	if (number(c, 4, false))
		return false;
	version = number(c, 1, false);
	letters = (const char *)c->at;
	room = c->left < LETTERS_MAX ? c->left : LETTERS_MAX;
	if (c->spoilt || !memchr(letters, 0, room) || (version != 1 && version != 3))
		return false;
	take(c, strlen(letters) + 1);
	/* Skip the alignment factors of code and data, and the return address register. */
	leb(c, false);
	leb(c, true);
	if (version == 1)
		number(c, 1, false);
	else
		leb(c, false);
	return read_augmentation(c, letters, cie);
}

/*
 * Read the length field of the next CIE or FDE, and return a cursor for the bytes after this field.
 * At the end of the section, set @spoilt in the returned cursor.
 */
static struct cursor next_entry(struct cursor *c)
{
	uint64_t size = number(c, 4, false);

	if (size == 0xffffffff)
		size = number(c, 8, false);
	if (!size)
		c->spoilt = true;
	return part(c, size);
}

static void add_function(struct lsda_table *t, const struct lsda_function *f)
{
	if (t->nr == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->functions = mem_realloc(t->functions, t->room, sizeof(*t->functions));
	}
	t->functions[t->nr++] = *f;
}

/* Read an FDE, whose CIE lies @back bytes before @offset in the section. */
static void read_fde(struct lsda_table *t, struct cursor *fde, const struct cursor *section,
		     size_t offset, uint64_t back)
{
	struct cursor all = *section, entry;
	struct lsda_function f;
	struct cie cie;

	if (back > offset || !take(&all, offset - back))
		return;
	entry = next_entry(&all);
	if (!read_cie(&entry, &cie))
		return;
	f.begin = pointer(fde, cie.addresses);
	f.end = f.begin + pointer_value(fde, cie.addresses);
	f.lsda = 0;
	if (cie.augmented && cie.lsda != PE_OMIT) {
		leb(fde, false);
		f.lsda = pointer(fde, cie.lsda);
	}
	if (!fde->spoilt && f.begin && f.begin < f.end)
		add_function(t, &f);
}

static void read_section(struct lsda_table *t, struct cursor section)
{
	struct cursor all = section, entry;

	for (;;) {
		uint64_t id;
		size_t offset;

		entry = next_entry(&section);
		if (entry.spoilt)
			return;
		offset = entry.at - all.at;
		id = number(&entry, 4, false);
		if (id && !entry.spoilt)
			read_fde(t, &entry, &all, offset, id);
	}
}

static int by_address(const void *left, const void *right)
{
	const struct lsda_function *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static struct cursor section_bytes(const struct object *o, Elf *elf, const char *wanted)
{
	struct cursor none = { .spoilt = true };
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS ||
		    sh.sh_offset > o->file_size || sh.sh_size > o->file_size - sh.sh_offset)
			continue;
		if (!strcmp(elf_section_name(elf, &sh), wanted))
			return (struct cursor) {
				.at = o->file + sh.sh_offset, .left = sh.sh_size,
				.addr = sh.sh_addr, .bits32 = o->bits32,
			};
	}
	return none;
}

static struct lsda_table *table_of(struct object *o)
{
	struct lsda_table *t = o->lsda;
	Elf *elf;

	if (t)
		return t;
	t = mem_zalloc(1, sizeof(*t));
	o->lsda = t;
	if (!o->file)
		return t;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)o->file, o->file_size);
	if (elf) {
		t->nr_segments = elf_segments(elf, o->file_size, 0, &t->segments);
		read_section(t, section_bytes(o, elf, ".eh_frame"));
	}
	elf_end(elf);
	if (t->nr)
		qsort(t->functions, t->nr, sizeof(*t->functions), by_address);
	return t;
}

static const struct lsda_function *function_at(const struct lsda_table *t, uint64_t addr)
{
	size_t nr = sorted_upto(t->functions, t->nr, sizeof(*t->functions), addr);

	return nr && addr < t->functions[nr - 1].end ? &t->functions[nr - 1] : NULL;
}

static struct cursor bytes_at(const struct object *o, const struct lsda_table *t, uint64_t addr)
{
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (addr < s->vaddr || addr - s->vaddr >= s->size)
			continue;
		return (struct cursor) {
			.at = o->file + s->offset + (addr - s->vaddr),
			.left = s->size - (addr - s->vaddr), .addr = addr, .bits32 = o->bits32,
		};
	}
	return (struct cursor) { .spoilt = true };
}

bool lsda_leads(struct object *o, uint64_t site, uint64_t pad)
{
	const struct lsda_table *t = table_of(o);
	const struct lsda_function *f = function_at(t, site);
	uint64_t base, start, length, target;
	struct cursor c, sites;
	uint8_t encoding;

	if (!f || !f->lsda)
		return false;
	c = bytes_at(o, t, f->lsda);
	encoding = number(&c, 1, false);
	base = encoding == PE_OMIT ? f->begin : pointer(&c, encoding);
	encoding = number(&c, 1, false);
	if (encoding != PE_OMIT)
		leb(&c, false);
	encoding = number(&c, 1, false);
	sites = part(&c, leb(&c, false));
	while (!sites.spoilt && sites.left) {
		start = f->begin + pointer_value(&sites, encoding);
		length = pointer_value(&sites, encoding);
		target = pointer_value(&sites, encoding);
		leb(&sites, false);
		if (!sites.spoilt && site >= start && site - start < length)
			return target && base + target == pad;
	}
	return false;
}

void lsda_each(struct object *o, void (*each)(void *ctx, uint64_t begin, uint64_t end), void *ctx)
{
	const struct lsda_table *t = table_of(o);

	for (size_t i = 0; i < t->nr; i++)
		each(ctx, t->functions[i].begin, t->functions[i].end);
}

void lsda_free(struct object *o)
{
	struct lsda_table *t = o->lsda;

	if (!t)
		return;
	free(t->functions);
	free(t->segments);
	free(t);
	o->lsda = NULL;
}
