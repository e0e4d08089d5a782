/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An object contains code and symbols. It is a file, the kernel, a kernel module, or the memory of
 * a JIT compiler.
 *
 * Included by: symbols/, flow/, why/.
 */
#ifndef BTS_OBJECT_H
#define BTS_OBJECT_H

#include <stdbool.h>
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct object;
struct stat;

/**
 * struct sym - a function
 * @addr:	the function's first address in the object
 * @end:	the address after the function's last byte
 * @name:	the name in the source, with a suffix if another function has the same name
 * @plain:	the name in the source, without arguments
 * @linked:	the name that the linker uses; in C++ and Rust, the mangled name
 * @file:	the source file of a local function, or NULL
 * @object:	the object that contains the function
 * @local:	the name is local to one source file
 * @stub:	the function is a PLT stub, which only jumps to another function
 * @nameless:	the function has no symbol; it may be a part of another function
 * @role:	how the function is entered and left (see roles.c)
 * @inlined:	the number that inlines.c gave to an inlined function (1, 2, 3 ...); otherwise 0
 * @priv:	data of the command
 */
struct sym {
	uint64_t	addr;
	uint64_t	end;
	const char	*name;
	const char	*plain;
	const char	*linked;
	const char	*file;
	struct object	*object;
	void		*priv;
	bool		stub;
	bool		local;
	bool		nameless;
	uint8_t		role;
	uint32_t	inlined;
};

/**
 * struct alias - another name of a function
 * @addr:	the address of the function
 * @plain:	the name in the source, without arguments
 * @linked:	the name that the linker uses; in C++ and Rust, the mangled name
 */
struct alias {
	uint64_t	addr;
	const char	*plain;
	const char	*linked;
};

/* Return the other names of the function. Set *@nr to their number. */
const struct alias *sym_aliases(const struct sym *s, size_t *nr);
/* Report whether @wanted, which may contain wildcards (*, ?), matches a name of the function. */
bool sym_is(const struct sym *s, const char *wanted);

struct segment {
	uint64_t	vaddr;
	uint64_t	offset;
	uint64_t	size;
};

struct block;
struct lsda_table;
struct inline_table;
struct line;

#define BUILD_ID_MAX	20

/* Whether the file that bts finds is the recorded file (the file mapped during the recording). */
enum object_proof {
	OBJECT_PROVEN,		/* this is the recorded file (proof: archive, build ID or inode) */
	OBJECT_UNPROVEN,	/* perhaps the recorded file, so function names get a "?" */
	OBJECT_CHANGED,		/* not the recorded file, so its code and names are not used */
	OBJECT_MISSING,		/* the file is missing or unreadable */
};

/**
 * struct object - a file, the kernel, a kernel module, or memory without a file
 * @name:	the short name: the file name, or [kernel]
 * @whole_name:	the name of @whole. The name is @name in brackets, for example [libc.so.6]
 * @path:	the path at which the object was mapped
 * @base:	the address of the first page of @file's image
 * @tgid:	PID of the process, if the object is memory without a file
 * @file:	the contents, @file_size bytes; NULL if unreadable
 * @code:	this object; for a kernel module, [kernel], which also stores the code of modules
 * @whole:	a dummy function that object_sym() returns for addresses without a symbol
 * @syms:	sorted by address, without overlap
 * @aliases:	sorted by address
 * @segments:	the segments of @file that contain code, sorted by address
 * @bits32:	the code is 32-bit code
 * @is_file:	addresses are ELF addresses, independent of the mapping
 * @proof:	whether the file is the recorded file (see enum object_proof)
 * @user_only:	the trace contains only branches within user space
 * @as_run:	@file is kcore (saved when the recording ended), not kcore.later (saved afterwards)
 * @before:	the old contents of the kernel's pages that changed or disappeared during the
 *		recording (kcore.before), or NULL
 * @blocks:	decoded blocks (see code.c)
 * @lines:	source lines, sorted by address (see lines.c)
 * @read_path:	the path from which @file was read; NULL if no longer valid
 * @debug_path:	the file with the debug information
 * @debug_apart:	@debug_path is not the file with the code
 * @debug_bias:	add this to an address in the debug information to get the address in the object
 * @lsda:	landing pads of exceptions (see lsda.c)
 * @inlines:	inlined calls (see inlines.c)
 * @jit_map:	the path of a perf-PID.map, or NULL (see jit.c)
 * @jit_dump:	the path of a jit-PID.dump, or NULL (see jit.c)
 * @jit_mapped:	the object for the mapped jitdump file, or NULL if @jit_dump is in the archive
 * @jit_unread:	@jit_map and @jit_dump have not been read yet
 * @jit_archived: @jit_map is in the trace's archive (the directory FILE.archive)
 * @jit_ended:	the end of the recording, in seconds; 0 if unknown
 */
