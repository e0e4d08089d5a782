// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the code and symbols of a mapped object by its path, build ID and inode.
 *
 * A file is read from the archive beside the trace or, if the archive does not contain the file,
 * from the path of the mapping. The file must have the build ID that the kernel recorded, because a
 * rebuilt file has different code at the same addresses. A file without a build ID is trusted if it
 * has the recorded device and inode, and a ctime before the recording. Any other file without a
 * build ID is usually the recorded file, too. So the file is used, but a "?" is added to its
 * function names. Symbols and debug information may be in a second file (see debug.c).
 *
 * The vDSO is not a file. It is read from the archive or, if the trace is from the running kernel,
 * from this process. The other contents of the archive are listed in archive.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/sorted.h"
#include "inlines.h"
#include "lsda.h"
#include "object.h"
#include "vdso.h"

#define PAGE_BYTES	4096ULL

static void object_free(struct object *o)
{
	for (size_t i = 0; i < o->nr_names; i++)
		free(o->names[i]);
	free(o->names);
	free(o->syms);
	free(o->aliases);
	free(o->segments);
	free(o->blocks);
	free(o->lines);
	lsda_free(o);
	inlines_free(o);
	free(o->file);
	free(o->read_path);
	free(o->debug_path);
	free(o->jit_map);
	free(o->jit_dump);
	free(o->name);
	free(o->whole_name);
	free(o->path);
	free(o);
}

struct object *object_new(struct objects *all, const char *name, const char *path)
{
	struct object *o = mem_zalloc(1, sizeof(*o));

	o->name = mem_strdup(name);
	o->path = mem_strdup(path);
	o->code = o;
	o->user_only = all->user_only;
	o->whole_name = name[0] == '[' ? mem_strdup(name) : mem_format("[%s]", name);
	o->whole.name = o->whole_name;
	o->whole.plain = o->whole_name;
	o->whole.linked = o->whole_name;
	o->whole.object = o;
	o->whole.end = UINT64_MAX;
	o->next = all->list;
	all->list = o;
	return o;
}

static bool read_kernel(const struct objects *all, struct object *o, const char *name)
{
	char *path = mem_format("%s/%s", all->archive, name);
	bool done = elf_read(o, path, NULL, NULL);

	free(path);
	return done;
}

void objects_init(struct objects *all, const char *trace, const char *uname)
{
	struct object *before;

	*all = (struct objects) { .uname = uname };
	all->archive = mem_format("%s.archive", trace);
	/* A trace on standard input has no archive. */
	if (!strcmp(trace, "-") || access(all->archive, R_OK)) {
		free(all->archive);
		all->archive = NULL;
	}
	all->nowhere = object_new(all, "[unknown]", "");
	all->kernel = object_new(all, "[kernel]", "[kernel]");
	all->kernel->kernel = true;
	if (!all->archive)
		return;
	all->kernel->as_run = read_kernel(all, all->kernel, "kcore");
	if (!all->kernel->as_run) {
		read_kernel(all, all->kernel, "kcore.later");
		return;
	}
	before = object_new(all, "[kernel]", "[kernel]");
	if (read_kernel(all, before, "kcore.before"))
		all->kernel->before = before;
}

void objects_free(struct objects *all)
{
	struct object *next;

	for (struct object *o = all->list; o; o = next) {
		next = o->next;
		object_free(o);
	}
	free(all->archive);
}

