// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read the symbols of a file with elfutils' libdwfl. Search these places for the file's debug
 * information:
 *
 *	- the file itself (.gnu_debugdata contains symbols, but no source lines);
 *	- the archive and /usr/lib/debug, by the file's build ID;
 *	- the file's directory, .debug in it, and /usr/lib/debug, by .gnu_debuglink and its CRC;
 *	- a debuginfod server, if DEBUGINFOD_URLS is set.
 *
 * libdwfl loads the file as a module at address 0, so file and module have the same addresses.
 */
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mem.h"
#include "object.h"

/*
 * Report whether libdwfl may open debug files beside @file. If a debug file exists, it must be a
 * regular file, because another user may have created a FIFO instead.
 */
static bool only_files(const char *file, const char *link)
{
	static const char * const dirs[] = { "", ".debug/" };
	const char *slash = strrchr(file, '/');
	bool fine = slash && !strchr(link, '/');

	for (size_t i = 0; fine && i < 2; i++) {
		char *path = mem_format("%.*s/%s%s", (int)(slash - file), file, dirs[i], link);
		struct stat st;

		fine = stat(path, &st) || S_ISREG(st.st_mode);
		free(path);
	}
	return fine;
}

/*
 * Pass @file to libdwfl only with a usable .gnu_debuglink. Without a .gnu_debuglink, libdwfl would
 * try @file with the suffix .debug, and this debug file may belong to another build.
 */
static int find_debug(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		      const char *file, const char *link, GElf_Word crc, char **found)
{
	if (!file || !link || !only_files(file, link)) {
		file = NULL;
		link = NULL;
	}
	return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found);
}

/*
 * libdwfl searches beside the binary for the file that .gnu_debuglink names. But @path may be in
 * the archive, so pass o->path, the path at which the binary was mapped.
 */
static Dwfl_Module *report(Dwfl *dwfl, const struct object *o, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	Dwfl_Module *module = fd < 0 ? NULL :
			      dwfl_report_elf(dwfl, o->name, o->path, fd, 0, true);

	/* If dwfl_report_elf() succeeded, libdwfl closes @fd. */
	if (!module && fd >= 0)
		close(fd);
	dwfl_report_end(dwfl, NULL, NULL);
	return module;
}

static bool has_lines(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && !strcmp(elf_section_name(elf, &sh), ".debug_line"))
			return true;
	return false;
}

/*
 * Find the file with the debug information, but do not read it, because the file may be gigabytes
 * in size. Call this function after read_module(), which finds the build ID of the module.
 */
static void find_lines(struct object *o, Dwfl_Module *module, Elf *elf, const char *path)
{
	const char *link, *known = NULL;
	char *found = NULL;
	GElf_Word crc;
	int fd = -1;

	/* If the search for symbols found a debug file, use it, and do not search again. */
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, &known);
	if (!has_lines(elf) && known) {
		found = mem_strdup(known);
	} else if (!has_lines(elf)) {
		link = dwelf_elf_gnu_debuglink(elf, &crc);
		fd = find_debug(module, NULL, NULL, 0, o->path, link, crc, &found);
	}
	o->debug_apart = found && (fd >= 0 || known);
	o->debug_path = mem_strdup(o->debug_apart ? found : path);
	if (fd >= 0)
		close(fd);
	free(found);
}

/* Add the symbols of the module. The names of the symbols are valid until dwfl_end(). */
static void read_module(Dwfl_Module *module, struct sym_list *list)
{
	int nr = dwfl_module_getsymtab(module);
	const char *file = NULL;

	for (int i = 0; i < nr; i++) {
		GElf_Addr addr, bias;
		const char *name;
		GElf_Sym s;
		Elf *elf;

		name = dwfl_module_getsym_info(module, i, &s, &addr, NULL, &elf, &bias);
		if (name)
			elf_sym(list, elf, &s, addr, name, &file);
	}
}

void debug_syms(struct object *o, Elf *elf, const char *path, const char *archive)
{
	char *dirs = mem_format(":.debug:/usr/lib/debug%s%s", archive ? ":" : "",
				archive ? archive : "");
	const Dwfl_Callbacks callbacks = {
		.find_elf		= dwfl_build_id_find_elf,
		.find_debuginfo		= find_debug,
		.section_address	= dwfl_offline_section_address,
		.debuginfo_path		= &dirs,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = dwfl ? report(dwfl, o, path) : NULL;
	struct sym_list list = {};

	if (module) {
		read_module(module, &list);
		find_lines(o, module, elf, path);
	}
	plt_syms(o, elf, &list);
	object_set_syms(o, &list);
	object_tell_apart(o);
	nameless_syms(o);
	dwfl_end(dwfl);
	free(dirs);
}
