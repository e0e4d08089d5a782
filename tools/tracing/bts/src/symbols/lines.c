// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the file and line of an address in DWARF's line tables.
 *
 * The first look-up in an object reads all its line tables into one array, which is sorted by
 * address. libdw's own look-up is not used, because it searches all units each time, and because it
 * also finds the lines of discarded functions. An entry without a line marks the end of a stretch
 * of code. Addresses from this entry to the next entry have no line.
 */
#include <dwarf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/sorted.h"
#include "dwarf.h"
#include "line_program.h"

/**
 * struct unit - a compilation unit
 * @dir:	the directory to which relative file names refer
 * @names:	the names of the unit's files; a name is NULL until its first use
 * @within:	a sequence of rows has begun but not ended
 * @live:	the sequence does not belong to a discarded function
 */
struct unit {
	struct object	*object;
	bool		within;
	bool		live;
	const char	*dir;
	Dwarf_Files	*files;
	const char	**names;
	size_t		nr;
};

const char *unit_path(struct object *o, const char *dir, const char *name)
{
	char *path;
	const char *kept;

	if (!name || name[0] == '/' || !dir)
		return name ? object_string(o, name) : NULL;
	path = mem_format("%s/%s", dir, strncmp(name, "./", 2) ? name : name + 2);
	kept = object_string(o, path);
	free(path);
	return kept;
}

const char *unit_dir(Dwarf_Die *unit)
{
	Dwarf_Attribute dir;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &dir));
}

bool is_code(const struct object *o, uint64_t addr)
{
	if (!addr)
		return false;
	addr += o->debug_bias;
	/* The kernel's segments cover only the saved code, not all code, so accept any address. */
	return o->kernel || !o->nr_segments || object_segment(o, addr);
}

static const char *file_name(struct unit *u, uint64_t i)
{
	if (i >= u->nr)
		return NULL;
	if (!u->names[i])
		u->names[i] = unit_path(u->object, u->dir,
					dwarf_filesrc(u->files, i, NULL, NULL));
	return u->names[i];
}

static void add_line(struct object *o, uint64_t addr, const char *file, int line)
{
	if (!(o->nr_lines & (o->nr_lines - 1)) || !o->nr_lines)
		o->lines = mem_realloc(o->lines, o->nr_lines ? 2 * o->nr_lines : 1,
				       sizeof(*o->lines));
	o->lines[o->nr_lines] = (struct line) {
		.addr = addr, .file = file, .line = line, .order = o->nr_lines,
	};
	o->nr_lines++;
}

static void read_row(void *ctx, const struct line_row *row)
{
	struct unit *u = ctx;
	struct object *o = u->object;
	const char *file;

	if (!u->within)
		u->live = is_code(o, row->addr);
	u->within = !row->end;
	if (!u->live)
		return;
	file = row->end ? NULL : file_name(u, row->file);
	add_line(o, row->addr + o->debug_bias, file, file ? row->line : 0);
}

/* Type units and partial units share the line program of another unit. */
static bool has_lines(Dwarf_Die *die)
{
	return dwarf_tag(die) != DW_TAG_type_unit && dwarf_tag(die) != DW_TAG_partial_unit;
}

static void read_unit(struct object *o, Dwarf_Die *die, const Elf_Data *program)
{
	struct unit u = { .object = o, .dir = unit_dir(die) };
	Dwarf_Attribute attr;
	Dwarf_Word offset;

	if (!has_lines(die) || dwarf_getsrcfiles(die, &u.files, &u.nr) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &attr), &offset))
		return;
	u.names = mem_zalloc(u.nr, sizeof(*u.names));
	line_program_run(program->d_buf, program->d_size, offset, read_row, &u);
	free(u.names);
}

/* If one stretch of code ends where another stretch begins, sort the end first. */
static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (!a->file != !b->file)
		return !!a->file - !!b->file;
	return a->order < b->order ? -1 : a->order > b->order;
}

/*
 * If an address has several lines, keep only the last line. The other lines have no instruction, so
 * it is unknown how often they were executed.
 */
static void sort_lines(struct object *o)
{
	size_t nr = 0;

	if (o->nr_lines)
		qsort(o->lines, o->nr_lines, sizeof(*o->lines), compare);
	for (size_t i = 0; i < o->nr_lines; i++)
		if (i + 1 == o->nr_lines || o->lines[i].addr != o->lines[i + 1].addr)
			o->lines[nr++] = o->lines[i];
	o->nr_lines = nr;
}

void units_begin(struct units *u, const struct object *o)
{
	*u = (struct units) { .fd = -1 };
	if (o->debug_path)
		u->fd = open(o->debug_path, O_RDONLY | O_CLOEXEC);
	if (u->fd >= 0)
		u->dwarf = dwarf_begin(u->fd, DWARF_C_READ);
	/* Replace libdw's default out-of-memory handler, which exits the program. */
	if (u->dwarf)
		dwarf_new_oom_handler(u->dwarf, mem_fail);
}

bool units_next(struct units *u)
{
	Dwarf_Off at = u->offset;
	size_t head;

	while (u->dwarf && !dwarf_nextcu(u->dwarf, at, &u->offset, &head, NULL, NULL, NULL)) {
		if (dwarf_offdie(u->dwarf, at + head, &u->die))
			return true;
		at = u->offset;
	}
	return false;
}

void units_end(struct units *u)
{
	dwarf_end(u->dwarf);
	if (u->fd >= 0)
		close(u->fd);
}

/* Return the section with the line programs, already decompressed by libdw. */
static Elf_Data *line_section(Dwarf *dwarf)
{
	Elf *elf = dwarf ? dwarf_getelf(dwarf) : NULL;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;

	while (elf && (scn = elf_nextscn(elf, scn))) {
		name = gelf_getshdr(scn, &sh) ? elf_section_name(elf, &sh) : "";
		if (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line"))
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static void read_lines(struct object *o)
{
	const Elf_Data *program;
	struct units units;

	o->lines_read = true;
	units_begin(&units, o);
	program = line_section(units.dwarf);
	while (program && units_next(&units))
		read_unit(o, &units.die, program);
	units_end(&units);
	sort_lines(o);
}

bool object_line(struct object *o, uint64_t addr, const char **file, unsigned int *line)
{
	const struct line *found;
	size_t nr;

	if (!o->lines_read)
		read_lines(o);
	nr = sorted_upto(o->lines, o->nr_lines, sizeof(*o->lines), addr);
	found = nr ? &o->lines[nr - 1] : NULL;
	if (!found || !found->file || !found->line)
		return false;
	*file = found->file;
	*line = found->line;
	return true;
}