/* Report whether the memory is mapped without a file, or from a file without a name. */
static bool is_memory(const char *path)
{
	static const char * const names[] = {
		"//", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool object_is_file(const char *path)
{
	return path[0] == '/' && !is_memory(path);
}

bool object_is_vdso(const char *path)
{
	return !strcmp(path, "[vdso]") || !strcmp(path, "[vdso32]");
}

static bool same_object(const struct object *o, const struct object_key *key)
{
	if (key->build_id_size != o->build_id_size || strcmp(o->path, key->path))
		return false;
	if (key->build_id_size)
		return !memcmp(o->build_id, key->build_id, key->build_id_size);
	if (!object_is_file(key->path) && !object_is_vdso(key->path))
		return o->tgid == key->tgid;
	return o->inode == key->inode && o->device == key->device;
}

static char *build_id_path(const char *root, const struct object_key *key)
{
	char hex[2 * BUILD_ID_MAX + 1];

	for (uint32_t i = 0; i < key->build_id_size; i++)
		sprintf(hex + 2 * i, "%02x", key->build_id[i]);
	return mem_format("%s/.build-id/%.2s/%s", root, hex, hex + 2);
}

static bool read_archived(struct objects *all, struct object *o, const struct object_key *key)
{
	char *path;
	bool done;

	if (!all->archive || (!key->build_id_size && !object_is_file(key->path)))
		return false;
	path = key->build_id_size ? build_id_path(all->archive, key) :
	       mem_format("%s/root%s", all->archive, key->path);
	done = elf_read(o, path, key, all->archive);
	free(path);
	return done;
}

static bool running_kernel(const struct objects *all)
{
	struct utsname u;

	return all->uname && !uname(&u) && strstr(all->uname, u.release) &&
	       strstr(all->uname, u.version);
}

static bool read_own_vdso(struct objects *all, struct object *o)
{
	size_t size;
	void *vdso = running_kernel(all) ? vdso_read(getpid(), &size) : NULL;
	int fd = vdso ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	bool done = false;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, vdso, size) == (ssize_t)size)
		done = elf_read(o, path, NULL, NULL);
	if (fd >= 0)
		close(fd);
	free(vdso);
	/* Forget the paths, which are invalid once the files are closed. */
	free(o->debug_path);
	o->debug_path = NULL;
	free(o->read_path);
	o->read_path = NULL;
	return done;
}

static void read_vdso(struct objects *all, struct object *o, bool bits32)
{
	char *path = NULL;

	if (all->archive)
		path = mem_format("%s/%s", all->archive, bits32 ? "vdso32.so" : "vdso.so");
	/* The vDSO of 32-bit tasks is not in this process, because this is a 64-bit process. */
	if ((!path || !elf_read(o, path, NULL, NULL)) && !bits32)
		read_own_vdso(all, o);
	free(path);
}

static bool same_file(const struct objects *all, const struct object_key *key)
{
	struct stat st;

	/*
	 * The start of the recording is known only in whole seconds. If the ctime is in the same
	 * second as the start, the file may have changed after the start.
	 */
	return !stat(key->path, &st) && st.st_ino == key->inode && st.st_dev == key->device &&
	       st.st_ctime < all->began;
}

bool object_is_mapped(const struct object *o, const struct stat *st)
{
	return o->inode && o->inode == st->st_ino && o->device == st->st_dev;
}

static void mark_names(struct object *o)
{
	for (size_t i = 0; i < o->nr_syms; i++) {
		char *name = mem_format("%s?", o->syms[i].name);

		o->syms[i].name = object_string(o, name);
		free(name);
	}
}

static void read_object(struct objects *all, struct object *o, const struct object_key *key)
{
	if (!read_archived(all, o, key)) {
		if (!elf_read(o, key->path, key, all->archive))
			o->proof = access(key->path, R_OK) ? OBJECT_MISSING : OBJECT_CHANGED;
		else if (!key->build_id_size && !same_file(all, key))
			o->proof = OBJECT_UNPROVEN;
	}
	if (o->proof == OBJECT_UNPROVEN)
		mark_names(o);
}

/* Return the object for the anonymous memory of a process (see is_memory()). */
static struct object *object_memory(struct objects *all, int tgid)
{
	const struct object_key key = { .path = "//anon", .tgid = tgid };

	return object_get(all, &key);
}

/* Set the jitdump file of the process. If the archive has a copy of the file, use the copy. */
static void set_dump(const struct objects *all, struct object *memory, struct object *mapped)
{
	free(memory->jit_dump);
	memory->jit_mapped = NULL;
	if (all->archive) {
		memory->jit_dump = mem_format("%s/jit-%d.dump", all->archive, memory->tgid);
		if (!access(memory->jit_dump, R_OK))
			return;
		free(memory->jit_dump);
	}
	memory->jit_dump = mem_strdup(mapped->path);
	memory->jit_mapped = mapped;
}

struct object *object_get(struct objects *all, const struct object_key *key)
{
	const char *slash = strrchr(key->path, '/'), *name;
	struct object *o;

