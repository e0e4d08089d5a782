// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the line programs of DWARF (versions 2 to 5).
 *
 * A line program generates sequences of rows. Each sequence describes one stretch of code. Code
 * that the linker discarded (--gc-sections, COMDAT) has its own sequences, which lines.c skips.
 * libdw cannot be used, because it sorts all rows of a unit by address, and so mixes the sequences.
 *
 * DWARF 5, section 6.2.
 */
#include <dwarf.h>
#include <string.h>

#include "line_program.h"

/* The unread bytes. A read beyond @end sets @bad. This read and all later reads return 0. */
struct cursor {
	const uint8_t	*at;
	const uint8_t	*end;
	bool		bad;
};

struct program {
	struct cursor	c;
	uint8_t		min_length;
	int8_t		line_base;
	uint8_t		line_range;
	uint8_t		opcode_base;
	const uint8_t	*lengths;	/* the number of operands of each standard opcode */
	struct line_row	row;
};

/* Read a little-endian number of @size bytes. */
static uint64_t get(struct cursor *c, uint64_t size)
{
	uint64_t value = 0;

	if ((uint64_t)(c->end - c->at) < size || size > sizeof(value)) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size);
	c->at += size;
	return value;
}

static void skip(struct cursor *c, uint64_t size)
{
	if ((uint64_t)(c->end - c->at) < size) {
		c->bad = true;
		size = c->end - c->at;
	}
	c->at += size;
}

/* Read a LEB128 number. Sign-extend the number if it is signed. */
static uint64_t get_leb(struct cursor *c, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = get(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ULL << shift;
	return value;
}

/* Read the header of a line-number program, and move the cursor to the first opcode. */
static bool begin(struct program *p)
{
	unsigned int offset_size = 4, version;
	const uint8_t *first;
	uint64_t length;

	length = get(&p->c, 4);
	if (length == 0xffffffff) {
		offset_size = 8;
		length = get(&p->c, 8);
	}
	if (length > (uint64_t)(p->c.end - p->c.at))
		return false;
	p->c.end = p->c.at + length;
	version = get(&p->c, 2);
	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		skip(&p->c, 2);
	length = get(&p->c, offset_size);
	first = p->c.at;
	p->min_length = get(&p->c, 1);
	if (version >= 4)
		skip(&p->c, 1);
	skip(&p->c, 1);
	p->line_base = get(&p->c, 1);
	p->line_range = get(&p->c, 1);
	p->opcode_base = get(&p->c, 1);
	p->lengths = p->c.at;
	skip(&p->c, p->opcode_base ? p->opcode_base - 1 : 0);
	p->c.at = first;
	skip(&p->c, length);
	return !p->c.bad && p->line_range && p->opcode_base;
}

static void begin_sequence(struct program *p)
{
	p->row = (struct line_row) { .file = 1, .line = 1 };
}

/* Advance the address (and, if @line is true, the line) by the step that @opcode encodes. */
static void advance(struct program *p, uint8_t opcode, bool line)
{
	uint8_t by = opcode - p->opcode_base;

	p->row.addr += (uint64_t)p->min_length * (by / p->line_range);
	if (line)
		p->row.line += p->line_base + by % p->line_range;
}

/* Return true if the opcode adds a row. */
static bool extended(struct program *p)
{
	uint64_t length = get_leb(&p->c, false);
	const uint8_t *begin = p->c.at;
	bool row = false;

	switch (length ? get(&p->c, 1) : 0) {
	case DW_LNE_end_sequence:
		p->row.end = true;
		row = true;
		break;
	case DW_LNE_set_address:
		p->row.addr = get(&p->c, length - 1);
		break;
	}
	if (!p->c.bad) {
		p->c.at = begin;
		skip(&p->c, length);
	}
	return row;
}

static bool standard(struct program *p, uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		return true;
	case DW_LNS_advance_pc:
		p->row.addr += p->min_length * get_leb(&p->c, false);
		return false;
	case DW_LNS_advance_line:
		p->row.line += get_leb(&p->c, true);
		return false;
	case DW_LNS_set_file:
		p->row.file = get_leb(&p->c, false);
		return false;
	case DW_LNS_const_add_pc:
		advance(p, 255, false);
		return false;
	case DW_LNS_fixed_advance_pc:
		p->row.addr += get(&p->c, 2);
		return false;
	}
	for (unsigned int i = 0; i < p->lengths[opcode - 1]; i++)
		get_leb(&p->c, false);
	return false;
}

static bool step(struct program *p)
{
	uint8_t opcode = get(&p->c, 1);

	if (!opcode)
		return extended(p);
	if (opcode < p->opcode_base)
		return standard(p, opcode);
	advance(p, opcode, true);
	return true;
}

void line_program_run(const void *section, size_t size, uint64_t offset,
		      void (*add)(void *ctx, const struct line_row *row), void *ctx)
{
	struct program p = { .c = { .at = section, .end = (const uint8_t *)section + size } };

	skip(&p.c, offset);
	if (p.c.bad || !begin(&p))
		return;
	begin_sequence(&p);
	while (p.c.at < p.c.end) {
		if (!step(&p) || p.c.bad)
			continue;
		add(ctx, &p.row);
		if (p.row.end)
			begin_sequence(&p);
	}
}
