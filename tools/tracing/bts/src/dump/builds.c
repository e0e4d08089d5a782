// SPDX-License-Identifier: GPL-2.0-only
/*
 * If bts dump adds up the counts of several traces, remember the build of each file. Traces with
 * different builds of a file cannot be added up, because the same address then has different code.
 *
 * With --dso, the name in this option identifies the file, because the file's path may differ
 * between traces. Without --dso, the path identifies the file. A build is identified by its build
 * ID or, without a build ID, by the size of the file. The kernel's build is identified by the path
 * of the vmlinux. The path is sufficient, because the build ID of the vmlinux has already been
 * compared with the build ID of each trace's kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/mem.h"
#include "lib/msg.h"
#include "dump.h"

struct build {
	struct build	*next;
	unsigned int	trace;
	char		*name;
	char		*vmlinux;
	size_t		file_size;
	uint32_t	id_size;
	uint8_t		id[BUILD_ID_MAX];
};

static bool same(const struct build *b, const struct object *o)
{
	if (o->kernel)
		return !strcmp(b->vmlinux, o->debug_path);
	if (b->id_size || o->build_id_size)
		return b->id_size == o->build_id_size && !memcmp(b->id, o->build_id, b->id_size);
	return b->file_size == o->file_size;
}

static void add_build(struct dump *d, const char *name, const struct object *o)
{
	struct build *b = mem_zalloc(1, sizeof(*b));

	b->trace = d->nr_traces;
	b->name = mem_strdup(name);
	b->vmlinux = o->kernel ? mem_strdup(o->debug_path) : NULL;
	b->file_size = o->file_size;
	b->id_size = o->build_id_size;
	memcpy(b->id, o->build_id, o->build_id_size);
	b->next = d->builds;
	d->builds = b;
}

bool dump_same_build(struct dump *d, const struct object *o)
{
	const char *dso = d->pipe.options->dso, *name = dso ? dso : o->path;
	bool other = false;

	for (const struct build *b = d->builds; b; b = b->next) {
		if (strcmp(b->name, name))
			continue;
		if (same(b, o))
			return true;
		other |= dso || b->trace != d->nr_traces;
	}
	if (other)
		msg_error("add up", o->path,
			  "several builds of this file, with different addresses");
	else
		add_build(d, name, o);
	return !other;
}

void dump_free_builds(struct dump *d)
{
	struct build *next;

	for (struct build *b = d->builds; b; b = next) {
		next = b->next;
		free(b->name);
		free(b->vmlinux);
		free(b);
	}
}