	if (is_memory(key->path) && strcmp(key->path, "//anon"))
		return object_memory(all, key->tgid);
	for (o = all->list; o; o = o->next)
		if (same_object(o, key))
			return o;
	name = slash && slash[1] ? slash + 1 : key->path;
	o = object_new(all, object_is_file(key->path) || *key->path == '[' ? name : "[anon]",
		       key->path);
	o->build_id_size = key->build_id_size;
	if (key->build_id_size)
		memcpy(o->build_id, key->build_id, key->build_id_size);
	o->inode = key->inode;
	o->device = key->device;
	o->tgid = key->tgid;
	o->is_file = object_is_file(key->path) || object_is_vdso(key->path);
	if (object_is_vdso(key->path)) {
		read_vdso(all, o, !strcmp(key->path, "[vdso32]"));
		return o;
	}
	if (!object_is_file(key->path)) {
		o->jit_map = mem_format("%s/perf-%d.map", all->archive ? all->archive : "/tmp",
					key->tgid);
		o->jit_unread = true;
		o->jit_archived = all->archive;
		o->jit_ended = all->ended;
		return o;
	}
	if (jit_is_dump(key->path))
		set_dump(all, object_memory(all, key->tgid), o);
	else
		read_object(all, o, key);
	return o;
}

struct sym *object_sym(struct object *o, uint64_t addr)
{
	size_t nr;

	if (o->jit_unread)
		jit_syms(o);
	nr = sorted_upto(o->syms, o->nr_syms, sizeof(*o->syms), addr);
	if (nr && addr < o->syms[nr - 1].end)
		return &o->syms[nr - 1];
	return &o->whole;
}

const char *object_names_path(const struct object *o)
{
	return o->jit_map ? o->jit_map : o->path;
}

bool object_is_named(const struct object *o, const char *name)
{
	size_t length = strlen(o->name);

	if (!strcmp(o->name, name) || !strcmp(o->path, name))
		return true;
	return o->name[0] == '[' && length > 2 && strlen(name) == length - 2 &&
	       !strncmp(o->name + 1, name, length - 2);
}

const struct segment *object_segment(const struct object *o, uint64_t addr)
{
	size_t nr = sorted_upto(o->segments, o->nr_segments, sizeof(*o->segments), addr);
	const struct segment *s = nr ? &o->segments[nr - 1] : NULL;

	return s && addr - s->vaddr < s->size ? s : NULL;
}

static const uint8_t *own_bytes(const struct object *o, uint64_t addr, size_t *size)
{
	const struct segment *s = object_segment(o, addr);

	if (!s)
		return NULL;
	*size = s->size - (addr - s->vaddr);
	return o->file + s->offset + (addr - s->vaddr);
}

const uint8_t *object_bytes(const struct object *o, uint64_t addr, size_t *size)
{
	const uint8_t *bytes = own_bytes(o->code, addr, size);

	/* If a module was removed during the recording, only kcore.before contains its code. */
	if (!bytes && o->code->before)
		bytes = own_bytes(o->code->before, addr, size);
	return bytes;
}

bool object_changed(const struct object *o, uint64_t addr, size_t size)
{
	const uint8_t *old, *new;
	size_t old_size, new_size;

	o = o->code;
	if (!o->kernel)
		return false;
	if (!o->as_run)
		return true;
	if (!o->before)
		return false;
	old = own_bytes(o->before, addr, &old_size);
	new = own_bytes(o, addr, &new_size);
	return old && new && (old_size < size || new_size < size || memcmp(old, new, size));
}

/*
 * The kernel maps whole pages, but lld does not page-align segments, so a mapping may begin before
 * its segment. If one segment ends and the next begins in the same page, use the next segment.
 */
uint64_t object_addr(const struct object *o, uint64_t offset)
{
	const struct segment *found = NULL;

	for (size_t i = 0; i < o->nr_segments; i++) {
		const struct segment *s = &o->segments[i];
		uint64_t first = s->offset & ~(PAGE_BYTES - 1);

		if (offset == first || (!found && offset >= first &&
					offset < s->offset + s->size))
			found = s;
	}
	return found ? found->vaddr + (offset - found->offset) : offset;
}
