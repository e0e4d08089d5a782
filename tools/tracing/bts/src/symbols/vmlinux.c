// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the kernel's vmlinux, whose debug information has the source lines of the kernel's code.
 *
 * The kernel's code comes from the archive, and its symbols come from the trace. Only source lines
 * come from vmlinux, which must have the build ID of the recorded kernel. bts record saves this ID
 * from /sys/kernel/notes. The kernel may run at addresses that differ from those in vmlinux. To
 * find the difference, compare the addresses of _stext in vmlinux and in the trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mem.h"
#include "lib/path.h"
#include "object.h"

static uint64_t running_stext(const char *kallsyms)
{
	const char *at = kallsyms ? strstr(kallsyms, " _stext\n") : NULL;

	while (at && at > kallsyms && at[-1] != '\n')
		at--;
	return at ? strtoull(at, NULL, 16) : 0;
}

/* Find the build ID of the recorded kernel. Return the size of the ID, or 0. */
static uint32_t recorded_id(const struct objects *all, uint8_t *id)
{
	char *path, *notes;
	uint32_t nr = 0;
	size_t size;

	if (!all->archive)
		return 0;
	path = mem_format("%s/notes", all->archive);
	notes = path_read(path, &size);
	if (notes)
		nr = elf_notes_id((const uint8_t *)notes, size, id);
	free(notes);
	free(path);
	return nr;
}

static bool same_build(const char *path, const uint8_t *id, uint32_t size)
{
	uint8_t other[BUILD_ID_MAX];

	return elf_build_id(path, other) == size && !memcmp(id, other, size);
}

/* Return the third word of "Linux host 6.12.1 #1 SMP ...". The caller frees the word. */
static char *release_of(const char *uname)
{
	for (int word = 0; uname && word < 2; word++) {
		uname = strchr(uname, ' ');
		uname += !!uname;
	}
	return mem_format("%.*s", uname ? (int)strcspn(uname, "\n ") : 0, uname ? uname : "");
}

/* Return the path of Debian's vmlinux with the build ID @id, or NULL. The caller frees the path. */
static char *installed(const struct objects *all, const uint8_t *id, uint32_t size)
{
	char *release = release_of(all->uname), hex[2 * BUILD_ID_MAX + 1];
	char *paths[3], *found = NULL;

	for (uint32_t i = 0; i < size; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	paths[0] = mem_format("/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	paths[1] = mem_format("/usr/lib/debug/boot/vmlinux-%s", release);
	paths[2] = mem_format("/usr/lib/debug/lib/modules/%s/vmlinux", release);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!found && !access(paths[i], R_OK) && same_build(paths[i], id, size))
			found = paths[i];
		else
			free(paths[i]);
	}
	free(release);
	return found;
}

bool objects_vmlinux(struct objects *all, const char *path, const char *kallsyms,
		     struct error *e)
{
	struct object *o = all->kernel;
	uint64_t linked, stext = running_stext(kallsyms);
	uint8_t id[BUILD_ID_MAX];
	uint32_t size = recorded_id(all, id);
	char *found;

	free(o->debug_path);
	o->debug_path = NULL;
	if (path && access(path, R_OK))
		return error_errno(e, "read lines", path);
	if (path && size && !same_build(path, id, size))
		return error_set(e, EINVAL, "read lines", path, "not the kernel that was recorded");
	found = path ? mem_strdup(path) : size ? installed(all, id, size) : NULL;
	if (!found)
		return true;
	linked = elf_symbol(found, "_stext");
	if (linked && stext) {
		o->debug_bias = stext - linked;
		o->debug_path = found;
		return true;
	}
	free(found);
	if (!path)
		return true;
	return error_set(e, EINVAL, "read lines", path, stext ? "not a vmlinux with symbols" :
			 "the trace contains no kernel symbols");
}
