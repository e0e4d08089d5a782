// SPDX-License-Identifier: GPL-2.0-only
/*
 * File and line of an address, from DWARF's line tables.
 *
 * The tables of an object are read when its first line is asked for, all at once, into
 * one array that is sorted by address: libdw's own look-up walks the units each time.
 * An entry without a line ends a run of code, so that nothing is claimed of what lies
 * between two of them.
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bts.h"
#include "object.h"

/* Names of files come by the thousand, and are few. */
static const char *file_name(struct object *o, const char *name, const char **last)
{
	if (!*last || strcmp(*last, name))
		*last = object_string(o, name);
	return *last;
}

static void add_line(struct object *o, uint64_t addr, const char *file, int line)
{
	if (!(o->nr_lines & (o->nr_lines - 1)) || !o->nr_lines)
		o->lines = bts_realloc(o->lines, o->nr_lines ? 2 * o->nr_lines : 1,
				       sizeof(*o->lines));
	o->lines[o->nr_lines++] = (struct line) { .addr = addr, .file = file, .line = line };
}

static void read_unit(struct object *o, Dwarf_Die *die)
{
	const char *last = NULL;
	Dwarf_Lines *lines;
	size_t nr;

	if (dwarf_getsrclines(die, &lines, &nr))
		return;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *name;
		Dwarf_Addr addr;
		bool end;
		int number;

		if (!line || dwarf_lineaddr(line, &addr) || dwarf_lineendsequence(line, &end) ||
		    dwarf_lineno(line, &number))
			continue;
		name = dwarf_linesrc(line, NULL, NULL);
		if (end || !name)
			add_line(o, addr + o->debug_bias, NULL, 0);
		else
			add_line(o, addr + o->debug_bias, file_name(o, name, &last), number);
	}
}

/* Where a run ends and the next begins, the end comes first. */
static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return !!a->file - !!b->file;
}

static void read_lines(struct object *o)
{
	Dwarf_Off offset = 0, next;
	Dwarf *dwarf;
	size_t head;
	int fd;

	o->lines_read = true;
	fd = o->debug_path ? open(o->debug_path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	while (dwarf && !dwarf_nextcu(dwarf, offset, &next, &head, NULL, NULL, NULL)) {
		Dwarf_Die die;

		if (dwarf_offdie(dwarf, offset + head, &die))
			read_unit(o, &die);
		offset = next;
	}
	dwarf_end(dwarf);
	close(fd);
	/* Stable among equals: the last one of an address is the one that holds. */
	if (o->nr_lines)
		qsort(o->lines, o->nr_lines, sizeof(*o->lines), compare);
}

bool object_line(struct object *o, uint64_t addr, const char **file, unsigned int *line)
{
	size_t low = 0, high, mid;

	if (!o->lines_read)
		read_lines(o);
	high = o->nr_lines;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (o->lines[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !o->lines[low - 1].file || !o->lines[low - 1].line)
		return false;
	*file = o->lines[low - 1].file;
	*line = o->lines[low - 1].line;
	return true;
}