struct object {
	char		*name;
	char		*whole_name;
	char		*path;
	uint8_t		build_id[BUILD_ID_MAX];
	uint32_t	build_id_size;
	uint64_t	base;
	uint64_t	inode;
	uint64_t	device;
	int		tgid;
	uint8_t		*file;
	size_t		file_size;
	struct object	*code;
	struct sym	whole;
	struct sym	*syms;
	size_t		nr_syms;
	struct alias	*aliases;
	size_t		nr_aliases;
	char		**names;
	size_t		nr_names;
	struct segment	*segments;
	size_t		nr_segments;
	bool		bits32;
	bool		kernel;
	enum object_proof	proof;
	bool		is_file;
	bool		as_run;
	bool		user_only;
	struct object	*before;
	struct block	*blocks;
	size_t		blocks_room;
	size_t		nr_blocks;
	struct line	*lines;
	size_t		nr_lines;
	bool		lines_read;
	char		*read_path;
	char		*debug_path;
	bool		debug_apart;
	uint64_t	debug_bias;
	struct lsda_table *lsda;
	struct inline_table *inlines;
	char		*jit_map;
	char		*jit_dump;
	struct object	*jit_mapped;
	bool		jit_unread;
	bool		jit_archived;
	int64_t		jit_ended;
	struct object	*next;
	void		*priv;
};

/*
 * The identity of a mapped object. The build ID may be empty, and the inode may be 0. bts gives the
 * vDSO of 32-bit tasks the path [vdso32], although the kernel calls it [vdso].
 */
struct object_key {
	const char	*path;
	const uint8_t	*build_id;
	uint32_t	build_id_size;
	uint64_t	inode;
	uint64_t	device;
	int		tgid;
};

/*
 * All objects of a trace. The member @archive is NULL if the trace has no archive. The members
 * @began and @ended are the start and the end of the recording in seconds, or 0 if unknown.
 */
struct objects {
	struct object	*list;
	struct object	*kernel;
	struct object	*nowhere;
	char		*archive;
	const char	*uname;
	int64_t		began, ended;
	bool		user_only;
};

void objects_init(struct objects *all, const char *trace, const char *uname);
/*
 * Find a vmlinux for the kernel's source lines. Use @path or, if @path is NULL, search for an
 * installed vmlinux. If @path cannot be used, set @e and return false.
 */
bool objects_vmlinux(struct objects *all, const char *path, const char *kallsyms,
		     struct error *e);
void objects_free(struct objects *all);
struct object *object_get(struct objects *all, const struct object_key *key);
/* Create an object without a file or symbols. */
struct object *object_new(struct objects *all, const char *name, const char *path);

/* Report whether @st contains the device and inode of the file that was mapped. */
bool object_is_mapped(const struct object *o, const struct stat *st);
/* Report whether @name is the name or path of the object. Brackets ([kernel]) may be omitted. */
bool object_is_named(const struct object *o, const char *name);

/* Return the path of the file with the function names: o->jit_map or, if it is NULL, o->path. */
const char *object_names_path(const struct object *o);

/* Report whether @path is the name of a vDSO: [vdso], or [vdso32] for a 32-bit program. */
bool object_is_vdso(const char *path);

