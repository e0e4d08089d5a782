/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What addresses belong to: a file with code and symbols, the kernel, a module of it,
 * what a JIT compiler made.
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

/**
 * struct sym - a function
 * @addr:	where it begins, as its object counts addresses
 * @end:	one past its last byte
 * @name:	as it is called in the source; longer if its object has others of that name
 * @plain:	as it is called in the source, without arguments
 * @linked:	as it is linked
 * @file:	of a local one, the source file; or NULL
 * @object:	where it is
 * @local:	no other file sees its name
 * @stub:	it only jumps to another function: procedure linkage
 * @nameless:	it has no symbol: it may be a part of another function
 * @role:	roles.c: how it is entered and left
 * @priv:	a command's own
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
};

/**
 * struct alias - another name of a function
 * @addr:	of the function
 * @plain:	as it is called in the source, without arguments
 * @linked:	as it is linked
 */
struct alias {
	uint64_t	addr;
	const char	*plain;
	const char	*linked;
};

/* Does the user mean it: by a name of it, or a pattern with * or ? for one? */
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

/* Is the file at the path the one that ran? */
enum object_proof {
	OBJECT_PROVEN,		/* by its build ID, or by device, inode and ctime */
	OBJECT_UNPROVEN,	/* nothing says so: its names are marked */
	OBJECT_CHANGED,		/* it is not: its code and names are not known */
	OBJECT_MISSING,		/* there is none, or it cannot be read */
};

/**
 * struct object - a file, or what is like one
 * @name:	its short name: that of the file, or [kernel]
 * @whole_name:	that in brackets
 * @path:	as it was mapped
 * @tgid:	the process, if it is no file
 * @file:	its bytes, @file_size of them; NULL if it cannot be read
 * @code:	the object that has this one's code: itself, or, of a module, the kernel
 * @whole:	stands for a function where no symbol is
 * @syms:	sorted by address, without overlap
 * @aliases:	sorted by address
 * @segments:	of @file: what is at which address
 * @bits32:	its code is 32-bit code
 * @is_file:	its addresses are those of a file, wherever that is mapped
 * @proof:	of a file
 * @user_only:	no branch between user space and the kernel is in the trace
 * @as_run:	of the kernel: @file was read when recording ended, not at another time
 * @before:	of the kernel: the pages that were others when recording began, or NULL
 * @blocks:	code.c: blocks that were decoded
 * @lines:	lines.c: sorted by address
 * @read_path:	where its bytes were read; NULL if nothing is there any more
 * @debug_path:	the file with the debug information
 * @debug_apart:	it is another file than the one with the code
 * @debug_bias:	what is to be added to its addresses
 * @lsda:	lsda.c: where exceptions go
 * @inlines:	inlines.c: calls that are inlined
 * @jit_map:	jit.c: of memory without a file, what is still to be read about it, or NULL
 * @jit_dump:	the same
 */
struct object {
	char		*name;
	char		*whole_name;
	char		*path;
	uint8_t		build_id[BUILD_ID_MAX];
	uint32_t	build_id_size;
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
	struct object	*next;
	void		*priv;
};

/*
 * An object's name in a mapping: path, build ID (may be empty), inode (may be 0), device. The vDSO
 * of 32-bit tasks is [vdso32] here; the kernel calls it [vdso], too.
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
 * All objects of a trace. @archive: a directory beside it, or NULL; @began: when recording
 * began, in seconds, 0 if that is not known.
 */
struct objects {
	struct object	*list;
	struct object	*kernel;
	struct object	*nowhere;
	char		*archive;
	const char	*uname;
	int64_t		began;
	bool		user_only;
};

void objects_init(struct objects *all, const char *trace, const char *uname);
/*
 * The file that has the kernel's lines: @path, or NULL for where distributions put it. False,
 * with @e set, if @path is not the file.
 */
bool objects_vmlinux(struct objects *all, const char *path, const char *kallsyms,
		     struct error *e);
void objects_free(struct objects *all);
struct object *object_get(struct objects *all, const struct object_key *key);
/* A new one, without file or symbols. */
struct object *object_new(struct objects *all, const char *name, const char *path);

/* Is this its name or its path? The brackets of [kernel] may be left out. */
bool object_is_named(const struct object *o, const char *name);

/* The function at the address; never NULL. */
struct sym *object_sym(struct object *o, uint64_t addr);
/* The bytes at the address, up to the end of what the file has there. */
const uint8_t *object_bytes(const struct object *o, uint64_t addr, size_t *size);
/*
 * May other bytes than those have been executed there? Of the kernel, which changes its own
 * code: where it did so during the recording, or anywhere, if the code is of another time.
 */
bool object_changed(const struct object *o, uint64_t addr, size_t size);
/* The address of the byte at an offset of the file. */
uint64_t object_addr(const struct object *o, uint64_t offset);

/*
 * elf.c: a file's bytes, segments and symbols. False if it is not one of that build ID.
 * @archive may have its debug information, or is NULL.
 */
bool elf_read(struct object *o, const char *path, const struct object_key *key,
	      const char *archive);
/* The address of a symbol; 0 if there is none, or no such file. */
uint64_t elf_symbol(const char *path, const char *name);
/* elf.c: the code of a file, into *@list. Returns how many segments. */
size_t elf_code(const char *path, struct segment **list);
/* The build ID that is in notes, as /sys/kernel/notes has them; its size, or 0. */
uint32_t elf_notes_id(const uint8_t *notes, uint64_t size, uint8_t *id);
/* Where the build ID is in the file's notes; its size, 0 if there is none. */
uint32_t elf_build_id(const char *path, uint8_t *id);

/* symbols.c: a table being made; then sorted, overlaps resolved. */
struct sym_add {
	uint64_t	addr;
	uint64_t	size;
	const char	*name;
	const char	*file;
	unsigned int	rank;
};

struct sym_list {
	struct sym_add	*list;
	size_t		nr;
	size_t		room;
};

void sym_list_add(struct sym_list *list, uint64_t addr, uint64_t size, const char *name,
		  unsigned int rank);
/* elf.c: never NULL. */
const char *elf_section_name(Elf *elf, const GElf_Shdr *sh);
/* elf.c: what is loaded of a file with all of @flags (PF_*), into *@list. Returns how many. */
size_t elf_segments(Elf *elf, size_t file_size, uint32_t flags, struct segment **list);
/* elf.c: a symbol of a file, if it is a function. @file: of the symbols before it. */
void elf_sym(struct sym_list *list, Elf *elf, GElf_Sym *s, uint64_t addr, const char *name,
	     const char **file);
/* debug.c: the file's symbols, and its debug_path. */
void debug_syms(struct object *o, Elf *elf, const char *path, const char *archive);
/* The names are the object's from now on: copied. Frees the list. */
void object_set_syms(struct object *o, struct sym_list *list);
char *object_string(struct object *o, const char *string);
/* demangle.c: of a C++ function's linked name, its own; or the same. */
const char *sym_demangle(struct object *o, const char *linked, bool arguments);
/* nameless.c: functions without symbols. */
void nameless_syms(struct object *o);
/* apart.c: equal names become longer, until they differ: those of the object, those of a list. */
void object_tell_apart(struct object *o);
void syms_tell_apart(struct object *o, struct sym *const *syms, size_t nr);
/* plt.c: of procedure linkage. Rank 0: below all symbols. */
void plt_syms(struct object *o, Elf *elf, struct sym_list *list);
void kernel_syms(struct objects *all, const char *kallsyms);
/* jit.c */
void jit_syms(struct object *o);
/* Is it the name of a file of perf's jitdump? */
bool jit_is_dump(const char *path);

/* lines.c: file and line of an address; false if it is not known. */
bool object_line(struct object *o, uint64_t addr, const char **file, unsigned int *line);

struct line {
	uint64_t	addr;
	const char	*file;
	uint32_t	line;
	uint32_t	order;		/* in the debug information */
};

#endif