/* Return the executable segment that contains the address, or NULL. */
const struct segment *object_segment(const struct object *o, uint64_t addr);
/* Return the function at the address, or &o->whole if the address has no symbol. */
struct sym *object_sym(struct object *o, uint64_t addr);
/* Return the bytes at the address. Set *@size to the number of bytes up to the segment's end. */
const uint8_t *object_bytes(const struct object *o, uint64_t addr, size_t *size);
/*
 * Report whether the bytes from object_bytes() may differ from the executed bytes. They may differ
 * if the kernel patched code during the recording, or if bts saved the code after the recording.
 */
bool object_changed(const struct object *o, uint64_t addr, size_t size);
/* Return the address of the byte at a file offset. */
uint64_t object_addr(const struct object *o, uint64_t offset);

/*
 * elf.c: read the contents, segments and symbols of a file. Return false unless it is an ELF file
 * with the build ID of @key. If @archive is not NULL, also search @archive for debug information.
 */
bool elf_read(struct object *o, const char *path, const struct object_key *key,
	      const char *archive);
/* elf.c: return the address of a symbol, or 0. */
uint64_t elf_symbol(const char *path, const char *name);
/* elf.c: set *@list to the segments with code. Return their number. */
size_t elf_code(const char *path, struct segment **list);
/* Find the build ID in ELF notes such as /sys/kernel/notes. Return the size of the ID, or 0. */
uint32_t elf_notes_id(const uint8_t *notes, uint64_t size, uint8_t *id);
/* Find the build ID of a file. Return the size of the build ID, or 0. */
uint32_t elf_build_id(const char *path, uint8_t *id);

/*
 * symbols.c: a symbol in an unsorted list, in which symbols may overlap. If @bound is set, the name
 * may mark the start or the end of a section. If @open is set, @size is unknown or assumed. If
 * @global is set, the symbol is visible to other files.
 */
struct sym_add {
	uint64_t	addr;
	uint64_t	size;
	const char	*name;
	const char	*file;
	unsigned int	rank;
	bool		bound;
	bool		open;
	bool		global;
};

struct sym_list {
	struct sym_add	*list;
	size_t		nr;
	size_t		room;
};

void sym_list_add(struct sym_list *list, uint64_t addr, uint64_t size, const char *name,
		  unsigned int rank);
/* elf.c: return the name of a section, or an empty string if unknown. */
const char *elf_section_name(Elf *elf, const GElf_Shdr *sh);
/* elf.c: set *@list to the PT_LOAD segments whose p_flags include @flags. Return their number. */
size_t elf_segments(Elf *elf, size_t file_size, uint32_t flags, struct segment **list);
/* elf.c: add the symbol of a function. For an STT_FILE symbol, set *@file to its name. */
void elf_sym(struct sym_list *list, Elf *elf, GElf_Sym *s, uint64_t addr, const char *name,
	     const char **file);
/* debug.c: read the symbols of a file, and set o->debug_path. */
void debug_syms(struct object *o, Elf *elf, const char *path, const char *archive);
/* Set the symbols of the object from @list. Copy the names and free @list. */
void object_set_syms(struct object *o, struct sym_list *list);
char *object_string(struct object *o, const char *string);
/* demangle.c: return the name in the source, or @linked if the name is not mangled. */
const char *sym_demangle(struct object *o, const char *linked, bool arguments);
/* nameless.c: give names to the functions without symbols, and add these functions to o->syms. */
void nameless_syms(struct object *o);
/* apart.c: extend equal names in an object or in a list, so that they differ. */
void object_tell_apart(struct object *o);
void syms_tell_apart(struct object *o, struct sym *const *syms, size_t nr);
/* plt.c: add the stubs of the PLT. Their rank is 0, the lowest rank. */
void plt_syms(struct object *o, Elf *elf, struct sym_list *list);
void kernel_syms(struct objects *all, const char *kallsyms);
/* jit.c */
void jit_syms(struct object *o);
/* Report whether @path is the path of a perf jitdump file. */
bool jit_is_dump(const char *path);

/* lines.c: find the file and the line of an address. Return false if unknown. */
bool object_line(struct object *o, uint64_t addr, const char **file, unsigned int *line);

struct line {
	uint64_t	addr;
	const char	*file;
	uint32_t	line;
	uint32_t	order;		/* position in the debug information */
};

#endif
